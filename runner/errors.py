"""Errors the runner raises on purpose. A message says what, where, and what to do."""

from __future__ import annotations

import errno
from pathlib import Path


class RunnerError(Exception):
    """Anything the runner refuses or cannot do. The command line turns it into one sentence and exit code 2."""


class BenchError(RunnerError):
    """A bench that cannot be run as declared; carries the place, so an editor can jump there."""

    def __init__(self, sentence: str, *, file: Path | str | None = None, line: int | None = None) -> None:
        self.sentence, self.file, self.line = sentence, file, line
        where = "" if file is None else f"{file}:{line}: " if line else f"{file}: "
        super().__init__(where + sentence)


class BenchErrors(BenchError):
    """Several faults found in one pass, told together so that an author mends them in one go."""

    def __init__(self, errors: list[BenchError]) -> None:
        self.errors = errors
        RunnerError.__init__(self, "\n".join(str(error) for error in errors))


class EnvironmentRefused(RunnerError):
    """An environment that cannot hold what the bench demands of it; never ignored, never weakened."""


class AgentMissing(RunnerError):
    """An agent's program is not there, or did not answer when asked for its version."""


class JournalError(RunnerError):
    """A run directory that cannot be read, or is being written by another process."""


class DiskFull(RunnerError):
    """Nothing more can be written. No trial's fault: the run stops, and goes on when there is space."""

    def __init__(self, place: Path | str) -> None:
        self.place = str(place)
        super().__init__(f"The disk that holds {place} is full." if self.place else "A disk is full.")


class RunInterrupted(RunnerError):
    """A run that had to stop before its end; what it has is whole, and it can go on."""


class AgentChanged(RunInterrupted):
    """An agent that answers with another version than its run began with: more trials would measure something else."""

    def __init__(self, agent: str, was: str, now: str) -> None:
        self.agent, self.was, self.now = agent, was, now
        super().__init__(
            f"The run was stopped: its agent {agent!r} was version {was} when it began and is {now} now. Put that "
            "version back and go on with run --resume, or start a new run."
        )


class BundleError(RunnerError):
    """A bundle that is damaged, too large or hostile."""


class PathRefused(RunnerError):
    """A path that would leave the place it belongs to."""


def is_disk_full(error: BaseException | None) -> bool:
    """Tell whether an error, or one that led to it, says that a disk or a quota is full."""
    while error is not None:
        if isinstance(error, DiskFull) or (isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)):
            return True
        error = error.__cause__ or error.__context__
    return False


def is_refused(error: BaseException) -> bool:
    """Tell whether the machine let nobody read or write a place that was named: who owns it can mend that."""
    codes = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENAMETOOLONG)
    return isinstance(error, OSError) and error.errno in codes and error.filename is not None
