"""The one address of comparisons: each kind of thing has a module of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from benchsite.readings.compare.grammar import CompareRefused, NoMeasure, Of, read
from benchsite.readings.compare.nearest import NoneSolved
from benchsite.readings.trialhead import Seen
from benchsite.readings.trials import first_trial
from runner.errors import RunnerError

from . import asked, compare_numbers, compare_trials, links
from .access import found, run_for
from .conditional import private
from .rendering import render

Ways = Sequence[tuple[str, str]]
PAGES: dict[str, Callable[[HttpRequest, tuple[Of, ...]], HttpResponseBase]] = {
    "trial": compare_trials.page,
    **dict.fromkeys(compare_numbers.KINDS, compare_numbers.page),
}
"""By kind; a page raises Http404 for what the reader may not see before it refuses anything in words."""
TABLES: dict[str, Callable[[HttpRequest, tuple[Of, ...], str, str], HttpResponse]] = {
    "trial": compare_trials.table,
    **dict.fromkeys(compare_numbers.KINDS, compare_numbers.table),
}


@require_safe
def compare(request: HttpRequest) -> HttpResponseBase:
    try:
        named = read(request.GET.getlist("of"))
        if not named:
            return _said(request, "", 200)
        return PAGES[named[0].kind](request, named)
    except NoneSolved as error:
        return _said(request, str(error), 200, _around(error.seen))
    except NoMeasure as error:
        return _said(request, str(error), 400, _by(request, error.offered), "No such measure")
    except CompareRefused as error:
        return _said(request, str(error), 400)


@require_safe
def table(request: HttpRequest, table: str, kind: str) -> HttpResponse:
    """The twins of a comparison's tables."""
    try:
        named = read(request.GET.getlist("of"))
        if not named:
            raise Http404("nothing is named")
        return TABLES[named[0].kind](request, named, table, kind)
    except RunnerError as error:
        raise Http404(str(error)) from error


@require_safe
def versus(request: HttpRequest, ulid: str) -> HttpResponseBase:
    """Lead from a number of a run to its first unsolved trial beside the nearest solved one."""
    run = run_for(request, ulid)
    filters = replace(asked.of_trials(request), outcome="unsolved")
    index = found(first_trial(run, filters))
    if index < 0:
        said = "None of these trials is unsolved, so there is nothing to set beside a solved one."
        these = links.trials(ulid, **{**asdict(filters), "outcome": ""})
        return _said(request, said, 200, [("Show these trials", these), (f"Run {run.label}", links.run(ulid))])
    return private(HttpResponseRedirect(links.compare_trials((ulid, index))))


def _around(seen: Seen) -> Ways:
    scenario, bench = seen.trial.scenario, seen.run.bench
    return [
        (f"Trial {seen.index}", links.address("trial", seen.ulid, seen.index)),
        (f"Trials of {scenario.name} in this run, of which any two can be compared",
         links.trials(seen.ulid, scenario=scenario.slug)),
        (f"{scenario.name} across runs", links.address("bench_scenario", bench.owner, bench.name, scenario.slug)),
    ]  # fmt: skip


def _by(request: HttpRequest, measures: Sequence[str]) -> Ways:
    """The same comparison by each of some measures."""
    asked = [(name, value) for name, values in request.GET.lists() for value in values if name != "measure"]
    return [(f"Compare by {key}", f"?{urlencode([*asked, ('measure', key)], safe=':/')}") for key in measures]


def _said(
    request: HttpRequest, refused: str, status: int, ways: Ways = (), title: str = "Nothing to set beside it"
) -> HttpResponse:
    """Say why there is no comparison, and where one may go on: `ways` have a text and an address."""
    given = {"refused": refused, "ways": ways, "title": title, "crumbs": [("Compare", None)]}
    return private(render(request, "compare/refused.html", given, status=status))
