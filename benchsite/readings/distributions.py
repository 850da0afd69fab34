"""How what trials took, and what they measured, is spread in each cell: a mean says nothing of its tail."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchsite.runs.models import Run, Spread
from runner.statistics.spread import Share, category_shares

from .leaderboard import MeasureFacts
from .matrix import Values
from .question import SPENT
from .subjects import CellFacts
from .words import SPENT_WORDS

LINES = 12
"""So many cells are drawn in a panel until the reader asks for all."""


@dataclass(frozen=True)
class Box:
    """One cell's values; `figures` is the rollup's row."""

    cell: CellFacts
    figures: Any


@dataclass(frozen=True)
class Panel:
    """`kind` tells how its numbers are written; `far` counts the trials far above the rest of their scenario."""

    key: str
    name: str
    kind: str
    unit: str
    boxes: tuple[Box, ...]
    scale: tuple[float, float]
    far: int

    @property
    def filters(self) -> dict[str, str]:
        """What lists the trials that have such a value."""
        return {"known": self.key} if self.key in SPENT else {"measure": self.key, "seen": "observed"}


@dataclass(frozen=True)
class Categories:
    """A category's values in each cell, in one order for all of them."""

    measure: MeasureFacts
    values: tuple[str, ...]
    lines: tuple[tuple[CellFacts, tuple[Share, ...]], ...]


@dataclass(frozen=True)
class Distributions:
    panels: tuple[Panel, ...]
    categories: Categories | None
    far: Mapping[str, int]
    hidden: int


def spreads_of(run: Run) -> list[Any]:
    """Rows with the columns of `Spread`."""
    return list(Spread.objects.filter(run=run).values_list(named=True))


def distributions(
    rows: Iterable[Any],
    measures: Sequence[MeasureFacts],
    cells: Sequence[CellFacts],
    categories: Categories | None,
    *,
    every: bool = False,
) -> Distributions:
    """`cells`: those the reader wants, in the order they are shown."""
    by_key: dict[str, dict[int, Any]] = defaultdict(dict)
    far: dict[str, int] = defaultdict(int)
    for row in rows:
        by_key[row.key][row.cell_id] = row
        far[row.key] += row.far
    shown = cells if every else cells[:LINES]
    panels = tuple(_panels(by_key, far, measures, shown))
    return Distributions(panels, categories, far, len(cells) - len(shown))


def _panels(
    by_key: Mapping[str, dict[int, Any]],
    far: Mapping[str, int],
    measures: Sequence[MeasureFacts],
    cells: Sequence[CellFacts],
) -> Iterator[Panel]:
    named = [(key, SPENT_WORDS[key], key, "") for key in ("seconds", "cost", "tokens")]
    named += [(m.key, m.name, "number", m.unit) for m in measures if m.pooled and not m.rate]
    for key, name, kind, unit in named:
        held = by_key.get(key, {})
        boxes = tuple(Box(cell, held[cell.id]) for cell in cells if cell.id in held)
        if boxes:
            yield Panel(key, name, kind, unit, boxes, _scale(boxes), far[key])


def _scale(boxes: Sequence[Box]) -> tuple[float, float]:
    low = min(0.0, *(box.figures.min for box in boxes))
    high = max(box.figures.max for box in boxes)
    return (low, high if high > low else low + 1)


def categories_of(
    measure: MeasureFacts, values: Values | None, cells: Sequence[CellFacts], cases: Sequence[int]
) -> Categories | None:
    if measure.type != "category" or values is None:
        return None
    counted = [(cell, values.shares(cell.id, cases)) for cell in cells]
    all_values = sorted({value for _, shares in counted for value in shares})
    lines = tuple((cell, tuple(category_shares(shares))) for cell, shares in counted if shares)
    return Categories(measure, tuple(all_values), lines)
