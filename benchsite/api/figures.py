"""Figures: a run's result, comparisons, and both as one HTML file; the same objects that the pages show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from ninja import Query, Router, Schema
from ninja.errors import HttpError
from pydantic import Field

from benchsite.readings.compare import asked as asking
from benchsite.readings.compare.grammar import CompareRefused, read
from benchsite.readings.compare.numbers import NumbersPage, numbers
from benchsite.readings.compare.plain import plain
from benchsite.readings.frame import frame_of
from benchsite.readings.framefile import TYPES, refusal, written
from benchsite.readings.question import Question
from benchsite.readings.report import comparison_report, run_report
from benchsite.readings.result import result
from benchsite.runs.models import Run

from .auth import Refusal, reader

router = Router(tags=["figures"])
Policy = Literal["scored/1", "errors-fail/1"]
HTML = {"responses": {200: {"content": {"text/html": {"schema": {"type": "string"}}}}}}
FRAME = {
    "responses": {
        200: {"content": {kind: {} for kind in TYPES.values()}},
        501: {"description": "Parquet is asked for, and this site has no pyarrow."},
    }
}


class Asked(Schema):
    """What is compared, and how. `want` is a difference in points of a rate, else in the measure's unit."""

    of: list[str] = Field(description="run:ID, cell:RUN/KEY or subject:OWNER/NAME/HASH; the first is the baseline")
    policy: Policy = "scored/1"
    measure: str = ""
    show: Literal["differ", "better", "worse", "same", "apart", "all"] = "all"
    side: int = Field(0, ge=0, le=6, description="whose cases are shown, counted from 1 in `of`; 0: of any side")
    sort: Literal["change", "name"] = "change"
    want: float = Field(0.0, ge=0, allow_inf_nan=False)


@router.get("/runs/{ulid}/result", response={200: dict[str, Any], 404: Refusal}, summary="Read a run's figures")
def run_result(request: HttpRequest, ulid: str, policy: Policy = "scored/1") -> Any:
    """What `benchsite result --json` prints: cells by measures under a policy, slots, coverage, flags."""
    return finite(result(_run(request, ulid), policy))


@router.get("/runs/{ulid}/report", openapi_extra=HTML, summary="Report on a run")
def report(request: HttpRequest, ulid: str, policy: Policy = "scored/1", measure: str = "") -> HttpResponse:
    """One self-contained HTML file of the run's page."""
    run = _run(request, ulid)
    address = request.build_absolute_uri(f"/runs/{ulid}/")
    return _file(f"run-{ulid}", run_report(run, Question(policy=policy, measure=measure), address))


@router.get("/runs/{ulid}/frame", openapi_extra=FRAME, summary="Read a run as a data frame")
def frame(
    request: HttpRequest, ulid: str, kind: Literal["csv", "json", "parquet"] = "json", every: bool = False
) -> StreamingHttpResponse:
    """Trials x measures, as `benchsite export` writes them; JSON is an object of columns. `every`: not only scored."""
    run = _run(request, ulid)
    if why := refusal(kind):
        raise HttpError(501, why)
    response = StreamingHttpResponse(written(frame_of(run, every=every), kind), content_type=TYPES[kind])
    response["Content-Disposition"] = f'attachment; filename="{run.ulid}-trials.{kind}"'
    return response


@router.get("/compare", response={200: dict[str, Any], 404: Refusal, 422: Refusal}, summary="Compare")
def compare(request: HttpRequest, asked: Query[Asked]) -> Any:
    """Compare up to six runs, cells or subjects of one bench, pair by pair."""
    return finite(plain(_compared(request, asked)))


@router.get("/compare/report", openapi_extra=HTML, summary="Report on a comparison")
def compare_report(request: HttpRequest, asked: Query[Asked]) -> HttpResponse:
    """One self-contained HTML file of the comparison."""
    page = _compared(request, asked)
    address = request.build_absolute_uri(f"/compare/{page.asked.query(page.of)}")
    return _file("comparison", comparison_report(page, address))


def _run(request: HttpRequest, ulid: str) -> Run:
    seen = Run.objects.visible_to(reader(request)).select_related("bench", "version", "by")
    found: Run | None = seen.filter(ulid=ulid).first()
    if found is None:
        raise Http404
    return found


def _compared(request: HttpRequest, asked: Asked) -> NumbersPage:
    named = read(_shown(asked.of))
    if len(named) < 2 or named[0].kind == "trial":
        raise CompareRefused("Name two to six runs, cells or subjects; trials are compared on their own pages.")
    if asked.side == 1 or asked.side > len(named):
        raise CompareRefused("side= counts the sides from 1, the baseline: name one that is compared with it, or 0.")
    question = asking.Asked(asked.policy, asked.measure, asked.show, asked.side, asked.sort, 1, asked.want)
    found = numbers(reader(request), named, question)
    if found is None:
        raise Http404
    return found


def _shown(names: Sequence[str]) -> list[str]:
    """NUL is in no id, and no database takes it."""
    return [name.replace("\0", "\ufffd") for name in names]


def _file(name: str, text: str) -> HttpResponse:
    response = HttpResponse(text, content_type="text/html; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.html"'
    return response


def finite(value: Any) -> Any:
    """JSON has no infinity; an upload may claim one."""
    if isinstance(value, dict):
        return {key: finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
