from __future__ import annotations

from argparse import Namespace

from .places import find_run
from .terminal import clean, print_json


def command(options: Namespace) -> int:
    from runner.cancelling import cancel

    done = cancel(find_run(options.run, options.bench), options.trial)
    if options.json:
        print_json({"run": done.run, "trial": done.index, "state": "cancelled"})
    else:
        print(clean(f"{done.where} was cancelled."))
    return 0
