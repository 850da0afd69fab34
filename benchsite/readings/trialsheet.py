"""The list of trials, and what was observed of one, as plain values."""

from __future__ import annotations

from typing import Any

from benchsite.runs.models import Run

from .sheet import Sheet
from .trial import Observed, Overview
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


def observations(page: Overview) -> Sheet:
    """One row a declared measure, then what the scenario observed that nobody declared."""
    run, trial = page.head.run, page.head.trial
    head = ("measure", "type", "unit", "objective", "headline", "state", "value", "count", "reason")
    declared = (
        (one.measure.key, one.measure.type, one.measure.unit or None, one.measure.objective or None,
         one.measure.headline, one.state, plain(one), one.count, one.reason or None)
        for one in page.observed
    )  # fmt: skip
    unknown = (
        (one["measure"], None, None, None, False, "unknown", str(one["value"]), None, one["reason"])
        for one in page.unknown
    )
    about = {"run": run.ulid, "index": trial.index, "table": "observations", "state": page.head.shown_state}
    return Sheet(f"{run.ulid}-{trial.index}-observations", head, (*declared, *unknown), about)


def plain(one: Observed) -> Any:
    """The value unrounded; a missing one is None, an invalid one the text that was refused."""
    if one.state == "missing":
        return None
    if one.number is None:
        return one.value
    return {"bool": bool, "int": int}.get(one.measure.type, float)(one.number)
