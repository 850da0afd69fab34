"""A scenario: in one run, and across a bench's runs."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from benchsite.benches.models import Bench
from benchsite.readings.benchsheets import HISTORY
from benchsite.readings.counts import DEFAULT_POLICY
from benchsite.readings.flaky import TRIED, Wanted
from benchsite.readings.history import history_page
from benchsite.readings.partsheets import SCENARIO
from benchsite.readings.scenario import scenario_page

from . import asked, twins
from .access import bench_for, found, run_for, runs_for
from .bench import revision
from .conditional import page
from .links import crumbs_of_bench, crumbs_of_run


@require_safe
def run_scenario(request: HttpRequest, ulid: str, slug: str) -> HttpResponse:
    run = run_for(request, ulid)
    policy, marked = asked.policy(request), request.GET.get("c", "")
    trail = crumbs_of_run(run, ("Scenarios", reverse("run", args=[ulid]) + "#matrix"), (slug, None))
    return page(
        request,
        str(run.revision),
        "scenario.html",
        lambda: {"page": found(scenario_page(run, slug, policy, marked)), "crumbs": trail, "asked": kept(policy)},
    )


def kept(policy: str) -> str:
    """The query that a page's twins carry along."""
    return f"?policy={policy}" if policy != DEFAULT_POLICY else ""


@require_safe
def run_scenario_table(request: HttpRequest, ulid: str, slug: str, table: str, kind: str) -> HttpResponse:
    run, sheet, policy = run_for(request, ulid), twins.named(SCENARIO, table), asked.policy(request)
    return twins.twin(request, str(run.revision), lambda: sheet(found(scenario_page(run, slug, policy))), kind)


@require_safe
def bench_scenario(request: HttpRequest, owner: str, name: str, slug: str) -> HttpResponse:
    bench = bench_for(request, owner, name)
    seen, before, wanted = _history(request, bench)
    told = {
        "query": f"?before={before}" if before else "",
        "pairs_query": f"?tried={wanted.tried}&subject={wanted.subject}&start={wanted.start}",
        "crumbs": crumbs_of_bench(bench, (slug, None)),
    }
    return page(
        request,
        revision(bench, seen.counted()),
        "history.html",
        lambda: {"page": found(history_page(bench, slug, seen, before, wanted)), **told},
    )


@require_safe
def bench_scenario_table(request: HttpRequest, owner: str, name: str, slug: str, table: str, kind: str) -> HttpResponse:
    bench, sheet = bench_for(request, owner, name), twins.named(HISTORY, table)
    seen, before, wanted = _history(request, bench)
    return twins.twin(
        request,
        revision(bench, seen.counted()),
        lambda: sheet(found(history_page(bench, slug, seen, before, wanted))),
        kind,
    )


def _history(request: HttpRequest, bench: Bench) -> tuple[Any, str, Wanted]:
    """The runs the reader sees, the run whose elders are shown, and which pairs of cell and case."""
    tried = asked.choice(request.GET, "tried", TRIED, "")
    wanted = Wanted(tried, request.GET.get("subject", ""), asked.whole(request, "start", 0))
    return runs_for(request).of_bench(bench), request.GET.get("before", ""), wanted
