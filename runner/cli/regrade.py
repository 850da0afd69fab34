from __future__ import annotations

from argparse import Namespace

from .places import find_run
from .run import close
from .watching import Watch


def command(options: Namespace) -> int:
    from runner.regrading import regrade

    run_dir = find_run(options.run, options.bench).resolve()
    with Watch(error=options.json) as watch:
        result = regrade(
            run_dir, scenarios=options.scenario, cells=options.cell, workers=options.workers, tags=options.tag,
            on_prepared=watch.prepared, on_event=watch.event, cancel=watch.cancel,
        )  # fmt: skip
    return close(result, run_dir.parent / result.manifest.run, options)
