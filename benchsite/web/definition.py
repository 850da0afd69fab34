"""The page of one definition of a bench."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from benchsite.readings.definition import definition_page

from .access import bench_for, found, runs_for
from .bench import revision
from .conditional import page
from .links import crumbs_of_bench


@require_safe
def bench_version(request: HttpRequest, owner: str, name: str, definition: str) -> HttpResponse:
    """What a run measured is seen by whoever may see a run of it."""
    bench = bench_for(request, owner, name)
    runs = runs_for(request).of_bench(bench).filter(version__definition=definition)
    version = found(runs.select_related("version").first()).version

    def build() -> dict[str, object]:
        crumbs = crumbs_of_bench(bench, (f"Version {version.number}", None))
        return {"page": definition_page(version, runs), "bench": bench, "crumbs": crumbs}

    return page(request, f"{version.pk}:{revision(bench, runs)}", "definition.html", build)
