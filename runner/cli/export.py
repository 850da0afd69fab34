from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

from runner.errors import RunnerError

from .places import find_run
from .terminal import clean


def command(options: Namespace) -> int:
    from runner.frames import frame, write_csv, write_parquet

    runs = [find_run(name, options.bench) for name in options.runs]
    target: Path | None = options.output
    kind = target.suffix.lower() if target else ".csv"
    if kind not in (".csv", ".json", ".parquet"):
        raise RunnerError(f"{target} cannot be written: its name must end in .csv, .json or .parquet.")
    if kind == ".parquet" and target is not None:
        write_parquet(target, *runs, every=options.every)
        return _told(target)
    columns = frame(*runs, every=options.every)
    if target is None:
        write_csv(sys.stdout, columns)
        return 0
    with target.open("w", encoding="utf-8", newline="") as file:
        write_csv(file, columns) if kind == ".csv" else json.dump(columns, file)
    return _told(target)


def _told(target: Path) -> int:
    print(clean(f"{target}  {target.stat().st_size:,} bytes"))
    return 0
