"""Cancelling from another process: whoever asks leaves a file in the run's folder, the runner at work picks it up."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .errors import RunnerError
from .faults import ENDED
from .journal import EVENTS, decode
from .replay import read

ASKED, ALL = "cancel", "run"
"""The folder of requests, and the name of the one that means the whole run; the others are trials' indexes."""
PATIENCE = 60.0
"""Seconds in which a runner must have answered: it looks ten times a second, then waits for the trial's processes."""
LOOK = 0.05


class Requests:
    """The runner's side. What an earlier runner left unanswered was not asked of this one."""

    def __init__(self, run_dir: Path) -> None:
        self._folder = run_dir / ASKED
        for name in self._names():
            self.done(name)

    def new(self) -> list[str]:
        return [name for name in self._names() if name == ALL or name.isdecimal()]

    def done(self, name: str) -> None:
        with suppress(OSError):
            (self._folder / name).unlink()

    def _names(self) -> list[str]:
        try:
            return sorted(os.listdir(self._folder))  # noqa: PTH208  ten times a second
        except FileNotFoundError:
            return []


@dataclass(frozen=True)
class Cancelled:
    """`index` is None for a whole run; `where` names it for a person."""

    run: str
    index: int | None
    where: str


def cancel(run_dir: Path | str, index: int | None = None, *, timeout: float = PATIENCE) -> Cancelled:
    """Cancel one trial of a run that another process drives, or all that is left of it; waits until that is done.

    A trial that runs is ended with all its processes, one that waits is never begun; the rest of the run goes on.
    """
    folder = Path(run_dir).resolve()
    asked = _checked(folder, index)
    place, name = (folder / EVENTS).stat().st_size, ALL if index is None else str(index)
    (folder / ASKED).mkdir(exist_ok=True)
    request = folder / ASKED / name
    request.touch()
    try:
        state = _answer(folder, index, place, time.monotonic() + timeout)
    finally:
        request.unlink(missing_ok=True)
    if state != "cancelled":
        raise RunnerError(f"{asked.where} ended by itself before it could be cancelled: {state}.")
    return asked


def _checked(folder: Path, index: int | None) -> Cancelled:
    result = read(folder)
    manifest = result.manifest
    if index is not None and not 0 <= index < len(result.trials):
        raise RunnerError(f"The run {manifest.run} has no trial {index}: its trials are 0 to {len(result.trials) - 1}.")
    if not is_driven(folder):
        state = "it has no runner any more" if result.state == "running" else f"it is {result.state}"
        raise RunnerError(f"The run {manifest.run} is not running: {state}. There is nothing to cancel.")
    if index is None:
        return Cancelled(manifest.run, None, f"The run {manifest.run}")
    where = f"Trial {index} ({manifest.where(index)})"
    if (state := result.trials[index].state) in ENDED:
        raise RunnerError(f"{where} has ended already: {state}.")
    return Cancelled(manifest.run, index, where)


def is_driven(run_dir: Path) -> bool:
    """Tell whether a process is at work on a run: it holds the lock of the journal."""
    try:
        with (run_dir / EVENTS).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def standing(run_dir: Path, state: str) -> str:
    """The state of a run as one would say it: where no process is at work on it any more, it was interrupted."""
    return "interrupted" if state == "running" and not is_driven(run_dir) else state


def _answer(folder: Path, index: int | None, place: int, until: float) -> str:
    """Read on in the journal until it says how the trial, or the run, ended."""
    with (folder / EVENTS).open("rb") as file:
        while True:
            driven = is_driven(folder)
            file.seek(place)
            for event in decode(file):
                place = file.tell()
                if (state := _end(event, index)) is not None:
                    return state
            if not driven:
                raise RunnerError(f"The runner of {folder.name} went away before it answered; see `benchsite result`.")
            if time.monotonic() > until:
                raise RunnerError(f"The runner of {folder.name} has not answered yet; `benchsite result` will tell.")
            time.sleep(LOOK)


def _end(event: dict[str, object], index: int | None) -> str | None:
    kind = event["type"]
    if index is None:
        return str(event["state"]) if kind == "run.finished" else None
    return str(event["state"]) if kind in ("trial.finished", "trial.not_run") and event.get("trial") == index else None
