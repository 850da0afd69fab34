from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from .places import find_run
from .terminal import clean, print_json


def command(options: Namespace) -> int:
    from runner.exchange.bundle import write_bundle

    run_dir = find_run(options.run, options.bench)
    target = write_bundle(run_dir, options.output or Path(f"{run_dir.resolve().name}.zip"))
    size = target.stat().st_size
    if options.json:
        print_json({"run": run_dir.resolve().name, "path": str(target.resolve()), "bytes": size})
    else:
        print(clean(f"{target}  {size:,} bytes"))
    return 0
