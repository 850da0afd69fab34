"""The list of trials that every number links to."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from benchsite.readings.trials import trials_page
from benchsite.readings.trialsheet import trials_sheet
from runner.faults import FAULTS, FLAGS, INTEGRITY_FLAGS, OUTCOMES, STATES

from . import asked, twins
from .access import found, run_for
from .conditional import page
from .links import crumbs_of_run


@require_safe
def run_trials(request: HttpRequest, ulid: str) -> HttpResponse:
    run = run_for(request, ulid)
    filters = asked.of_trials(request)
    offered = {
        "states": (*STATES, "withdrawn"),
        "outcomes": OUTCOMES,
        "faults": tuple(FAULTS),
        "flags": tuple(FLAGS),
        "integrity": INTEGRITY_FLAGS,
    }
    return page(
        request,
        str(run.revision),
        "trials.html",
        lambda: {"page": found(trials_page(run, filters)), "crumbs": crumbs_of_run(run, ("Trials", None)), **offered},
    )


@require_safe
def trials_table(request: HttpRequest, ulid: str, kind: str) -> HttpResponse:
    run = run_for(request, ulid)
    filters = asked.of_trials(request)
    return twins.twin(request, str(run.revision), lambda: found(trials_sheet(run, filters)), kind)
