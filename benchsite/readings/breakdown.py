"""The same comparison per scenario: a pooled figure hides who wins where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchsite.diffs.dangers import steady
from runner.statistics import rate_interval

from .leaderboard import Board, MeasureFacts
from .matrix import Matrix, Row, Square
from .subjects import CellFacts
from .words import count, listed

MARKS = 100
"""About so many lines are drawn at first, whatever the shape of the matrix."""
LINES = 8


class Line(NamedTuple):
    """A cell's square and its interval; a tuple, as a page may show a thousand."""

    cell: CellFacts
    square: Square | None
    lo: float | None
    hi: float | None
    best: bool


@dataclass(frozen=True)
class Panel:
    """`lost`: the leader of the whole run does not lead here; `sure`: by more than the intervals leave to chance."""

    slug: str
    name: str
    lines: tuple[Line, ...]
    words: str
    lost: bool = False
    sure: bool = False


@dataclass(frozen=True)
class Breakdown:
    """`left` and `hidden` say how many scenarios and cells the panels don't show."""

    panels: tuple[Panel, ...]
    sentence: str
    scale: tuple[float, float]
    left: int
    hidden: int
    losses: int


def breakdown(
    table: Board, order: Sequence[CellFacts], grid: Matrix, *, every: bool = False, fixed: bool = False
) -> Breakdown:
    """`order`: the cells as the leaderboard shows them. Panels in which the leader loses come first, unless `fixed`."""
    shown = order[:LINES]
    columns = {cell.id: position for position, cell in enumerate(grid.cells)}
    rivals = [(columns[p.cell.id], p.cell.title) for p in table.places[1:] if p.cell.id in columns]
    lost = {row.slug: loss for row in grid.rows if (loss := _loss(table, row, columns, rivals))}
    worst = sorted(lost.values(), key=lambda loss: (loss.sure, loss.gap), reverse=True)
    rows = grid.rows if fixed else sorted(grid.rows, key=lambda row: -lost[row.slug].gap if row.slug in lost else 1.0)
    rows = rows if every else rows[: max(4, MARKS // max(1, len(shown)))]
    panels = tuple(_panel(row, shown, columns, grid.measure, lost.get(row.slug)) for row in rows)
    sentence = wins_and_losses(table, grid.rows, worst)
    return Breakdown(panels, sentence, _scale(grid), grid.total_rows - len(rows), len(order) - len(shown), len(lost))


def _scale(grid: Matrix) -> tuple[float, float]:
    if grid.measure.type in ("bool", "category"):
        return (0.0, 1.0)
    values = [square.value for row in grid.rows for square in row.squares if square and square.value is not None]
    low, high = min([0.0, *values]), max(values, default=1.0)
    return (low, high if high > low else low + 1)


def _panel(
    row: Row, cells: Sequence[CellFacts], columns: Mapping[int, int], measure: MeasureFacts, loss: Loss | None
) -> Panel:
    squares = [row.squares[columns[cell.id]] if cell.id in columns else None for cell in cells]
    far = [measure.badness(square.value) if square else None for square in squares]
    top = min([one for one in far if one is not None], default=float("inf"))
    lines = []
    for cell, square, behind in zip(cells, squares, far, strict=True):
        wilson = rate_interval(square.k or 0, square.n) if square and measure.rate else None
        best = bool(square and square.value is not None and behind == top)
        lines.append(Line(cell, square, wilson[0] if wilson else None, wilson[1] if wilson else None, best))
    return Panel(row.slug, row.name, tuple(lines), _words(lines), loss is not None, bool(loss and loss.sure))


def _words(lines: Sequence[Line]) -> str:
    seen = [line for line in lines if line.square and line.square.value is not None]
    if not seen:
        return "nothing scored here"
    best = [line.cell.title for line in seen if line.best]
    if len(best) == len(seen) and len(seen) > 1:
        return "all the same here"
    return f"best: {listed(best, 2)}"


def wins_and_losses(table: Board, rows: Sequence[Row], losses: Sequence[Loss]) -> str:
    """Say where the leader does not lead: `A wins overall, but loses on merge to B (2/10 against 9/10)`.

    What the intervals of the two leave to chance is said apart, and is called no loss.
    """
    leader = table.best
    if leader is None or len(table.places) < 2 or table.level:
        return ""
    who = f"{leader.cell.title} {'wins' if table.ranked and not table.rivals else 'leads'} overall"
    sure, maybe = ([loss.words for loss in losses if loss.sure is kind] for kind in (True, False))
    if sure:
        rest = f"; it is behind on {count(len(maybe), 'more scenario')}, which may be chance" if maybe else ""
        return f"{who}, but loses on {listed(sure)}{rest}."
    if maybe:
        return f"{who}; it is behind on {listed(maybe)}, which may be chance."
    return f"{who} and is beaten on no scenario." if len(rows) > 1 else ""


class Loss(NamedTuple):
    """By how much the leader is behind; `sure` where Wilson's intervals of the two do not meet."""

    gap: float
    words: str
    sure: bool


def _loss(table: Board, row: Row, columns: Mapping[int, int], rivals: Sequence[tuple[int, str]]) -> Loss | None:
    """`rivals`: the others' places in a row, and their titles."""
    measure, leader = table.measure, table.best
    if leader is None or table.level or leader.cell.id not in columns:
        return None
    mine = row.squares[columns[leader.cell.id]]
    others = [
        (measure.badness(square.value), title, square)
        for place, title in rivals
        if (square := row.squares[place]) and square.value is not None
    ]
    if not mine or mine.value is None or not others:
        return None
    badness, title, theirs = min(others, key=lambda other: other[0])
    gap = measure.badness(mine.value) - badness
    if gap <= 0:
        return None
    return Loss(
        gap, f"{steady(row.name)} to {title} ({mine.text} against {theirs.text})", _surely(mine, theirs, measure)
    )


def _surely(mine: Square, theirs: Square, measure: MeasureFacts) -> bool:
    if not measure.rate:
        return False
    ours, other = rate_interval(mine.k or 0, mine.n), rate_interval(theirs.k or 0, theirs.n)
    return bool(ours and other and (ours[1] < other[0] or other[1] < ours[0]))
