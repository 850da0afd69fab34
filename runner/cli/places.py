"""From what a person writes to a run directory, or to one trial of it."""

from __future__ import annotations

import re
from pathlib import Path

from runner.errors import BenchError, JournalError
from runner.journal import MANIFEST

LATEST = "latest"
_TRIAL = re.compile(r"(?:(?P<run>.*)[:/])?#?(?P<index>[0-9]+)", re.DOTALL)


def runs_of(bench: Path | str, kind: str = "runs") -> list[Path]:
    """Give a bench's run directories, the oldest first (ULIDs sort by time); "tries" are those of try and check."""
    folder = Path(bench) / ".bench" / kind
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if (path / MANIFEST).is_file())


def find_run(name: str, bench: Path | str = ".") -> Path:
    """Find a run by path, id, part of its id, or `latest`; raises JournalError that says what there is."""
    path, bench = Path(name), Path(bench)
    if (path / MANIFEST).is_file():
        return path
    if name != LATEST and path.is_dir() and is_bench(path):
        return _latest(path)
    if name == LATEST:
        return _latest(bench)
    found = [run for kind in ("runs", "tries") for run in runs_of(bench, kind) if _fits(run.name, name.upper())]
    if len(found) == 1:
        return found[0]
    if found:
        raise JournalError(f"{name!r} could be {len(found)} runs of {_shown(bench)}; write more of the id.")
    raise JournalError(f"There is no run {name!r} in {_shown(bench)}; `benchsite list` shows what there is.")


def find_trial(name: str, bench: Path) -> tuple[Path, int]:
    """Find a trial by RUN:INDEX or RUN/INDEX; INDEX alone is one of the latest run. Gives the run and the index."""
    written = _TRIAL.fullmatch(name)
    if written is None:
        raise JournalError(
            f"{name!r} names no trial: write RUN:INDEX, or INDEX alone for the latest run; "
            "`benchsite result --trials` shows the indexes."
        )
    return find_run(written["run"] or LATEST, bench), int(written["index"])


def names_trial(name: str) -> bool:
    """Is this one trial of a run that is named, and not a run?"""
    written = _TRIAL.fullmatch(name)
    return bool(written and written["run"])


def is_bench(folder: Path) -> bool:
    return (folder / "bench.py").is_file() or (folder / ".bench").is_dir()


def check_bench(folder: Path) -> None:
    """Refuse a folder that is no bench, before it is said to have no runs."""
    if not is_bench(folder):
        raise BenchError("There is no bench here: the folder has no bench.py.", file=_shown(folder))


def _fits(run: str, part: str) -> bool:
    return run.startswith(part) or run.endswith(part)


def _latest(bench: Path) -> Path:
    check_bench(bench)
    runs = runs_of(bench)
    if not runs:
        raise JournalError(f"{_shown(bench)} has no runs yet; `benchsite run {bench}` makes one.")
    return runs[-1]


def _shown(bench: Path) -> Path:
    return bench.resolve()
