"""A run's page, its parts while the run goes on, and its tables as CSV and JSON."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from benchsite.readings.alive import silent_since
from benchsite.readings.matrix import SORTS
from benchsite.readings.run import run_page
from benchsite.readings.runsheets import SHEETS
from benchsite.runs.models import Run

from . import asked, twins
from .access import found, run_for
from .conditional import page
from .links import crumbs_of_run

PARTS = {"": "run.html", "live": "run/_live.html", "tables": "run/_tables.html"}
"""A part has its own query, so that page and part never share an ETag; the page includes the same file."""


@require_safe
def run(request: HttpRequest, ulid: str) -> HttpResponse:
    of = run_for(request, ulid)
    question = asked.of_run(request)
    template = PARTS[asked.choice(request.GET, "part", tuple(PARTS), "")]

    def build() -> dict[str, object]:
        made = found(run_page(of, question))
        link = request.build_absolute_uri(request.path + question.query(fixed=False).rstrip("?"))
        return {"page": made, "crumbs": crumbs_of_run(of), "sorts": SORTS, "link": link, "may_cancel": False}

    return page(request, revision(of), template, build)


def revision(of: Run) -> str:
    """Changes with every number, and when a run that goes on falls silent."""
    return f"{of.revision}:{silent_since(of) or ''}"


@require_safe
def run_table(request: HttpRequest, ulid: str, table: str, kind: str) -> HttpResponse:
    of = run_for(request, ulid)
    question = asked.of_run(request)
    sheet = twins.named(SHEETS, table)
    return twins.twin(request, revision(of), lambda: sheet(found(run_page(of, question))), kind)
