"""Events on their way from a worker to whoever drives the run: a file per holder of a lease, in the run's folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from runner.jobs import TrialJob
from runner.journal import Event, decode, encode

FOLDER = "spool"


def path_of(run_dir: Path, index: int, attempt: int, holder: str) -> Path:
    return run_dir / FOLDER / f"{index}-{attempt}.{holder}.events"


class Writer:
    """A worker's side: every event is out of its hands at once."""

    def __init__(self, job: TrialJob, holder: str) -> None:
        path = path_of(job.run_dir, job.index, job.attempt, holder)
        path.parent.mkdir(exist_ok=True)
        self._file = path.open("ab", buffering=0)

    def write(self, event: Event) -> None:
        self._file.write(encode(event))

    def close(self) -> None:
        self._file.close()


class Reader:
    """The driver's side: reads whole lines as they come, and remembers where it was."""

    def __init__(self, job: TrialJob, holder: str) -> None:
        self.path = path_of(job.run_dir, job.index, job.attempt, holder)
        self._place = 0

    def new(self) -> Iterator[Event]:
        try:
            file: BinaryIO = self.path.open("rb")
        except FileNotFoundError:
            return
        with file:
            file.seek(self._place)
            for event in decode(file):
                self._place = file.tell()
                yield event

    def drop(self) -> None:
        """Forget a file whose events stand in the journal."""
        self.path.unlink(missing_ok=True)
