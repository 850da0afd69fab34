"""`benchsite try --pdb`: the trial's own process keeps the terminal, and stops where its scenario raised."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .live import LiveTrial

DEBUG = "BENCHSITE_PDB"
OURS = f"{Path(__file__).parents[1]}/"


def debugged() -> bool:
    return os.environ.get(DEBUG) == "1"


def stop_at(error: BaseException, root: Path) -> None:
    """Open the debugger where the bench, whose files are below `root`, raised; leaving it lets the trial end as it
    would have."""
    import pdb
    import sys

    print(
        f"\n{type(error).__name__}: {error}\nThe scenario stopped here; `q` or `c` lets the trial end.", file=sys.stderr
    )
    _hide_ours(error, root)
    pdb.post_mortem(error.__traceback__)


def was_quit(error: BaseException) -> bool:
    """Did a debugger raise this to end what it had stopped, because of `q` or for want of anybody who types?"""
    names = [frame.tb_frame.f_globals.get("__name__") for frame in _frames(error)]
    return bool(names) and names[-1] in ("bdb", "pdb")


def explain(error: BaseException, trial: LiveTrial) -> None:
    """Say in the debugger's exception what a leftover `breakpoint()` is to be stopped by."""
    scenario = trial.setting.manifest.scenarios[trial.setting.planned.scenario].id
    error.args = (f"it called breakpoint() where nobody can type; `benchsite try {scenario} --pdb` stops there.",)


def _hide_ours(error: BaseException, root: Path) -> None:
    """What a matcher or a handle of ours refused is looked at in the bench's own line."""
    frames = list(_frames(error))
    files = [frame.tb_frame.f_code.co_filename for frame in frames]
    last = max((number for number, file in enumerate(files) if file.startswith(str(root))), default=None)
    if last is not None and any(file.startswith(OURS) for file in files[last + 1 :]):
        frames[last].tb_next = None


def _frames(error: BaseException) -> Iterator[TracebackType]:
    tb = error.__traceback__
    while tb is not None:
        yield tb
        tb = tb.tb_next
