"""Directions: what `maximize`, `minimize` and `target(x)` make of a figure."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import ArrayLike, NDArray


def target_of(objective: str) -> float | None:
    found = re.fullmatch(r"target\((.+)\)", objective)
    return float(found[1]) if found else None


def badness(figures: ArrayLike, objective: str) -> NDArray[np.float64]:
    """Turn figures into what sorts best first, ties not parted by rounding."""
    values, target = np.asarray(figures, dtype=float), target_of(objective)
    if target is not None:
        values = np.abs(values - target)
    elif objective == "maximize":
        values = -values
    return np.round(values, 12)


def extremes(lo: float | None, hi: float | None, objective: str) -> tuple[float, float]:
    """Give the least and the greatest badness within an interval; without one anything may be true."""
    if lo is None or hi is None:
        return -np.inf, np.inf
    ends = sorted(badness([lo, hi], objective).tolist())
    target = target_of(objective)
    return (0.0 if target is not None and lo <= target <= hi else ends[0]), ends[1]
