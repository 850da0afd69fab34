"""The tables of a bench's pages as plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .bench import BenchPage
from .history import HistoryPage
from .sheet import Axis, Sheet


def _about(page: BenchPage | HistoryPage, name: str) -> dict[str, Any]:
    return {"bench": str(page.bench), "table": name}


def _file(page: BenchPage | HistoryPage, name: str) -> str:
    return f"{page.bench.owner}-{page.bench.name}-{name}"


def who(page: HistoryPage) -> Sheet:
    """One row a subject and run, of the runs in which the scenario reads as it does now."""
    axis = Axis(one.cell for one in page.passers)
    head = (*axis.columns, "run", "label", "k", "n", "planned", "cost", "cost_n", "seconds", "seconds_n")
    rows = (
        (*axis.of(one.cell), run.ulid, run.label, counts.k, counts.n(), counts.planned, *counts.took)
        for one in page.passers
        for run, _, counts in filter(None, one.by_run)
    )
    return Sheet(_file(page, f"{page.slug}-who"), head, rows, {**_about(page, "who"), "scenario": page.slug})


def history(page: HistoryPage) -> Sheet:
    took = ("cost", "cost_n", "seconds", "seconds_n")
    head = ("run", "label", "started_at", "k", "n", "planned", "lo", "hi", *took, "fingerprint", "changed")
    return Sheet(
        _file(page, f"{page.slug}-history"), head, _history(page), {**_about(page, "history"), "scenario": page.slug}
    )


def _history(page: HistoryPage) -> Iterator[tuple[Any, ...]]:
    for past in page.past:
        lo, hi = past.interval or (None, None)
        counts, at = past.counts, past.run.started_at
        yield (
            past.run.ulid, past.run.label, at.isoformat() if at else None, counts.k, counts.n(), counts.planned,
            lo, hi, *counts.took, past.fingerprint, past.changed,
        )  # fmt: skip


def pairs(page: HistoryPage) -> Sheet:
    """One row a cell and case that was tried more than once, of those the page shows."""
    found = page.pairs.rows if page.pairs else ()
    axis = Axis(pair.cell for pair in found)
    rows = (
        (pair.run.ulid, pair.run.label, *axis.of(pair.cell), pair.case, pair.counts.k, pair.counts.n())
        for pair in found
    )
    about = {**_about(page, "pairs"), "scenario": page.slug, "total": page.pairs.total if page.pairs else 0}
    return Sheet(_file(page, f"{page.slug}-pairs"), ("run", "label", *axis.columns, "case", "k", "n"), rows, about)


def leaderboard(page: BenchPage) -> Sheet:
    places = page.board.places if page.board else ()
    axis = Axis(place.cell for place in places)
    named = (*axis.columns, "agent_version", "measure", "policy")
    head = (*named, "figure", "lo", "hi", "k", "n", "planned", "run", "label")
    rows = (
        (*axis.of(p.cell), p.cell.agent_version, page.board.measure.key, page.policy, p.macro, p.lo, p.hi, p.k, p.n,
         p.planned, p.run, p.label)
        for p in places if page.board
    )  # fmt: skip
    return Sheet(_file(page, "leaderboard"), head, rows, _about(page, "leaderboard"))


def trend(page: BenchPage) -> Sheet:
    lines = page.trend.lines if page.trend else ()
    axis = Axis(line.cell for line in lines)
    head = (*axis.columns, "run", "label", "definition", "figure", "lo", "hi", "k", "n", "agent_version")
    rows = (
        (*axis.of(line.cell), p.run.ulid, p.run.label, p.run.version.definition, p.macro, p.lo, p.hi, p.k, p.n,
         p.version)
        for line in lines
        for p in line.told
    )  # fmt: skip
    return Sheet(_file(page, "trend"), head, rows, _about(page, "trend"))


def scenarios(page: BenchPage) -> Sheet:
    rows = ((line.slug, line.counts.k, line.counts.n(), line.counts.planned) for line in page.scenarios)
    return Sheet(_file(page, "scenarios"), ("scenario", "k", "n", "planned"), rows, _about(page, "scenarios"))


def runs(page: BenchPage) -> Sheet:
    head = ("run", "label", "state", "verdict", "started_at", "planned", "scored", "excluded", "errors")
    rows = (
        (line.run.ulid, line.run.label, line.run.state, line.run.verdict,
         line.run.started_at.isoformat() if line.run.started_at else None, line.coverage.planned,
         line.coverage.scored, line.coverage.excluded, line.coverage.errors)
        for line in page.runs
    )  # fmt: skip
    return Sheet(_file(page, "runs"), head, rows, _about(page, "runs"))


BENCH: dict[str, Callable[[BenchPage], Sheet]] = {made.__name__: made for made in (leaderboard, trend, scenarios, runs)}
HISTORY: dict[str, Callable[[HistoryPage], Sheet]] = {made.__name__: made for made in (who, history, pairs)}
