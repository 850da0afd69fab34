"""Independent units: trials of one scenario resemble each other, so figures are pooled over scenarios, not trials."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def clusters(figures: Floats, scenario_of: Ints) -> tuple[Floats, str]:
    """Give cells x clusters: scenarios (the mean of their cases), or the cases where there is one scenario."""
    scenarios = int(scenario_of.max()) + 1 if len(scenario_of) else 0
    if scenarios == 1:
        return figures, "cases" if figures.shape[1] > 1 else "scenarios"
    if figures.shape[1] == scenarios:
        return figures, "scenarios"
    means = [mean(figures[:, scenario_of == scenario]) for scenario in range(scenarios)]
    return np.column_stack(means), "scenarios"


def cluster_means(scenarios: Sequence[Hashable], figures: ArrayLike) -> tuple[Floats, str]:
    """Give one row's clusters, from the figure of each case (NaN: it has none) and the scenario it belongs to."""
    places: dict[Hashable, int] = {}
    scenario_of = np.asarray([places.setdefault(name, len(places)) for name in scenarios], dtype=np.int64)
    made, unit = clusters(np.asarray(figures, dtype=float).reshape(1, -1), scenario_of)
    return made[0], unit


def mean(figures: Floats) -> Floats:
    """Average along the last axis over what is there; sorted first, so the order of clusters cannot matter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a row of nothing but NaN is NaN, and meant to be
        return np.asarray(np.nanmean(np.sort(figures, axis=-1), axis=-1))


def plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
