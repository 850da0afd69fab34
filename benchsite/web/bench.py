"""A bench's page."""

from __future__ import annotations

from django.db.models import Count, Max, Sum
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from benchsite.benches.models import Bench
from benchsite.readings.bench import bench_page

from . import asked
from .access import bench_for, runs_for
from .conditional import page
from .links import crumbs_of_bench


@require_safe
def bench(request: HttpRequest, owner: str, name: str) -> HttpResponse:
    found = bench_for(request, owner, name)
    policy = asked.policy(request)
    runs = runs_for(request).of_bench(found)
    return page(
        request,
        revision(found, runs),
        "bench.html",
        lambda: {"page": bench_page(found, runs, policy), "crumbs": crumbs_of_bench(found)},
    )


def revision(bench: Bench, runs: object) -> str:
    """Changes whenever the bench, or a run the reader may see of it, does."""
    seen = runs.aggregate(many=Count("pk"), newest=Max("pk"), revisions=Sum("revision"))  # type: ignore[attr-defined]
    return f"{bench.revision}:{seen['many']}:{seen['newest']}:{seen['revisions']}"
