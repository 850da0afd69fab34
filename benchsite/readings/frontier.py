"""What success costs: who is beaten by nobody on both at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from runner.statistics.clusters import mean, plain
from runner.statistics.intervals import t_interval
from runner.statistics.pareto import Point, pareto

from .counts import Slot
from .leaderboard import Board, Place
from .subjects import CellFacts

STATUS_WORDS = {
    "frontier": "nobody is better on both",
    "near": "beaten, but that may be chance",
    "dominated": "beaten on both",
    "unknown": "not placed: a figure is missing",
}


@dataclass(frozen=True)
class Spot:
    """A cell by what it takes (x) and what it gives (y). `by` names those who beat it."""

    cell: CellFacts
    x: float | None
    x_lo: float | None
    x_hi: float | None
    y: float | None
    y_lo: float | None
    y_hi: float | None
    n: int
    status: str
    by: tuple[str, ...]

    @property
    def told(self) -> str:
        return STATUS_WORDS[self.status]


@dataclass(frozen=True)
class Frontier:
    """`x` is one of cost, seconds and tokens a trial; spots in the order of the leaderboard."""

    x: str
    board: Board
    spots: tuple[Spot, ...]

    @property
    def known(self) -> bool:
        return any(spot.status != "unknown" for spot in self.spots)

    @property
    def best(self) -> list[Spot]:
        return [spot for spot in self.spots if spot.status == "frontier"]


def frontier(board: Board, places: Sequence[Place], slots: Iterable[Slot], x: str) -> Frontier | None:
    """None where the measure has no direction: nobody can be better on it."""
    if not board.measure.objective or not places:
        return None
    points = _points(places, _taken(slots, x))
    titles = {place.cell.id: place.cell.title for place in places}
    placed = pareto(points, y=board.measure.objective)
    spots = tuple(
        Spot(
            place.cell, point.x, point.x_lo, point.x_hi, point.y, point.y_lo, point.y_hi, place.n, found.status,
            tuple(titles[int(key)] for key in found.by),  # type: ignore[call-overload]  # keys are ids of cells
        )
        for place, point, found in zip(places, points, placed, strict=True)
    )  # fmt: skip
    return Frontier(x, board, spots)


def _taken(slots: Iterable[Slot], x: str) -> dict[int, list[float]]:
    """Give, by cell, what a trial of each scenario took on average, of those that tell it: the same clusters as the
    pooled figure has."""
    sums: dict[tuple[int, int], tuple[float, int]] = {}
    taken = attrgetter("cell", "scenario", x, f"{x}_n")
    for cell, scenario, spent, known in map(taken, slots):
        if spent is not None:
            before = sums.get((cell, scenario))
            sums[cell, scenario] = (before[0] + spent, before[1] + known) if before else (spent, known)
    means: dict[int, list[float]] = defaultdict(list)
    for (cell, _), (spent, known) in sums.items():
        means[cell].append(spent / known)
    return means


def _points(places: Sequence[Place], taken: dict[int, list[float]]) -> list[Point]:
    """All intervals at once: a call for each of dozens of cells takes ten times as long."""
    rows = [taken.get(place.cell.id, []) for place in places]
    table = np.full((len(rows), max(map(len, rows)) or 1), np.nan)
    for row, means in zip(table, rows, strict=True):
        row[: len(means)] = means
    low, high = t_interval(table)
    figures = zip(mean(table).tolist(), low.tolist(), high.tolist(), strict=True)
    return [
        Point(place.cell.id, plain(x), place.macro, plain(lo), plain(hi), place.lo, place.hi)
        for place, (x, lo, hi) in zip(places, figures, strict=True)
    ]
