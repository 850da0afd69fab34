from __future__ import annotations

from argparse import Namespace

from .places import find_trial
from .run import close
from .watching import Watch


def command(options: Namespace) -> int:
    from runner.trying import rerun

    run_dir, index = find_trial(options.trial, options.bench)
    with Watch(error=options.json) as watch:
        result = rerun(
            run_dir, index, trials=options.trials, workers=options.workers, tags=tuple(options.tag),
            on_prepared=watch.prepared, on_event=watch.event, cancel=watch.cancel,
        )  # fmt: skip
    return close(result, run_dir.resolve().parents[2] / ".bench" / "runs" / result.manifest.run, options)
