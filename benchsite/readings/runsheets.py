"""The tables and charts of a run's page as plain values, by the name their twins have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .matrix import Row
from .run import RunPage
from .sheet import Axis, Sheet

FIGURES = ("n", "mean", "sd", "min", "q1", "median", "q3", "max", "median_lo", "median_hi", "far")


def _sheet(page: RunPage, name: str, columns: tuple[str, ...], rows: Iterator[tuple[Any, ...]]) -> Sheet:
    about = {
        "run": page.run.ulid,
        "bench": str(page.run.bench),
        "table": name,
        "policy": page.asked.policy,
        "measure": page.measure.key if page.measure else None,
        "query": page.asked.query(),
    }
    return Sheet(f"{page.run.ulid}-{name}", columns, rows, about)


def leaderboard(page: RunPage) -> Sheet:
    board, axis = page.board, Axis(page.cells)
    head = (*axis.columns, "measure", "policy", "figure", "lo", "hi", "k", "n", "planned")
    three = ("scored", "errors_fail", "observed")
    took = ("cost", "cost_n", "seconds", "seconds_n")
    more = ("rank_lo", "rank_hi", "errors", "excluded", *took, "agent_version", *three)
    rows = (
        (*axis.of(p.cell), board.measure.key, board.policy, p.macro, p.lo, p.hi, p.k, p.n, p.planned, p.rank_lo,
         p.rank_hi, p.counts.errors, p.counts.excluded, *p.counts.took, p.cell.agent_version,
         *((p.three["scored"], p.three["errors_fail"], p.three["n"]) if p.three else (None,) * 3))
        for p in page.places if board
    )  # fmt: skip
    return _sheet(page, "leaderboard", (*head, *more), rows)


def matrix(page: RunPage) -> Sheet:
    """One row a square, of the rows that the page shows; the cases of an opened scenario follow it."""
    head = ("scenario", "case", "cell", "figure", "k", "n", "planned", "errors", "excluded")
    return _sheet(page, "matrix", head, _squares(page))


def _squares(page: RunPage) -> Iterator[tuple[Any, ...]]:
    grid = page.matrix
    for row in grid.rows if grid else ():
        yield from _row(page, row)
        if grid and grid.open and grid.open.slug == row.slug:
            for case in grid.open.rows:
                yield from _row(page, case)


def _row(page: RunPage, row: Row) -> Iterator[tuple[Any, ...]]:
    for square, cell in zip(row.squares, page.cells, strict=True):
        if square:
            yield (row.slug, row.key, cell.name, square.value, square.k, square.n, square.planned, square.errors,
                   square.excluded)  # fmt: skip


def scenarios(page: RunPage) -> Sheet:
    """The panels of the small multiples."""
    axis = Axis(page.cells)
    head = ("scenario", *axis.columns, "figure", "lo", "hi", "k", "n", "best_here", "leader_behind", "surely")
    rows = (
        (panel.slug, *axis.of(line.cell), line.square.value, line.lo, line.hi, line.square.k, line.square.n,
         line.best, panel.lost, panel.sure)
        for panel in (page.breakdown.panels if page.breakdown else ())
        for line in panel.lines if line.square
    )  # fmt: skip
    return _sheet(page, "scenarios", head, rows)


def distributions(page: RunPage) -> Sheet:
    axis = Axis(page.cells)
    rows = (
        (panel.key, *axis.of(box.cell), *(getattr(box.figures, name) for name in FIGURES))
        for panel in page.distributions.panels
        for box in panel.boxes
    )
    return _sheet(page, "distributions", ("quantity", *axis.columns, *FIGURES), rows)


def categories(page: RunPage) -> Sheet:
    axis, kinds = Axis(page.cells), page.distributions.categories
    rows = (
        (*axis.of(cell), share.value, share.k, share.n, share.share, share.lo, share.hi)
        for cell, shares in (kinds.lines if kinds else ())
        for share in shares
    )
    return _sheet(page, "categories", (*axis.columns, "value", "k", "n", "share", "lo", "hi"), rows)


def frontier(page: RunPage) -> Sheet:
    axis = Axis(page.cells)
    head = (*axis.columns, "title", "x", "x_lo", "x_hi", "y", "y_lo", "y_hi", "n", "status", "beaten_by")
    rows = (
        (*axis.of(s.cell), s.cell.title, s.x, s.x_lo, s.x_hi, s.y, s.y_lo, s.y_hi, s.n, s.status, "; ".join(s.by))
        for s in (page.frontier.spots if page.frontier else ())
    )
    sheet = _sheet(page, "frontier", head, rows)
    names = {"x": page.asked.x, "y": page.measure.name if page.measure else ""}
    rate = bool(page.measure and page.measure.rate)
    return Sheet(sheet.name, head, sheet.rows, {**sheet.about, **names, "rate": rate})


def failures(page: RunPage) -> Sheet:
    rows = ((g.state, g.fault, g.door, g.pattern, g.many) for g in page.failures.groups)
    return _sheet(page, "failures", ("state", "fault", "door", "reason", "trials"), rows)


def flags(page: RunPage) -> Sheet:
    return _sheet(page, "flags", ("flag", "trials"), ((name, many) for name, many in page.flags.items()))


def coverage(page: RunPage) -> Sheet:
    states = tuple(state for state, _, _ in page.coverage.left_out)
    left = tuple(many for _, _, many in page.coverage.left_out)
    rows = (
        (row.measure.key, row.expected, row.observed, row.invalid, row.unobserved, *left) for row in page.coverage.rows
    )
    return _sheet(page, "coverage", ("measure", "expected", "observed", "invalid", "not_observed", *states), rows)


def progress(page: RunPage) -> Sheet:
    axis = Axis(page.cells)
    lines = page.progress.cells if page.progress else ()
    rows = ((*axis.of(c.cell), c.counts.planned, c.done, c.running, c.hung, c.queued) for c in lines)
    return _sheet(page, "progress", (*axis.columns, "planned", "done", "running", "hung", "queued"), rows)


SHEETS: dict[str, Callable[[RunPage], Sheet]] = {
    made.__name__: made
    for made in (
        leaderboard, matrix, scenarios, distributions, categories, frontier, failures, flags, coverage, progress
    )
}  # fmt: skip
