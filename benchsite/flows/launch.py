"""Run a bench here or on workers, and show it on the site while it goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import structlog
from django.db import connection
from django.utils import timezone

from benchsite.jobs.models import Job
from benchsite.runs.models import Run
from runner.credentials import borrowers
from runner.errors import BenchError
from runner.journal import MANIFEST, Event
from runner.manifest import Manifest
from runner.prepare import Prepared
from runner.running import resume, run

from . import clean, queue
from .ingest import ingest
from .working import CeleryExecutor

EXECUTORS = ("local", "celery")
LIVE_SECONDS = 2.0
"""A live run is ingested this often, or less: an ingest may take a fifth of the time at most."""
log = structlog.get_logger(__name__)


def launch(
    folder: Path,
    *,
    executor: str = "local",
    by: Any = None,
    again: str = "",
    on_prepared: Callable[[Prepared], None] | None = None,
    on_event: Callable[[Event], None] | None = None,
    cancel: threading.Event | None = None,
    **options: Any,
) -> Run:
    """Run a bench (or, with `again`, what its run of that ULID is missing); gives the accepted run.

    `options` are those of the runner: trials, workers, environment, seed, evaluation.
    """
    if executor == "celery":
        queue.demand_broker()
    make = CeleryExecutor if executor == "celery" else None
    job = Job.objects.create(kind="run", state=Job.State.RUNNING, by=by, payload={"executor": executor})
    try:
        run_dir = _run(Path(folder).resolve(), job, make, by, again, on_prepared, on_event, cancel, options)
        found = ingest(run_dir, by=by, verdict=Run.Verdict.ACCEPTED)
    except BaseException as error:
        _end(job, Job.State.FAILED, f"{type(error).__name__}: {error}")
        raise
    _end(job, Job.State.DONE, "")
    return found


def _run(
    folder: Path,
    job: Job,
    make: Any,
    by: Any,
    again: str,
    on_prepared: Callable[[Prepared], None] | None,
    on_event: Callable[[Event], None] | None,
    cancel: threading.Event | None,
    options: dict[str, Any],
) -> Path:
    runs = folder / ".bench" / "runs"
    with _Live(by) as live:

        def begun(run: str) -> None:
            live.folder = runs / run
            Job.objects.filter(pk=job.pk).update(payload={**job.payload, "run": run, "folder": str(live.folder)})

        def prepared(plan: Prepared) -> None:
            _check_logins(plan.manifest, make)
            begun(plan.manifest.run)
            if on_prepared:
                on_prepared(plan)

        common: dict[str, Any] = {"on_event": on_event, "cancel": cancel, "executor": make}
        if again:
            _check_logins(Manifest.read(runs / again / MANIFEST), make)
            begun(again)
            resume(runs / again, workers=options.get("workers"), **common)
            return runs / again
        result = run(folder, on_prepared=prepared, **common, **options)
    return runs / result.manifest.run


def _check_logins(manifest: Manifest, make: Any) -> None:
    """A worker may be on another machine, where the login is another one or none, and no lock is shared."""
    if make is not None and (agents := borrowers(manifest)):
        raise BenchError(
            f"Workers on a queue are given no login of a user, and {' and '.join(agents)} has credentials=...; "
            "run this bench with the local executor, or give its agents keys."
        )


def _end(job: Job, state: str, message: str) -> None:
    Job.objects.filter(pk=job.pk).update(state=state, message=clean.text(message, 1000), finished_at=timezone.now())


def folder_of(run: str) -> Path | None:
    """Find where a run that was launched here has its folder."""
    job = Job.objects.filter(kind="run", payload__run=run).order_by("-id").first()
    found = Path(job.payload["folder"]) if job else None
    return found if found and found.is_dir() else None


class _Live:
    """A thread that ingests a run again and again while it goes on."""

    def __init__(self, by: Any) -> None:
        self.by = by
        self.folder: Path | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go, name="live-ingest", daemon=True)

    def __enter__(self) -> _Live:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        self._thread.join()

    def _go(self) -> None:
        pause = LIVE_SECONDS
        try:
            while not self._over.wait(pause):
                pause = max(LIVE_SECONDS, 4 * self._once())
        finally:
            connection.close()

    def _once(self) -> float:
        began = time.monotonic()
        if self.folder is not None and (self.folder / "manifest.json").exists():
            try:
                ingest(self.folder, by=self.by, verdict=Run.Verdict.ACCEPTED, keep_events=False)
                here = Run.objects.filter(ulid=self.folder.name, state=Run.State.RUNNING)
                here.update(seen_at=timezone.now())  # a trial may say nothing for an hour; whoever drives it is there
            except Exception as error:  # the run itself must go on; the last ingest will say what is wrong
                log.warning("live ingest failed", run=self.folder.name, error=str(error))
        return time.monotonic() - began
