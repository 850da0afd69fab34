"""Both ends of the queue: the executor that offers attempts, and the work a worker does on one."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import close_old_connections, connection
from django.utils import timezone

from benchsite.jobs.models import Lease
from runner.errors import AgentChanged
from runner.executor import LocalExecutor
from runner.faults import fault
from runner.forkserver import CHANGED
from runner.jobs import TrialJob
from runner.journal import Event, now

from . import leases
from .spool import Reader, Writer

LOOK = 0.05
"""How often the driver looks for new events; the lease is asked a tenth as often."""


class CeleryExecutor:
    """Offers attempts to workers and hands on what they answer. Safe to use from several threads."""

    def __init__(self, run_dir: Path, workers: int = 1) -> None:
        self.run_dir, self.workers = Path(run_dir).resolve(), workers

    def execute(self, job: TrialJob) -> Iterator[Event]:
        try:
            yield from _Wait(job, leases.offer(job)).events()
        finally:
            connection.close()  # each of the engine's threads has its own

    def kill(self, job: TrialJob) -> None:
        leases.cancel(job)
        close_old_connections()  # whoever watches for a cancellation has a thread, and so a connection, of its own

    def close(self) -> None:
        """Workers end by themselves; nothing is held here."""


class _Wait:
    """One offered attempt, until its last event."""

    def __init__(self, job: TrialJob, lease: Lease) -> None:
        self.job, self.lease = job, lease
        self.reader: Reader | None = None
        self.began = time.monotonic()

    def events(self) -> Iterator[Event]:
        looks = 0
        while True:
            for event in self.reader.new() if self.reader else ():
                if event["type"] == CHANGED:
                    self._end()
                    raise AgentChanged(event["agent"], event["was"], event["now"])
                yield event
                if event["type"] == "trial.finished":
                    self._end()
                    return
            if looks % 10 == 0:
                word = self._look()
                if word is not None:
                    yield from word
                    leases.finish(self.lease)
                    return
            looks += 1
            time.sleep(LOOK)

    def _end(self) -> None:
        leases.finish(self.lease)
        if self.reader:
            self.reader.drop()

    def _look(self) -> list[Event] | None:
        """See who holds the lease; gives the last events when nobody will."""
        self.lease.refresh_from_db()
        holder = self.lease.holder
        if self.reader is None and holder not in ("", leases.CANCELLED):
            self.reader = Reader(self.job, holder)
        if self.reader is None and holder == leases.CANCELLED:
            return self._last("cancelled", None, "It was cancelled before a worker took it.")
        if self.lease.until >= timezone.now():
            return None
        if holder == "" and leases.resend(self.lease, self.job):
            return None
        why = "No worker took this trial." if holder == "" else "The worker that held this trial fell silent."
        return self._last(fault("lost").state, "lost", why)

    def _last(self, state: str, code: str | None, reason: str) -> list[Event]:
        """Say how an attempt ended that can no longer say so itself. A late answer stays in the spool as evidence."""
        events = [] if self.reader else [self._event("trial.started", seed=self.job.seed, worker=self.job.worker)]
        if code:
            events.append(
                self._event("issue", severity="fatal", phase="execution", code=code, sentence=reason, detail="")
            )
        seconds = round(time.monotonic() - self.began, 3)
        events.append(
            self._event(
                "trial.finished", state=state, outcome=None, fault=code, phase="execution", reason=reason,
                seconds=seconds, flags=[], usage=None, headline=None,
            )
        )  # fmt: skip
        return events

    def _event(self, type: str, **fields: Any) -> Event:
        return {"type": type, "at": now(), "trial": self.job.index, "attempt": self.job.attempt, **fields}


class _Warm:
    """The one executor a worker process keeps warm: its fork server holds the bench of one run."""

    held: LocalExecutor | None = None
    lock = threading.Lock()

    @classmethod
    def of(cls, run_dir: Path) -> LocalExecutor:
        with cls.lock:
            if cls.held is not None and cls.held.run_dir != run_dir.resolve():
                cls.held.close()
                cls.held = None
            cls.held = cls.held or LocalExecutor(run_dir, 1)
            return cls.held


def work(run_dir: str, job: dict[str, Any]) -> bool:
    """Carry out one attempt under a lease; false when somebody else has it, or had it."""
    todo = TrialJob.from_json(Path(run_dir), job)
    holder = leases.claim(todo.run_dir.name, todo.index, todo.attempt)
    if holder is None:
        return False
    executor = _Warm.of(todo.run_dir)
    writer, over = Writer(todo, holder), threading.Event()
    beat = threading.Thread(target=_beat, args=(executor, todo, holder, over), daemon=True)
    beat.start()
    try:
        for event in executor.execute(todo):
            writer.write(event)
    except AgentChanged as error:
        writer.write({"type": CHANGED, "agent": error.agent, "was": error.was, "now": error.now})
    finally:
        over.set()
        beat.join()
        writer.close()
    return True


def _beat(executor: LocalExecutor, job: TrialJob, holder: str, over: threading.Event) -> None:
    """Renew the lease while the attempt goes on; end the attempt when the lease is gone."""
    key, renewed = (job.run_dir.name, job.index, job.attempt), time.monotonic()
    try:
        while not over.wait(min(1.0, settings.LEASE_SECONDS / 4)):
            due = time.monotonic() - renewed > settings.LEASE_SECONDS / 3
            if not (leases.renew(*key, holder) if due else leases.holds(*key, holder)):
                executor.kill(job)
                return
            renewed = time.monotonic() if due else renewed
    finally:
        close_old_connections()
        connection.close()
