"""The list of trials, and what was observed of one, as plain values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchsite.runs.models import Run

from .artifact import Listed
from .sheet import Sheet, path_text
from .trial import Observed, Overview
from .trialhead import Head
from .trials import Filters, every_trial
from .workspace import Browser

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
    return _of_trial(page.head, "observations", head, (*declared, *unknown), state=page.head.shown_state)


def artifacts(page: Listed) -> Sheet:
    """Those of every attempt, over all pages."""
    rows = page.head.trial.artifacts.order_by("attempt", "id")
    head = ("name", "kind", "media_type", "size", "digest", "attempt")
    lines = ((path_text(one.name), one.kind, one.media or None, one.size, one.digest, one.attempt) for one in rows)
    return _of_trial(page.head, "artifacts", head, lines)


def declared(page: Listed) -> Sheet:
    """What became of each path that the scenario hands to its verifier."""
    head = ("path", "exclude", "status", "kind", "files", "size", "attempt", "meaning")
    rows = (
        (path_text(one.path), one.exclude or None, one.status, one.kind or None,
         *((one.files, one.size) if one.status == "collected" else (None, None)), one.attempt, one.meaning)
        for one in page.carried
    )  # fmt: skip
    return _of_trial(page.head, "declared", head, rows)


def listing(page: Browser) -> Sheet:
    """One folder of a world, as it is listed; what the agent deleted is in it, marked so."""
    head = ("path", "type", "change", "changes_below", "size", "mode", "target", "sha256")
    rows = (
        (path_text(one.entry.path), one.entry.type, one.letter or None, one.changes,
         one.entry.size if one.entry.type == "file" else None, one.entry.mode if one.entry.type != "dir" else None,
         path_text(one.entry.target) if one.entry.target else None, one.entry.sha256 or None)
        for one in page.listing
    )  # fmt: skip
    folder = path_text(page.chosen.path) if page.chosen else ""
    about = {"at": page.at, "source": page.world.source, "folder": folder, "left_out": page.left_out}
    return _of_trial(page.head, "workspace", head, rows, **about)


def _of_trial(head: Head, table: str, columns: tuple[str, ...], rows: Iterable[Iterable[Any]], **about: Any) -> Sheet:
    name = f"{head.ulid}-{head.index}-{table}"
    return Sheet(name, columns, rows, {"run": head.ulid, "index": head.index, "table": table, **about})


def plain(one: Observed) -> Any:
    """The value unrounded; a missing one is None, an invalid one the text that was refused."""
    if one.state == "missing":
        return None
    if one.number is None:
        return one.value
    return {"bool": bool, "int": int}.get(one.measure.type, float)(one.number)
