"""A bench's page."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Count, Max, Sum
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from benchsite.benches.models import Bench
from benchsite.readings.bench import bench_page
from benchsite.readings.compare.asked import Asked
from benchsite.readings.compare.grammar import MOST, Of
from benchsite.readings.subjects import CellFacts
from runner.digests import digest

from . import asked
from .access import bench_for, runs_for
from .conditional import page
from .links import crumbs_of_bench


@require_safe
def bench(request: HttpRequest, owner: str, name: str) -> HttpResponse:
    found = bench_for(request, owner, name)
    policy = asked.policy(request)
    runs = runs_for(request).of_bench(found)

    def build() -> dict[str, object]:
        made = bench_page(found, runs, policy)
        named = compare_subjects(found, [place.cell for place in made.board.places] if made.board else [])
        return {"page": made, "crumbs": crumbs_of_bench(found), "subjects": named}

    return page(request, revision(found, runs), "bench.html", build)


def compare_subjects(bench: Bench, cells: Sequence[CellFacts]) -> str:
    """The query that compares the first subjects of a leaderboard; empty for one alone."""
    named = [Of("subject", f"{bench}/{digest(dict(cell.axes))[:10]}") for cell in cells[:MOST]]
    return Asked().query(named) if len(named) > 1 else ""


def revision(bench: Bench, runs: object) -> str:
    """Changes whenever the bench, or a run the reader may see of it, does."""
    seen = runs.aggregate(many=Count("pk"), newest=Max("pk"), revisions=Sum("revision"))  # type: ignore[attr-defined]
    return f"{bench.revision}:{seen['many']}:{seen['newest']}:{seen['revisions']}"
