"""What is under way: queue, workers, leases, jobs, runs; and what went wrong last."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Count, Max, Q
from django.utils import timezone

from benchsite.flows import queue
from benchsite.flows.leases import CANCELLED
from benchsite.flows.swept import KEY as SWEEP
from benchsite.jobs.models import Job, Lease
from benchsite.logs import last_errors
from benchsite.readings.alive import silent_since
from benchsite.readings.words import count
from benchsite.runs.models import Run
from runner.errors import RunnerError

from .facts import Fact, Failure

LATELY = timedelta(days=1)
OFTEN = timedelta(minutes=10)
"""A sweep that has not been for so long does not come every minute."""
FAILURES = 10


def queued() -> Iterator[Fact]:
    kind = queue.kind()
    if not kind:
        yield Fact("queue", "Queue", "local", "none: trials run in a local pool", docs="workers")
        return
    try:
        depth = queue.depth()
    except RunnerError as error:
        yield Fact("queue", "Queue", kind, kind, str(error), "workers")
        return
    yield Fact("queue", "Queue", kind, kind, docs="workers")
    yield Fact("queue_depth", "Messages that wait", depth, f"{depth:,}")


def workers() -> Fact:
    """Ask the workers to answer: it takes a second, so that it is done only where it is asked for."""
    try:
        names = queue.workers()
    except RunnerError as error:
        return Fact("workers", "Workers", None, "–", str(error), "workers")
    wrong = "" if names else "No worker answers: start one with celery -A benchsite worker."
    return Fact("workers", "Workers", names, f"{len(names)}: {', '.join(names)}" if names else "0", wrong, "workers")


def leases(now: datetime) -> Iterator[Fact]:
    found = Lease.objects.open().aggregate(
        open=Count("pk"),
        held=Count("pk", filter=~Q(holder__in=("", CANCELLED))),
        expired=Count("pk", filter=Q(until__lt=now)),
    )
    yield Fact("leases_held", "Attempts that workers hold", found["held"], f"{found['held']:,} of {found['open']:,}")
    many, wrong = found["expired"], ""
    if many:
        wrong = (
            f"{count(many, 'lease')} ran out: no worker took the trial, or its worker fell silent. Whoever drives the "
        )
        wrong += "run, or manage.py sweep, sends it again; see that workers run."
    yield Fact("leases_expired", "Leases expired", many, f"{many:,}", wrong, "workers")


def jobs(now: datetime) -> Iterator[Fact]:
    """Jobs by state, and when the last sweep was: that has a row among them."""
    found = Job.objects.aggregate(
        swept=Max("finished_at", filter=Q(key=SWEEP)),
        queued=Count("pk", filter=Q(state=Job.State.QUEUED)),
        running=Count("pk", filter=Q(state=Job.State.RUNNING)),
        failed=Count("pk", filter=Q(state=Job.State.FAILED, finished_at__gte=now - LATELY)),
    )
    for state in ("queued", "running"):
        yield Fact(f"jobs_{state}", f"Jobs {state}", found[state], f"{found[state]:,}")
    many = found["failed"]
    wrong = f"{count(many, 'job')} failed in the last 24 hours; what each said stands below." if many else ""
    yield Fact("jobs_failed", "Jobs failed (24 h)", many, f"{many:,}", wrong, "commands")
    yield _swept(found["swept"], now)


def _swept(at: datetime | None, now: datetime) -> Fact:
    """A site for local use, in its one file without workers, can do without."""
    late = at is None or now - at > OFTEN
    wrong = ""
    if late and (settings.BROKER_URL or connection.vendor != "sqlite"):
        wrong = "No sweep in the last ten minutes: have cron (or a timer) run manage.py sweep every minute or so."
    return Fact("last_sweep", "Last sweep", at.isoformat() if at else None, _when(at), wrong, "commands")


def runs() -> Iterator[Fact]:
    going = list(Run.objects.filter(state=Run.State.RUNNING).only("state", "seen_at", "started_at", "created_at"))
    silent = sum(silent_since(run) is not None for run in going)
    where = "/runs/?state=running" if going else ""
    yield Fact("runs_in_flight", "Runs in flight", len(going), f"{len(going):,}", href=where)
    wrong = ""
    if silent:
        gives = "gives" if silent == 1 else "give"
        wrong = (
            f"{count(silent, 'run')} that should go on {gives} no sign of life: benchsite run --resume goes on with it."
        )
    yield Fact("runs_silent", "Silent runs", silent, f"{silent:,}", wrong, "watching-a-run", where)


def failures() -> tuple[Failure, ...]:
    """The last errors of this site's log and the last jobs that failed, newest first."""
    failed = Job.objects.filter(state=Job.State.FAILED).exclude(finished_at=None).order_by("-id")[:FAILURES]
    found = [Failure(job.finished_at.isoformat(), job.message, f"job {job.kind} {job.key}") for job in failed]
    for row in last_errors(settings.ERRORS):
        found.append(Failure(*(str(row.get(name, "")) for name in ("at", "what", "where", "mark"))))
    return tuple(sorted(found, key=lambda one: one.at, reverse=True)[:FAILURES])


def _when(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC" if at else "never"


def every(*, ask: bool) -> dict[str, tuple[str, list[Fact]]]:
    now = timezone.now()
    made: dict[str, tuple[str, list[Any]]] = {
        "work": ("Work", [*queued(), *([workers()] if ask else []), *leases(now), *jobs(now), *runs()])
    }
    return made
