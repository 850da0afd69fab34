"""How time, cost, tokens and every numeric measure are spread over the trials of each cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from runner.faults import STATES
from runner.schema import MeasureSpec

from .rows import Key, Row
from .spread import outliers, spread

SPENT = ("seconds", "cost", "tokens")
"""What a trial takes, whatever became of it; measures are spread over scored trials alone."""


class SpreadFigures(NamedTuple):
    """`far` counts values far above the rest of their scenario, all cells together: trials worth a look."""

    n: int
    mean: float
    sd: float | None
    min: float
    q1: float
    median: float
    q3: float
    max: float
    median_lo: float | None
    median_hi: float | None
    far: int


def spreads(rows: Iterable[Row], measures: Sequence[MeasureSpec]) -> dict[tuple[Key, str], SpreadFigures]:
    """Describe the values of every (cell, quantity) that has some."""
    standing = [row for row in rows if row.state in STATES]  # what a curator withdrew has a state of its own
    made: dict[tuple[Key, str], SpreadFigures] = {}
    for key in (*SPENT, *(measure.key for measure in measures if measure.type in ("int", "float"))):
        made.update(_of(standing, key, list(_values(standing, key))))
    return made


def value_of(row: Row, key: str) -> float | None:
    """Give what a trial adds to a spread, None where it has no such value."""
    if key in SPENT:
        found = getattr(row, key)
        return None if found is None else float(found)
    value = row.values.get(key) if row.state == "scored" else None
    return None if value is None or isinstance(value, str) else float(value)


def _values(rows: Sequence[Row], key: str) -> Iterator[float | None]:
    return (value_of(row, key) for row in rows)


def _of(rows: Sequence[Row], key: str, values: list[float | None]) -> Iterator[tuple[tuple[Key, str], SpreadFigures]]:
    far = far_above([row.scenario for row in rows], values)
    grouped: dict[Key, list[float]] = {}
    many: dict[Key, int] = {}
    for place, (row, value) in enumerate(zip(rows, values, strict=True)):
        if value is not None:
            grouped.setdefault(row.cell, []).append(value)
            many[row.cell] = many.get(row.cell, 0) + (place in far)
    for cell, known in grouped.items():
        found = spread(known)
        if found is not None:
            yield (cell, key), SpreadFigures(*found, far=many[cell])


def far_above(scenarios: Sequence[Key], values: Sequence[float | None]) -> set[int]:
    """Give the positions of values far above the other values of their scenario."""
    grouped: dict[Key, list[int]] = {}
    for place, scenario in enumerate(scenarios):
        if values[place] is not None:
            grouped.setdefault(scenario, []).append(place)
    return {places[found] for places in grouped.values() for found in outliers([values[place] for place in places])}
