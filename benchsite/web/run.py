"""A run's page, its parts while the run goes on, and its tables as CSV and JSON."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from benchsite.accounts.access import is_curator
from benchsite.flows.cancelling import cancel_run, may_cancel
from benchsite.readings.alive import silent_since
from benchsite.readings.framefile import has_parquet
from benchsite.readings.matrix import SORTS
from benchsite.readings.notes import notes_of
from benchsite.readings.run import run_page
from benchsite.readings.runsheets import SHEETS
from benchsite.runs.models import Run
from runner.errors import RunnerError

from . import asked, links, twins
from .access import found, run_for
from .conditional import page
from .notes import annotating

PARTS = {"": "run.html", "live": "run/_live.html", "tables": "run/_tables.html", "rest": "run/_rest.html"}
"""A part has its own query, so that page and part never share an ETag; the page includes the same file."""


@require_safe
def run(request: HttpRequest, ulid: str) -> HttpResponse:
    of = run_for(request, ulid)
    question = asked.of_run(request)
    template = PARTS[asked.choice(request.GET, "part", tuple(PARTS), "")]

    def build() -> dict[str, object]:
        made = found(run_page(of, question))
        link = request.build_absolute_uri(request.path + question.query(fixed=False).rstrip("?"))
        may = of.state == Run.State.RUNNING and may_cancel(request.user, of)
        beside = notes_of(of, None, request.user, made.tags, made.notes)
        writing = {"beside": beside, **annotating(request, of)}
        return {
            "page": made,
            "crumbs": links.crumbs_of_run(of),
            "sorts": SORTS,
            "link": link,
            "may_cancel": may,
            "parquet": has_parquet(),
            "decide": of.ulid if is_curator(request.user) else "",
            **writing,
        }

    return page(request, revision(of), template, build)


def revision(of: Run) -> str:
    """Changes with every number, and when a run that goes on falls silent."""
    return f"{of.revision}:{silent_since(of) or ''}"


@login_required
@require_POST
def cancel(request: HttpRequest, ulid: str) -> HttpResponse:
    """Cancel the run, or the trial that the form names; what came of it is said on the run's page."""
    of = run_for(request, ulid)
    trial = request.POST.get("trial", "")
    try:
        done = cancel_run(of, by=request.user, trial=int(trial) if trial.isdecimal() and len(trial) < 10 else None)
        messages.success(request, f"{done.where} is cancelled; its page shows it in a few seconds.")
    except RunnerError as error:
        messages.error(request, str(error))
    return redirect("run", ulid)


@require_safe
def run_table(request: HttpRequest, ulid: str, table: str, kind: str) -> HttpResponse:
    of = run_for(request, ulid)
    question = asked.of_run(request)
    sheet = twins.named(SHEETS, table)
    return twins.twin(request, revision(of), lambda: sheet(found(run_page(of, question))), kind)
