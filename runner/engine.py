"""Drive a run: workers take trials in the planned order, every event is journalled as it comes."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from .blobs import BlobStore
from .cancelling import ALL, Requests
from .credentials import Turns
from .errors import DiskFull, RunInterrupted
from .executor import LocalExecutor
from .faults import fault
from .jobs import Executor, TrialJob, trial_seed
from .journal import MANIFEST, Event, Journal, now, read_events
from .manifest import Manifest
from .recorded import Recorded
from .replay import Attempt, Fold, RunResult
from .scheduling import Cells, Losses, Pending, Spending, may_retry, pending, retries_of
from .settling import Settler

__all__ = ["Executor", "LocalExecutor", "TrialJob", "drive"]

OnEvent = Callable[[Event], None]
LOOK = 0.1
"""How often the driving thread looks for a cancellation."""


def drive(
    run_dir: Path,
    *,
    executor: Executor,
    workers: int = 1,
    on_event: OnEvent | None = None,
    cancel: threading.Event | None = None,
    fail_fast: bool = False,
) -> RunResult:
    """Run what the run still has to do, a fresh one or one that was cut short; returns the folded result."""
    run_dir = Path(run_dir).resolve()
    manifest = Manifest.read(run_dir / MANIFEST)
    with Journal.open(run_dir) as journal:
        known = Fold(manifest, read_events(run_dir))
        before = known.result()
        todo = pending(before)
        if before.started_at is not None and not todo:
            return before
        Drive(run_dir, known, todo, journal, executor, on_event, cancel or threading.Event(), fail_fast=fail_fast).run(
            workers, fresh=before.started_at is None
        )
    return known.result()


class Drive:
    def __init__(
        self,
        run_dir: Path,
        known: Fold,
        todo: list[Pending],
        journal: Journal,
        executor: Executor,
        on_event: OnEvent | None,
        cancel: threading.Event,
        *,
        fail_fast: bool = False,
    ) -> None:
        self.run_dir, self.manifest, self.known, self.before = run_dir, known.manifest, known, known.result()
        self.journal, self.executor, self.on_event, self.cancel = journal, executor, on_event, cancel
        self.queue = deque(todo)
        self.cells, self.losses, self.spending = Cells(), Losses(1), Spending.of(self.before)
        self.running: dict[str, TrialJob] = {}
        self.fail_fast, self.given_up = fail_fast, ""
        self.failure: BaseException | None = None
        self.requests, self.cancelled = Requests(run_dir), set[int]()
        self.nothing = Recorded.of(run_dir, self.manifest).nothing() if self.manifest.regraded else {}
        self.turns = Turns(self.manifest)
        self._lock = threading.Lock()  # over queue, cells, spending, running
        self._telling = threading.Lock()  # over journal, listener and fold: all see the events in one order

    def run(self, workers: int, *, fresh: bool) -> None:
        try:
            self._go(workers, fresh)
        except DiskFull as error:
            self.journal.release()
            with suppress(Exception):  # the full disk is what is told
                self._last_words("interrupted")
            raise RunInterrupted(
                f"The run {self.manifest.run} was interrupted: {error} "
                f"Free some space, then go on with: benchsite run --resume {self.manifest.run}"
            ) from error

    def _go(self, workers: int, fresh: bool) -> None:
        self.losses.workers, load = workers, round(os.getloadavg()[0], 2)
        self.tell("run.started" if fresh else "run.resumed", workers=workers, load=load)
        self._bury_lost()
        threads = [threading.Thread(target=self._work, args=(n,), name=f"worker-{n}") for n in range(max(1, workers))]
        for thread in threads:
            thread.start()
        try:
            self._watch(threads)
        finally:
            self._end(threads)
        if self.failure is not None:
            raise self.failure

    def _bury_lost(self) -> None:
        """Attempts that were running when the runner died get their last word now, and their worlds are put away."""
        settler = Settler(self.run_dir, self.manifest, BlobStore(self.run_dir.parent.parent / "blobs"))
        for trial in self.before.trials:
            last = trial.final
            if last is not None and last.finished_at is None:
                ended = _lost(last)
                for event in settler.settle(TrialJob(self.run_dir, last.trial, last.number, 0), ended):
                    self._tell(event)
                self._tell(ended)

    def _watch(self, threads: list[threading.Thread]) -> None:
        """Wait for the workers. Ctrl-C that reaches this thread cancels; a second one leaves at once."""
        while any(thread.is_alive() for thread in threads):
            try:
                self._obey()
                self._kill_unwanted()
                next((t for t in threads if t.is_alive()), threads[0]).join(LOOK)
            except KeyboardInterrupt:
                if self.cancel.is_set():
                    raise
                self.cancel.set()

    def _obey(self) -> None:
        """Do what other processes ask: cancel one trial, or the run."""
        for name in self.requests.new():
            if name == ALL:
                self.cancel.set()
            else:
                self._cancel(int(name))
            self.requests.done(name)

    def _cancel(self, index: int) -> None:
        """Take out a trial that waits; one that runs is ended, one about to run finds its index noted."""
        with self._lock:
            self.cancelled.add(index)
            waiting = [todo for todo in self.queue if todo.index == index]
            for todo in waiting:
                self.queue.remove(todo)
        for todo in waiting:
            self._not_run(todo)

    def _not_run(self, todo: Pending) -> None:
        self.tell("trial.not_run", trial=todo.index, state="cancelled", reason="It was cancelled before it ran.")

    def _end(self, threads: list[threading.Thread]) -> None:
        if any(thread.is_alive() for thread in threads):
            return  # left at once: what runs is lost, the journal says nothing of it
        if self.cancel.is_set():
            for left in self.queue:
                self.tell("trial.not_run", trial=left.index, state="cancelled", reason="The run was cancelled.")
        if not isinstance(self.failure, DiskFull):
            self._last_words("cancelled" if self.cancel.is_set() else "interrupted" if self.failure else "finished")

    def _last_words(self, state: str) -> None:
        self.tell("run.finished", state=state)
        self.journal.sync()

    def _kill_unwanted(self) -> None:
        """Again at each look: a job may be known here before its executor knows it."""
        every = self.cancel.is_set() or self.failure is not None
        with self._lock:
            jobs = [job for job in self.running.values() if every or job.index in self.cancelled]
        for job in jobs:
            self.executor.kill(job)

    def tell(self, type: str, /, **fields: Any) -> None:
        self._tell({"type": type, **fields})

    def _tell(self, event: Event) -> Attempt | None:
        """Journal an event; give the attempt that it ends, if it ends one."""
        with self._telling:
            (written,) = self.journal.extend([event])
            if self.on_event is not None:
                self.on_event(written)
            return self.known.feed(written)

    def _work(self, worker: int) -> None:
        try:
            while (todo := self._next()) is not None:
                try:
                    self._trial(todo, worker)
                finally:
                    with self._lock:
                        self.turns.free(self.manifest.trials[todo.index].cell)
        except BaseException as error:  # a full disk, a listener that raised: the run cannot go on
            self.failure = self.failure or error
            with self._lock:
                self.queue.clear()

    def _next(self) -> Pending | None:
        """Take the next trial that may run; those of a stopped cell or beyond the budget are journalled instead."""
        while True:
            with self._lock:
                if self.cancel.is_set() or self.failure is not None or not self.queue:
                    return None
                todo = self._taken()
                reason = self._reason_not_to_run(todo) if todo else ""
            if todo is None:
                self.cancel.wait(LOOK)  # what is left waits for a login that another trial has, maybe of another run
            elif not reason:
                return todo
            else:
                self.tell("trial.not_run", trial=todo.index, state="not_run", reason=reason)

    def _taken(self) -> Pending | None:
        """Take the first trial whose agent needs no login, or has its turn with it."""
        busy = set[int]()
        for todo in self.queue:
            cell = self.manifest.trials[todo.index].cell
            if self._reason_not_to_run(todo) or (cell not in busy and self.turns.take(cell)):
                self.queue.remove(todo)
                return todo
            busy.add(cell)
        return None

    def _reason_not_to_run(self, todo: Pending) -> str:
        stopped = (
            self.given_up
            or self.nothing.get(todo.index, "")
            or self.cells.stopped.get(self.manifest.trials[todo.index].cell, "")
        )
        if stopped or not self.spending.over:
            return stopped
        return f"The run's budget of ${self.spending.limit:g} was spent."

    def _trial(self, todo: Pending, worker: int) -> None:
        attempt = self._attempt(todo, worker)
        while self._again(attempt, todo):
            self.tell("trial.retried", trial=todo.index, attempt=todo.attempt, code=attempt.fault)
            todo = todo.after(attempt)
            if attempt.fault == "provider":
                self.cancel.wait(min(30.0, 0.5 * 2**todo.retried))
            attempt = self._attempt(todo, worker)
        cell = self.manifest.trials[todo.index].cell
        with self._lock:
            stop = None if self.manifest.regraded else self.cells.ended(cell, attempt)
            if self.fail_fast and attempt.state in ("run_error", "eval_error"):
                where = self.manifest.where(todo.index)
                self.given_up = self.given_up or f"The run stops at the first error (--fail-fast), that of {where}."
        if stop is not None:
            self.tell("cell.stopped", cell=cell, code=stop[0], sentence=stop[1])

    def _again(self, attempt: Attempt, todo: Pending) -> bool:
        if self.cancel.is_set() or self.failure is not None or attempt.state != "run_error":
            return False
        if attempt.fault == "lost" and self.given_up:
            return False

        with self._lock:
            over = self.spending.over
        return not over and may_retry(attempt.fault, todo.retried, retries_of(self.manifest))

    def _attempt(self, todo: Pending, worker: int) -> Attempt:
        seed = trial_seed(self.manifest, todo.index)
        job = TrialJob(self.run_dir, todo.index, todo.attempt, seed, worker, todo.checkpoint)
        with self._lock:
            unwanted = todo.index in self.cancelled
            if not unwanted:
                self.running[job.key] = job
        if unwanted:
            self._not_run(todo)
            return Attempt(todo.index, todo.attempt, "cancelled")
        ended = Attempt(todo.index, todo.attempt)
        try:
            for event in self.executor.execute(job):
                ended = self._tell(event) or ended
        finally:
            with self._lock:
                del self.running[job.key]
                self.spending.add(ended)
                self.given_up = self.given_up or self.losses.ended(ended)
        self.journal.sync()
        return ended


def _lost(attempt: Attempt) -> Event:
    row = fault("lost")
    return {
        "type": "trial.finished", "at": now(), "trial": attempt.trial, "attempt": attempt.number, "state": row.state,
        "outcome": None, "fault": row.code, "phase": None, "reason": "The runner ended before this trial did.",
        "seconds": None, "flags": list(attempt.flags), "usage": None, "headline": None,
    }  # fmt: skip
