"""A run's page, and its tables as CSV."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from benchsite.readings.matrix import SORTS
from benchsite.readings.run import run_page

from . import asked, csvs
from .access import run_for
from .conditional import answer, page
from .links import crumbs_of_run


@require_safe
def run(request: HttpRequest, ulid: str) -> HttpResponse:
    found = run_for(request, ulid)
    question = asked.of_run(request)
    return page(
        request,
        str(found.revision),
        "run.html",
        lambda: {"page": run_page(found, question), "crumbs": crumbs_of_run(found), "sorts": SORTS},
    )


@require_safe
def leaderboard_csv(request: HttpRequest, ulid: str) -> HttpResponse:
    found = run_for(request, ulid)
    question = asked.of_run(request)
    return answer(request, str(found.revision), lambda: csvs.leaderboard(run_page(found, question)))


@require_safe
def matrix_csv(request: HttpRequest, ulid: str) -> HttpResponse:
    found = run_for(request, ulid)
    question = asked.of_run(request)
    return answer(request, str(found.revision), lambda: csvs.matrix(run_page(found, question)))
