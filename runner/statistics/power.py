"""What a comparison of this size could have seen, and how large one must be to see a wanted difference."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import ceil, sqrt
from typing import NamedTuple

from scipy.special import nctdtr, stdtrit

from .intervals import LEVEL
from .words import FEWEST_CLUSTERS

POWER = 0.8
"""The chance with which a difference is to be seen."""
CERTAIN = 12.0
"""So many standard errors beyond the limit, a difference is seen for sure."""
MOST = 1_000_000
"""More clusters or trials than this is said to be out of reach."""


class Needed(NamedTuple):
    """What it takes to see a wanted difference. None: out of reach that way, or it cannot be told from these trials.

    `trials` of each case in each cell, with the same scenarios; or so many `clusters` with the same trials.
    """

    wanted: float
    trials: int | None
    clusters: int | None


def power_of(difference: float, sd: float, clusters: int) -> float:
    """Give the chance that a paired t test at 5 % sees a true difference, by the noncentral t distribution."""
    freedom, shift = clusters - 1, abs(difference) / sd * sqrt(clusters)
    limit = float(stdtrit(freedom, 0.5 + LEVEL / 2))
    if shift > limit + CERTAIN:
        return 1.0
    above = 1 - float(nctdtr(freedom, shift, limit))
    # The wrong side's tail matters only near 0; far from it scipy's noncentral t has no digits left.
    return above + (float(nctdtr(freedom, shift, -limit)) if shift < 3 else 0.0)


def detectable(sd: float, clusters: int) -> float | None:
    """Give the true difference that would be seen with 80 % chance; None under 5 clusters or without spread."""
    if clusters < FEWEST_CLUSTERS or not sd > 0:
        return None
    return sd * _standard(clusters)


def needed(wanted: float, sd: float, clusters: int, within: float | None, tries: float) -> Needed:
    """`sd`: of the cluster differences; `within`: the mean part of its square that comes from the trials alone.

    More trials shrink only that part: scenarios differ in how they respond, and only more scenarios average that out.
    """
    if not (wanted > 0 and sd > 0 and clusters > 1):
        return Needed(wanted, None, None)
    return Needed(wanted, _trials(wanted, sd, clusters, within, tries), _clusters(wanted, sd))


def _trials(wanted: float, sd: float, clusters: int, within: float | None, tries: float) -> int | None:
    if within is None or clusters < FEWEST_CLUSTERS:
        return None
    allowed = (wanted / _standard(clusters)) ** 2
    between = max(0.0, sd**2 - within)
    if allowed <= between:
        return None
    found = max(1, ceil(tries * min(within, sd**2) / (allowed - between) - 1e-9))
    return found if found <= MOST else None


def _clusters(wanted: float, sd: float) -> int | None:
    found = _least(lambda many: sd * _standard(many) <= wanted, FEWEST_CLUSTERS)
    return found if found <= MOST else None


@cache
def _standard(clusters: int) -> float:
    """Give the detectable difference in units of the differences' standard deviation."""
    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if power_of(middle, 1.0, clusters) >= POWER else (middle, high)
    return high


def _least(holds: Callable[[int], bool], first: int) -> int:
    """Give the least whole number from `first` on from which `holds` is true, at most MOST + 1."""
    high = first
    while high <= MOST and not holds(high):
        high *= 2
    low, high = max(first - 1, high // 2), min(high, MOST + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
