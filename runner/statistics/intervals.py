"""Confidence intervals at 95 %: Wilson's for a rate, Student's t over cluster means for a pooled figure."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from .words import FEWEST_CLUSTERS, FEWEST_TRIALS

LEVEL = 0.95

Floats = NDArray[np.float64]
_Z = float(ndtri(0.5 + LEVEL / 2))


def wilson(k: ArrayLike, n: ArrayLike) -> tuple[Floats, Floats]:
    """Give (low, high) for k successes in n tries, element by element; NaN where n is 0."""
    hits, tries = np.asarray(k, dtype=float), np.asarray(n, dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = hits / tries
        scale = 1 + _Z**2 / tries
        middle = (rate + _Z**2 / (2 * tries)) / scale
        reach = _Z * np.sqrt(rate * (1 - rate) / tries + _Z**2 / (4 * tries**2)) / scale
        # At the ends the formula gives exactly 0 and 1; rounding must not leave them at 1e-17.
        low = np.where(hits == 0, 0.0, np.maximum(middle - reach, 0.0))
        high = np.where(hits == tries, 1.0, np.minimum(middle + reach, 1.0))
    empty = tries <= 0
    return np.where(empty, np.nan, low), np.where(empty, np.nan, high)


@lru_cache(maxsize=4096)
def rate_interval(k: float, n: int) -> tuple[float, float] | None:
    """Give Wilson's interval of one rate, or None under three trials."""
    if n < FEWEST_TRIALS:
        return None
    low, high = wilson(k, n)
    return float(low), float(high)


def t_interval(means: ArrayLike, *, rate: bool = False) -> tuple[Floats, Floats]:
    """Give (low, high) of the mean of cluster means along the last axis; NaN marks a cluster without a figure.

    NaN where there are under five clusters. A rate stays within 0..1. Where all clusters are equal there is no spread
    to estimate from: a rate then gets Wilson's interval over that many tries, another figure none (never a width of 0).
    """
    values = np.sort(np.asarray(means, dtype=float), axis=-1)  # NaN last; sums don't depend on the clusters' order
    count = np.sum(~np.isnan(values), axis=-1)
    total = np.where(count > 0, np.nansum(values, axis=-1), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = total / count
        square = np.nansum((values - middle[..., None]) ** 2, axis=-1)
        reach = stdtrit(count - 1.0, 0.5 + LEVEL / 2) * np.sqrt(square / (count - 1.0) / count)
    low, high = middle - reach, middle + reach
    flat = (count > 0) & _flat(values, count)
    spare: tuple[Any, Any] = wilson(middle * count, count) if rate else (np.nan, np.nan)
    low, high = np.where(flat, spare[0], low), np.where(flat, spare[1], high)
    if rate:
        low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    few = count < FEWEST_CLUSTERS
    return np.where(few, np.nan, low), np.where(few, np.nan, high)


def _flat(values: Floats, count: NDArray[np.int64]) -> NDArray[np.bool_]:
    last = np.maximum(count - 1, 0)
    greatest = np.take_along_axis(values, last[..., None], axis=-1)[..., 0]
    return np.asarray(values[..., 0] == greatest)
