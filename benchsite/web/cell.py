"""One cell of a run."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from benchsite.readings.cell import CellPage, cell_page
from benchsite.readings.counts import DEFAULT_POLICY
from benchsite.readings.partsheets import CELL

from . import asked, twins
from .access import found, run_for
from .conditional import page
from .links import crumbs_of_run


@require_safe
def run_cell(request: HttpRequest, ulid: str, key10: str) -> HttpResponse:
    run = run_for(request, ulid)
    policy = asked.policy(request)

    def build() -> dict[str, object]:
        made: CellPage = found(cell_page(run, key10, policy))
        trail = crumbs_of_run(run, ("Cells", reverse("run", args=[ulid]) + "#leaderboard"), (made.cell.title, None))
        return {"page": made, "crumbs": trail, "asked": f"?policy={policy}" if policy != DEFAULT_POLICY else ""}

    return page(request, str(run.revision), "cell.html", build)


@require_safe
def run_cell_table(request: HttpRequest, ulid: str, key10: str, table: str, kind: str) -> HttpResponse:
    run, sheet, policy = run_for(request, ulid), twins.named(CELL, table), asked.policy(request)
    return twins.twin(request, str(run.revision), lambda: sheet(found(cell_page(run, key10, policy))), kind)
