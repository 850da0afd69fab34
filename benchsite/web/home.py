"""The front page and the lists of benches and runs."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchsite.readings import home as readings
from benchsite.runs.models import Run

from . import asked
from .access import benches_for, runs_for
from .conditional import private

STATES = ("", *Run.State.values)
VERDICTS = ("", *Run.Verdict.values)


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    page = readings.home_page(benches_for(request), runs_for(request))
    return private(render(request, "home.html", {"page": page, "address": request.build_absolute_uri("/").rstrip("/")}))


@require_safe
def benches(request: HttpRequest) -> HttpResponse:
    start = asked.whole(request, "start", 0)
    page = readings.benches_page(benches_for(request), runs_for(request), start)
    return private(render(request, "benches.html", {"page": page, "start": start, "crumbs": [("Benches", None)]}))


@require_safe
def runs(request: HttpRequest) -> HttpResponse:
    state = asked.choice(request.GET, "state", STATES, "")
    verdict = asked.choice(request.GET, "verdict", VERDICTS, "")
    before = asked.whole(request, "before", 0)
    tag = request.GET.get("tag", "")
    page = readings.runs_page(runs_for(request), state=state, verdict=verdict, tag=tag, before=before)
    context = {"page": page, "states": STATES[1:], "verdicts": VERDICTS[1:], "crumbs": [("Runs", None)]}
    return private(render(request, "runs.html", context))
