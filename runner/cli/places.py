"""From what a person writes to a run directory."""

from __future__ import annotations

from pathlib import Path

from runner.errors import JournalError
from runner.journal import MANIFEST


def runs_of(bench: Path) -> list[Path]:
    """Give a bench's run directories, the oldest first (ULIDs sort by time)."""
    folder = bench / ".bench" / "runs"
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if (path / MANIFEST).is_file())


def find_run(name: str, bench: Path) -> Path:
    """Find a run by path, id, part of its id, or `latest`; raises JournalError that says what there is."""
    path = Path(name)
    if (path / MANIFEST).is_file():
        return path
    if name != "latest" and path.is_dir() and ((path / "bench.py").is_file() or (path / ".bench").is_dir()):
        return _latest(path)
    if name == "latest":
        return _latest(bench)
    found = [run for run in runs_of(bench) if run.name.startswith(name.upper()) or run.name.endswith(name.upper())]
    if len(found) == 1:
        return found[0]
    if found:
        raise JournalError(f"{name!r} could be {len(found)} runs of {_shown(bench)}; write more of the id.")
    raise JournalError(f"There is no run {name!r} in {_shown(bench)}; `benchsite list` shows what there is.")


def _latest(bench: Path) -> Path:
    runs = runs_of(bench)
    if not runs:
        raise JournalError(f"{_shown(bench)} has no runs yet; `benchsite run {bench}` makes one.")
    return runs[-1]


def _shown(bench: Path) -> Path:
    return bench.resolve()
