"""Carry out attempts on this machine: launch, watch the wall limit, and have the last word on how each ended."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from .blobs import BlobStore
from .definition import Timeouts
from .errors import AgentChanged, DiskFull, RunnerError, is_disk_full
from .faults import fault
from .forkserver import CHANGED, EXIT, FULL, MOUNTED, START_TIMEOUT, ForkServer, FreshProcesses, Launcher
from .jobs import TrialJob
from .journal import MANIFEST, Event, now
from .manifest import Manifest
from .settling import Settler
from .standby import SERVER_LOG, Standby
from .worlds.keeping import Mounts

TICK = 0.1
"""How often a silent trial is looked at for its wall limit and for a cancellation."""


def forks() -> bool:
    """BENCHSITE_FORK=0 chooses a fresh process per trial; so does a machine without fork."""
    return hasattr(os, "fork") and os.environ.get("BENCHSITE_FORK", "1") != "0"


def wall_limit(manifest: Manifest) -> float:
    return float(manifest.limits.get("timeouts", {}).get("trial") or Timeouts().trial)


class LocalExecutor:
    """Runs attempts of one run; the journal is not its business, so a worker on a queue may use it too."""

    def __init__(self, run_dir: Path, workers: int = 1, standby: Standby | None = None) -> None:
        self.run_dir, self.workers = Path(run_dir).resolve(), workers
        self.manifest = Manifest.read(self.run_dir / MANIFEST)
        self.limit = wall_limit(self.manifest)
        self.settler = Settler(self.run_dir, self.manifest, BlobStore(self.run_dir.parent.parent / "blobs"))
        self.launcher: Launcher = ForkServer(self.run_dir, standby) if forks() else FreshProcesses(self.run_dir)
        self._running: dict[str, Watch] = {}
        self._lock = threading.Lock()

    def execute(self, job: TrialJob) -> Iterator[Event]:
        watch = Watch(self, job)
        with self._lock:
            self._running[job.key] = watch
        try:
            yield from watch.events()
        finally:
            with self._lock:
                del self._running[job.key]

    def kill(self, job: TrialJob) -> None:
        with self._lock:
            watch = self._running.get(job.key)
        if watch is not None:
            watch.cancelled = True

    def close(self) -> None:
        self.launcher.close()


class Watch:
    """One attempt under way. Its own process may not live to say how it ended; then it is said here."""

    def __init__(self, executor: LocalExecutor, job: TrialJob) -> None:
        self.executor, self.job = executor, job
        self.cancelled = self.exited = False
        self.phase, self.guard = "", ""
        self.finished: Event | None = None
        self.killed_for = ""
        self.halt: RunnerError | None = None
        self.trouble = self.fate = ""
        self.mounts: Mounts | None = None
        self.began = time.monotonic()

    def events(self) -> Iterator[Event]:
        try:
            yield from self._events()
        finally:
            if self.mounts is not None:
                self.mounts.close()

    def _events(self) -> Iterator[Event]:
        yield self._event("trial.started", seed=self.job.seed, worker=self.job.worker)
        try:
            yield from self._watched()
        except (RunnerError, OSError) as error:
            if is_disk_full(error):
                raise DiskFull(self.executor.run_dir) from error
            if isinstance(error, OSError):
                raise
            self.trouble = str(error)
        if self.halt is not None:
            raise self.halt  # the attempt has no last word: it is lost, and a resume runs the trial again
        if self.finished is None:
            yield from self._explained()
            self.finished = self._last_word()
        yield from self.executor.settler.settle(self.job, self.finished, self.mounts)
        yield {**self.finished, "at": now()}

    def _watched(self) -> Iterator[Event]:
        child = self.executor.launcher.launch(self.job)
        for event in child.lines(TICK):
            if event is not None:
                yield from self._taken(event)
            if not self.killed_for and (reason := self._reason_to_kill()):
                self.killed_for = reason
                child.kill()
        if not self.exited and not self.killed_for:
            self.fate = child.fate()

    def _taken(self, event: Event) -> Iterator[Event]:
        """Pass an event on; those about the process itself stay here, the last one waits for the process to end."""
        kind = event["type"]
        if kind == "phase":
            if self.phase == "":
                self.began = time.monotonic()  # a server may have had to start first; that is not the trial's time
            self.phase = event.pop("then", self.phase or event["phase"])
            yield event
        elif kind == FULL:
            self.halt = DiskFull(event["place"])
        elif kind == CHANGED:
            self.halt = AgentChanged(event["agent"], event["was"], event["now"])
        elif kind == MOUNTED:
            with contextlib.suppress(OSError):  # it has died already; settling says that its world cannot be kept
                self.mounts = Mounts(event["pid"])
        elif kind == "trial.finished":
            self.finished = event
        elif kind == EXIT:
            self.exited = True
        else:
            if kind == "guard":
                self.guard = self.guard or event["sentence"]
            yield event

    def _reason_to_kill(self) -> str:
        if self.cancelled or self.halt is not None:
            return "cancelled"
        return "timeout" if time.monotonic() - self.began > self._patience() else ""

    def _patience(self) -> float:
        """A trial ends itself at its wall limit and keeps its record; one that does not is killed a little later."""
        limit = self.executor.limit
        starting = 0.0 if self.phase else START_TIMEOUT
        return starting + limit + min(10.0, 1.0 + limit / 10)

    def _code(self) -> str:
        return "environment" if self.trouble else "timeout" if self.killed_for == "timeout" else "lost"

    def _explained(self) -> Iterator[Event]:
        if self.killed_for != "cancelled":
            yield self._event(
                "issue",
                severity="fatal",
                phase=self.phase or "prepare",
                code=self._code(),
                sentence=self._sentence(),
                detail="",
            )

    def _sentence(self) -> str:
        if self.trouble:
            return self.trouble
        if self.killed_for == "timeout":
            return f"The trial reached its wall-clock limit of {self.executor.limit:g} s and was killed."
        if self.fate:
            return f"The trial's process died with the server that had started it ({self.fate}; see {SERVER_LOG})."
        return "The trial's process died before the trial had ended."

    def _last_word(self) -> Event:
        """A guard that failed has excluded the trial, whatever became of its process afterwards."""
        state, code, reason = fault(self._code()).state, self._code(), self._sentence()
        if self.killed_for == "cancelled":
            state, code, reason = "cancelled", "", "It was cancelled while it ran."
        elif self.guard:
            state, code, reason = "excluded", "", self.guard
        return self._event(
            "trial.finished", state=state, outcome=None, fault=code or None, phase=self.phase or "prepare",
            reason=reason, seconds=round(time.monotonic() - self.began, 6), flags=[], usage=None, headline=None,
        )  # fmt: skip

    def _event(self, type: str, **fields: object) -> Event:
        return {"type": type, "at": now(), "trial": self.job.index, "attempt": self.job.attempt, **fields}
