"""Which subjects nobody beats on two things at once, and of which of the others that is sure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from .objective import badness, extremes
from .rows import Key

Status = Literal["frontier", "near", "dominated", "unknown"]


class Point(NamedTuple):
    """A subject by what it takes (x: cost, time) and what it gives (y), each with its interval where there is one."""

    key: Key
    x: float | None
    y: float | None
    x_lo: float | None = None
    x_hi: float | None = None
    y_lo: float | None = None
    y_hi: float | None = None


class Placed(NamedTuple):
    """`frontier`: no other is at least as good on both and better on one. `dominated`: another is, and so surely that
    the intervals of neither measure overlap. `near`: another is, but by the intervals that may be chance.

    `unknown`: a figure is missing. `by` names those who beat it, the surest first for `dominated`.
    """

    key: Key
    status: Status
    by: tuple[Key, ...] = ()


def pareto(points: Sequence[Point], x: str = "minimize", y: str = "maximize") -> list[Placed]:
    """Place points in the order given. `x` and `y` are objectives as a measure declares them."""
    known = [point for point in points if point.x is not None and point.y is not None]
    figures = np.asarray([(point.x, point.y) for point in known], dtype=float).reshape(-1, 2)
    bad = np.column_stack([badness(figures[:, 0], x), badness(figures[:, 1], y)])
    best = np.empty((len(known), 2))
    worst = np.empty((len(known), 2))
    for row, point in enumerate(known):
        best[row, 0], worst[row, 0] = extremes(point.x_lo, point.x_hi, x)
        best[row, 1], worst[row, 1] = extremes(point.y_lo, point.y_hi, y)
    beaten, surely = _beats(bad, bad), _beats(worst, best)
    placed = {id(point): _placed(row, known, beaten[row], surely[row]) for row, point in enumerate(known)}
    return [placed.get(id(point), Placed(point.key, "unknown")) for point in points]


def _beats(theirs: np.ndarray, mine: np.ndarray) -> list[list[int]]:
    """Give, for each row of `mine`, the rows of `theirs` that are no worse on both and better on one."""
    no_worse, better = ((how(theirs.T[:, None], mine.T[:, :, None])) for how in (np.less_equal, np.less))
    return [np.flatnonzero(row).tolist() for row in no_worse.all(axis=0) & better.any(axis=0)]


def _placed(row: int, known: list[Point], beaten: list[int], surely: list[int]) -> Placed:
    if not beaten:
        return Placed(known[row].key, "frontier")
    sure = [other for other in beaten if other in surely]
    rest = [other for other in beaten if other not in surely]
    return Placed(known[row].key, "dominated" if sure else "near", tuple(known[other].key for other in sure + rest))


def frontier(points: Sequence[Point], placed: Sequence[Placed]) -> list[Point]:
    """Give the points of the frontier in the order of x, for a line through them."""
    kept = [point for point, place in zip(points, placed, strict=True) if place.status == "frontier"]
    return sorted(kept, key=lambda point: (point.x or 0.0, point.y or 0.0))
