"""A bench's page."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Count, Max, Q, Sum
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from benchsite.benches.models import Bench
from benchsite.readings.alive import PATIENCE
from benchsite.readings.bench import bench_page
from benchsite.readings.benchsheets import BENCH
from benchsite.readings.compare.asked import Asked
from benchsite.readings.compare.grammar import MOST, Of
from benchsite.readings.subjects import CellFacts
from benchsite.runs.models import Run
from runner.digests import digest

from . import asked, twins
from .access import bench_for, runs_for
from .conditional import page
from .links import crumbs_of_bench


@require_safe
def bench(request: HttpRequest, owner: str, name: str) -> HttpResponse:
    found = bench_for(request, owner, name)
    policy = asked.policy(request)
    runs = runs_for(request).of_bench(found)
    split = asked.choice(request.GET, "split", ("", "version"), "")
    every = asked.choice(request.GET, "panels", ("", "all"), "") == "all"

    def build() -> dict[str, object]:
        made = bench_page(found, runs, policy, split=split, every=every)
        named = compare_subjects(found, [place.cell for place in made.board.places] if made.board else [])
        query = f"?{request.GET.urlencode()}" if request.GET else ""
        return {"page": made, "crumbs": crumbs_of_bench(found), "subjects": named, "asked": query}

    return page(request, revision(found, runs), "bench.html", build)


@require_safe
def bench_table(request: HttpRequest, owner: str, name: str, table: str, kind: str) -> HttpResponse:
    found, sheet = bench_for(request, owner, name), twins.named(BENCH, table)
    policy, runs = asked.policy(request), runs_for(request).of_bench(found)
    split = asked.choice(request.GET, "split", ("", "version"), "")
    every = asked.choice(request.GET, "panels", ("", "all"), "") == "all"
    return twins.twin(
        request, revision(found, runs), lambda: sheet(bench_page(found, runs, policy, split=split, every=every)), kind
    )


def compare_subjects(bench: Bench, cells: Sequence[CellFacts]) -> str:
    """The query that compares the first subjects of a leaderboard; empty for one alone."""
    named = [Of("subject", f"{bench}/{digest(dict(cell.axes))[:10]}") for cell in cells[:MOST]]
    return Asked().query(named) if len(named) > 1 else ""


def revision(bench: Bench, runs: object) -> str:
    """Changes whenever the bench, or a run the reader may see of it, does; falling silent is a change too."""
    silent = Count("pk", filter=Q(state=Run.State.RUNNING, seen_at__lt=timezone.now() - PATIENCE))
    seen = runs.aggregate(  # type: ignore[attr-defined]
        many=Count("pk"), newest=Max("pk"), revisions=Sum("revision"), silent=silent
    )
    return ":".join(str(part) for part in (bench.revision, *seen.values()))
