"""`benchsite try --pdb`: the trial's own process keeps the terminal, and stops where its scenario raised."""

from __future__ import annotations

import os

DEBUG = "BENCHSITE_PDB"


def debugged() -> bool:
    return os.environ.get(DEBUG) == "1"


def stop_at(error: BaseException) -> None:
    """Open the debugger at the innermost frame of an exception; leaving it lets the trial end as it would have."""
    import pdb
    import sys

    print(
        f"\n{type(error).__name__}: {error}\nThe scenario stopped here; `q` or `c` lets the trial end.", file=sys.stderr
    )
    pdb.post_mortem(error.__traceback__)
