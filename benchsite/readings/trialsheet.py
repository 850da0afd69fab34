"""The list of trials as plain values."""

from __future__ import annotations

from benchsite.runs.models import Run

from .sheet import Sheet
from .trials import Filters, every_trial

COLUMNS = ("index", "cell", "scenario", "case", "number", "state", "outcome", "fault", "withdrawn", "headline",
           "seconds", "cost", "tokens", "attempts", "flags", "reason")  # fmt: skip


def trials_sheet(run: Run, filters: Filters) -> Sheet | None:
    rows = every_trial(run, filters)
    if rows is None:
        return None
    lines = (
        (r.index, r.cell.name, r.slug, r.case, r.number, r.state, r.outcome, r.fault, r.withdrawn, r.value,
         r.seconds, r.cost, r.tokens, r.attempts, " ".join(r.flags), r.reason)
        for r in rows
    )  # fmt: skip
    return Sheet(f"{run.ulid}-trials", COLUMNS, lines, {"run": run.ulid, "table": "trials", "query": filters.query()})
