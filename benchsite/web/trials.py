"""The list of trials that every number links to."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from benchsite.readings.trials import every_trial, trials_page
from runner.faults import FAULTS, FLAGS, OUTCOMES, STATES

from . import asked, csvs
from .access import found, run_for
from .conditional import answer, page
from .links import crumbs_of_run


@require_safe
def run_trials(request: HttpRequest, ulid: str) -> HttpResponse:
    run = run_for(request, ulid)
    filters = asked.of_trials(request)
    offered = {"states": (*STATES, "withdrawn"), "outcomes": OUTCOMES, "faults": tuple(FAULTS), "flags": tuple(FLAGS)}
    return page(
        request,
        str(run.revision),
        "trials.html",
        lambda: {"page": found(trials_page(run, filters)), "crumbs": crumbs_of_run(run, ("Trials", None)), **offered},
    )


@require_safe
def trials_csv(request: HttpRequest, ulid: str) -> HttpResponse:
    run = run_for(request, ulid)
    filters = asked.of_trials(request)
    return answer(request, str(run.revision), lambda: csvs.trials(ulid, found(every_trial(run, filters))))
