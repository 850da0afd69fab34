"""One pooled figure with its interval, from the figures of cases."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .clusters import cluster_means, mean, plain
from .intervals import t_interval


class Pooled(NamedTuple):
    """`unit` says what the clusters are: scenarios, or cases where there is one scenario."""

    macro: float | None
    lo: float | None
    hi: float | None
    clusters: int
    unit: str


def pooled(scenarios: Sequence[Hashable], figures: ArrayLike, *, rate: bool = False) -> Pooled:
    """Pool the figures of cases (NaN: none), each of the scenario beside it: scenarios weigh the same."""
    if not len(scenarios):
        return Pooled(None, None, None, 0, "scenarios")
    made, unit = cluster_means(scenarios, figures)
    low, high = t_interval(made, rate=rate)
    many = int(np.sum(~np.isnan(made)))
    return Pooled(plain(float(mean(made))), plain(float(low)), plain(float(high)), many, unit)
