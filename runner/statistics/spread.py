"""How values are spread: quartiles, the median's interval, histograms, outliers, and the shares of categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr

from .intervals import LEVEL, rate_interval

BINS = 40
"""A histogram has at most so many bins."""
FAR = 3.0
"""Tukey's far out: this many interquartile ranges beyond a quartile."""
FEWEST_VALUES = 8
"""Under this many nothing is called an outlier: quartiles of a handful move too much."""


class Spread(NamedTuple):
    """`sd` is None for one value, `median_lo` and `median_hi` under 6. `far`, where it was asked for, counts values far
    above the rest of their scenario, all cells together: trials worth a look."""

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
    far: int = 0

    @property
    def iqr(self) -> float:
        return self.q3 - self.q1


class Bin(NamedTuple):
    """Values from lo up to, not including, hi; the last bin includes it."""

    lo: float
    hi: float
    many: int


class Share(NamedTuple):
    """How many of n had this value, with Wilson's interval (None under three)."""

    value: str
    k: int
    n: int
    share: float
    lo: float | None
    hi: float | None


def spread(values: ArrayLike) -> Spread | None:
    """Describe the values that are there (NaN is not); None where there is none."""
    known = _known(values)
    if not len(known):
        return None
    least, q1, median, q3, most = np.quantile(known, (0, 0.25, 0.5, 0.75, 1)).tolist()
    sd = float(np.std(known, ddof=1)) if len(known) > 1 else None
    low, high = median_interval(known) or (None, None)
    return Spread(len(known), float(np.mean(known)), sd, least, q1, median, q3, most, low, high)


def median_interval(values: ArrayLike) -> tuple[float, float] | None:
    """Give the order statistics that hold the median in at least 95 % of samples, whatever the distribution.

    The r-th smallest and the r-th largest, r the greatest for which P(Binomial(n, 1/2) < r) <= 2.5 %; None under 6.
    """
    known = _known(values)
    n = len(known)
    below = bdtr(np.arange(n // 2 + 1), n, 0.5) if n else np.empty(0)
    r = int(np.sum(below <= (1 - LEVEL) / 2))
    return (float(known[r - 1]), float(known[n - r])) if r else None


def histogram(values: ArrayLike, most: int = BINS) -> list[Bin]:
    """Count values in bins of equal width by the rule of Freedman and Diaconis; few whole numbers get a bin each."""
    known = _known(values)
    if not len(known):
        return []
    counts, edges = np.histogram(known, bins=_edges(known, most))
    return [Bin(*row) for row in zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)]


def shared_bins(groups: Sequence[ArrayLike], most: int = BINS) -> list[list[Bin]]:
    """Give a histogram of each group in the same bins, so that they can stand over one another."""
    all_values = _known(np.concatenate([np.asarray(group, dtype=float) for group in groups] or [np.empty(0)]))
    if not len(all_values):
        return [[] for _ in groups]
    edges = _edges(all_values, most)
    made = []
    for group in groups:
        counts, _ = np.histogram(_known(group), bins=edges)
        made.append([Bin(*row) for row in zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)])
    return made


def _edges(known: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    least, greatest = float(known[0]), float(known[-1])
    if least == greatest:
        return np.asarray([least - 0.5, least + 0.5])
    if greatest - least < most and np.all(known == np.floor(known)):
        return np.arange(least - 0.5, greatest + 1)
    width = 2 * float(np.subtract(*np.quantile(known, (0.75, 0.25)))) / len(known) ** (1 / 3)
    wanted = most if width <= 0 else min(most, int(np.ceil(min((greatest - least) / width, most))))
    return np.linspace(least, greatest, max(wanted, 1) + 1)


def outliers(values: Sequence[float | None]) -> list[int]:
    """Give the positions of values far above the rest."""
    known = np.asarray([np.nan if value is None else value for value in values], dtype=float)
    return [int(place) for place in np.flatnonzero(known > far_limit(known))]


def far_limit(values: ArrayLike) -> float:
    """Say above what a value is far from the rest: 3 interquartile ranges over the upper quartile; infinity where
    there are too few values, or the middle half of them is one value."""
    known = _known(values)
    if len(known) < FEWEST_VALUES:
        return float("inf")
    q1, q3 = np.quantile(known, (0.25, 0.75)).tolist()
    return float(q3 + FAR * (q3 - q1)) if q3 > q1 else float("inf")


def category_shares(counts: Mapping[str, int]) -> list[Share]:
    """Give each category's share of all, the most frequent first."""
    n = sum(counts.values())
    made = []
    for value, k in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        low, high = rate_interval(k, n) or (None, None)
        made.append(Share(value, k, n, k / n if n else 0.0, low, high))
    return made


def _known(values: ArrayLike) -> NDArray[np.float64]:
    """Give the values that are there, sorted: sums then don't depend on their order."""
    found = np.asarray(values, dtype=float)
    return np.sort(found[np.isfinite(found)])
