"""`make perf`: run every measuring script beside its baseline and print the ratios."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path


def main() -> int:
    chosen = sys.argv[1:]
    for script in sorted(Path(__file__).parent.glob("*_perf.py")):
        name = script.stem.removesuffix("_perf")
        if chosen and name not in chosen:
            continue
        print(f"== {name}", flush=True)
        runpy.run_module(f"tests.perf.{script.stem}", run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
