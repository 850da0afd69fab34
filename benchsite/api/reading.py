"""Reading: benches and runs as the caller may see them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest
from ninja import Path, Query, Router, Schema
from ninja.errors import HttpError

from benchsite.benches.models import Bench
from benchsite.readings.plaintrial import trial_json
from benchsite.runs.models import Run

from .auth import Refusal, reader
from .figures import finite

router = Router(tags=["reading"])
PAGE = 100


class BenchOut(Schema):
    name: str
    title: str
    visibility: str


class RunOut(Schema):
    run: str
    bench: str
    version: str
    cohort: str
    label: int
    state: str
    verdict: str
    origin: str
    isolation: str
    regraded: bool
    """Whether no agent worked here: the run graded again what agents did in an earlier one."""
    parent: str | None
    """The run that this one was made from."""
    counts: dict[str, int]
    revision: int
    started_at: datetime | None
    finished_at: datetime | None


class AttemptOut(Schema):
    number: int
    state: str
    fault: str


class TrialOut(Schema):
    run: str
    index: int
    scenario: str
    case: str
    axes: dict[str, str]
    number: int
    state: str
    outcome: str
    fault: str
    reason: str
    seconds: float | None
    cost: float | None
    tokens: int | None
    flags: list[str]
    plan: dict[str, Any]
    attempts: list[AttemptOut]
    collected: list[dict[str, Any]]
    judged: list[dict[str, Any]]


class Benches(Schema):
    benches: list[BenchOut]


class Runs(Schema):
    runs: list[RunOut]
    next: str | None = None
    """Give this as `before` to read on; null at the end."""


@router.get("/benches", response=Benches, summary="List benches")
def benches(request: HttpRequest) -> Any:
    seen = Bench.objects.visible_to(reader(request))
    return Benches(benches=[BenchOut(name=str(b), title=b.title, visibility=b.visibility) for b in seen])


@router.get("/runs", response={200: Runs, 422: Refusal}, summary="List runs, newest first")
def runs(request: HttpRequest, bench: str = "", before: str = "", limit: int = Query(PAGE, ge=1, le=PAGE)) -> Any:
    visible = Run.objects.visible_to(reader(request))
    seen = visible.select_related("bench", "version").newest()
    if bench:
        seen = seen.filter(bench__in=Bench.objects.named(bench))
    if before:
        last = visible.filter(ulid=before).values_list("pk", flat=True).first()  # a hidden run is none
        if last is None:
            raise HttpError(422, f"before={before[:80]!r} is no run's id; give `next` of the page before, as it is.")
        seen = seen.filter(pk__lt=last)
    page = list(seen[: limit + 1])
    return Runs(runs=[_run(run) for run in page[:limit]], next=page[limit - 1].ulid if len(page) > limit else None)


@router.get("/runs/{ulid}", response=RunOut, summary="Read a run")
def run(request: HttpRequest, ulid: str) -> Any:
    found = Run.objects.visible_to(reader(request)).select_related("bench", "version").filter(ulid=ulid).first()
    if found is None:
        raise Http404
    return _run(found)


@router.get("/runs/{ulid}/trials/{index}", response=TrialOut, summary="Read a trial")
def trial(request: HttpRequest, ulid: str, index: int = Path(ge=0, lt=1 << 31)) -> Any:
    """What became of it, the resolved plan it was made under, and what became of each declared path."""
    found = trial_json(reader(request), ulid, index)
    if found is None:
        raise Http404
    return finite(found)


def _run(run: Run) -> RunOut:
    return RunOut(
        run=run.ulid,
        bench=str(run.bench),
        version=run.version.number,
        cohort=run.cohort,
        label=run.label,
        state=run.state,
        verdict=run.verdict,
        origin=run.origin,
        isolation=run.isolation,
        regraded=bool(run.regrades),
        parent=run.parent or None,
        counts=run.counts,
        revision=run.revision,
        started_at=run.started_at,
        finished_at=run.finished_at,
    )
