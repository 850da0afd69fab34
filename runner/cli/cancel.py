from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from .places import find_run, find_trial, names_trial
from .terminal import clean, print_json


def command(options: Namespace) -> int:
    from runner.cancelling import cancel

    run_dir, index = _named(options)
    done = cancel(run_dir, index)
    if options.json:
        print_json({"run": done.run, "trial": done.index, "state": "cancelled"})
    else:
        print(clean(f"{done.where} was cancelled."))
    return 0


def _named(options: Namespace) -> tuple[Path, int | None]:
    """A trial may be named as everywhere, by RUN/INDEX, or by --trial."""
    if options.trial is None and names_trial(options.run):
        return find_trial(options.run, options.bench)
    return find_run(options.run, options.bench), options.trial
