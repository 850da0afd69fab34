"""The front page and the lists of benches and runs."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from benchsite.readings import home as readings
from benchsite.readings.homesheets import HOME, benches_sheet, runs_sheet
from benchsite.runs.models import Run

from . import asked, twins
from .access import benches_for, runs_for
from .conditional import private
from .rendering import render

STATES = ("", *Run.State.values)
VERDICTS = ("", *Run.Verdict.values)


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    page = readings.home_page(benches_for(request), runs_for(request))
    return private(render(request, "home.html", {"page": page, "address": request.build_absolute_uri("/").rstrip("/")}))


@require_safe
def home_table(request: HttpRequest, table: str, kind: str) -> HttpResponse:
    sheet = twins.named(HOME, table)
    return private(twins.sent(sheet(readings.home_page(benches_for(request), runs_for(request))), kind))


@require_safe
def benches(request: HttpRequest) -> HttpResponse:
    start = asked.whole(request, "start", 0)
    page = readings.benches_page(benches_for(request), runs_for(request), start)
    return private(
        render(
            request,
            "benches.html",
            {"page": page, "start": start, "query": f"?start={start}" if start else "", "crumbs": [("Benches", None)]},
        )
    )


@require_safe
def benches_table(request: HttpRequest, kind: str) -> HttpResponse:
    page = readings.benches_page(benches_for(request), runs_for(request), asked.whole(request, "start", 0))
    return private(twins.sent(benches_sheet(page.benches, page.total), kind))


@require_safe
def runs_table(request: HttpRequest, kind: str) -> HttpResponse:
    return private(twins.sent(runs_sheet(_runs(request)), kind))


@require_safe
def runs(request: HttpRequest) -> HttpResponse:
    query = f"?{request.GET.urlencode()}" if request.GET else ""
    offered = {"states": STATES[1:], "verdicts": VERDICTS[1:], "query": query, "crumbs": [("Runs", None)]}
    return private(render(request, "runs.html", {"page": _runs(request), **offered}))


def _runs(request: HttpRequest) -> readings.RunsPage:
    state = asked.choice(request.GET, "state", STATES, "")
    verdict = asked.choice(request.GET, "verdict", VERDICTS, "")
    before = asked.whole(request, "before", 0)
    tag, bench = request.GET.get("tag", ""), request.GET.get("bench", "")
    seen = runs_for(request), benches_for(request)
    return readings.runs_page(*seen, state=state, verdict=verdict, tag=tag, bench=bench, before=before)
