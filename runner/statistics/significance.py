"""Whether differences between paired units may be chance: exact tests that assume nothing of their distribution."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr

EXACT = 32
"""Up to so many units that differ, every assignment of signs is counted; above, DRAWS of them are drawn."""
DRAWS = 9_999
_SLACK = 1e-9
"""Sums that differ by rounding alone are equal."""
_EIGHT_SIGNS = np.unpackbits(np.arange(256, dtype=np.uint8)[None, :], axis=0) * 2.0 - 1.0
"""By byte: a sign for each of its bits, the first for the highest."""


def sign_test(wins: int, losses: int) -> float | None:
    """Give the two-sided p of so uneven a split if wins and losses were equally likely; None where there are none."""
    n = wins + losses
    return min(1.0, 2 * float(bdtr(min(wins, losses), n, 0.5))) if n else None


def permutation_test(differences: ArrayLike) -> float | None:
    """Give the two-sided p of so large a mean if each difference could as well have had the other sign.

    None where there is no difference at all or nothing to compare. Exact up to EXACT units, else from seeded draws.
    """
    values = np.sort(np.abs(_known(differences)))  # any order of units, and either baseline, gives the same p
    if not len(values) or values[-1] == 0:
        return None
    reached = abs(float(np.sum(_known(differences)))) - _SLACK * float(np.sum(values))
    values = values[values > 0]
    if len(values) <= EXACT:
        return _exact(values, reached)
    return float((np.sum(np.abs(_drawn(values)) >= reached) + 1) / (DRAWS + 1))


def _drawn(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum the values under each draw of signs: eight at a time, as the 256 sums of eight are made only once."""
    eights, drawn = np.pad(values, (0, -len(values) % 8)).reshape(-1, 8), np.zeros(DRAWS)
    for sums, signs in zip(eights @ _EIGHT_SIGNS, _signs(len(values)), strict=True):
        drawn += sums.take(signs)
    return drawn


@lru_cache(maxsize=8)
def _signs(units: int) -> NDArray[np.intp]:
    """Draw the signs once for all sides of a comparison: they are the same for so many units, whatever these are."""
    bits = np.random.default_rng(0).integers(0, 2, size=(DRAWS, units), dtype=np.int8)
    signs = np.packbits(bits, axis=1).T.astype(np.intp)
    signs.setflags(write=False)
    return signs


def _exact(values: NDArray[np.float64], reached: float) -> float:
    """Count the 2^m sums in two halves: of the sorted sums of one, those that with a sum of the other reach as far."""
    half = len(values) // 2
    one, other = np.sort(_sums(values[:half])), _sums(values[half:])
    above = len(one) - np.searchsorted(one, reached - other, side="left")
    below = np.searchsorted(one, -reached - other, side="right")
    both = len(one) * len(other)
    return min(1.0, float(np.sum(above) + np.sum(below)) / both)


def _sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _known(values: ArrayLike) -> NDArray[np.float64]:
    found = np.asarray(values, dtype=float)
    return np.asarray(found[~np.isnan(found)])
