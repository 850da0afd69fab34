"""What a success costs: everything spent over everything solved."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import fsum, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from .intervals import LEVEL
from .words import FEWEST_CLUSTERS


class Spent(NamedTuple):
    """A case in a cell: what its trials cost (None: unknown), and how many of them succeeded."""

    scenario: Hashable
    cost: float | None
    successes: int


class Ratio(NamedTuple):
    """`value` is None where nothing succeeded or no cost is known; an interval needs 5 scenarios that vary.

    `unbounded`: nothing rules out that successes are so rare that no upper bound can be given. `unknown` cases have no
    cost and are left out, their successes too.
    """

    value: float | None
    lo: float | None
    hi: float | None
    cost: float | None
    successes: int
    unknown: int
    unbounded: bool = False


def cost_per_success(cases: Iterable[Spent]) -> Ratio:
    """Give total cost / successes, with Fieller's interval of the ratio over scenarios."""
    given = list(cases)
    known = [one for one in given if one.cost is not None]
    unknown = len(given) - len(known)
    if not known:
        return Ratio(None, None, None, None, 0, unknown)
    several = len({one.scenario for one in known}) > 1
    scenarios: dict[Hashable, list[Spent]] = {}
    for place, one in enumerate(known):
        scenarios.setdefault(one.scenario if several else place, []).append(one)
    # sorted, and added up exactly: the order of cases must not change a digit
    clusters = sorted(_sums(mine) for mine in scenarios.values())
    cost, successes = fsum(one.cost or 0.0 for one in known), sum(one.successes for one in known)
    if not successes:
        return Ratio(None, None, None, cost, 0, unknown)
    low, high, unbounded = fieller(np.asarray(clusters, dtype=float))
    return Ratio(cost / successes, low, high, cost, successes, unknown, unbounded)


def _sums(cases: Iterable[Spent]) -> tuple[float, float]:
    mine = list(cases)
    return fsum(one.cost or 0.0 for one in mine), float(sum(one.successes for one in mine))


def fieller(pairs: np.ndarray) -> tuple[float | None, float | None, bool]:
    """Give (low, high, unbounded) of mean(first) / mean(second), over rows of independent pairs."""
    m = len(pairs)
    if m < FEWEST_CLUSTERS:
        return None, None, False
    x, y = pairs.mean(axis=0)
    cov = np.cov(pairs.T) / m
    if not (cov[0, 0] > 0 or cov[1, 1] > 0):
        return None, None, False
    square = float(stdtrit(m - 1, 0.5 + LEVEL / 2)) ** 2
    a, b, c = y * y - square * cov[1, 1], x * y - square * cov[0, 1], x * x - square * cov[0, 0]
    if a <= 0:
        return None, None, True
    reach = sqrt(max(0.0, b * b - a * c))
    return max(0.0, float((b - reach) / a)), float((b + reach) / a), False
