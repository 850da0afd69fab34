"""Counting policies: named and versioned, shown with every number, so that a figure always says what it counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runner.errors import RunnerError
from runner.schema import MeasureSpec


@dataclass(frozen=True)
class CountingPolicy:
    """Which trials of a measure count, and as what. A change of rule is a new version, never an edit."""

    name: str
    title: str
    sentence: str
    errors_fail: bool

    def worst(self, measure: MeasureSpec) -> float | None:
        """Give the value an error counts as; None where errors are left out."""
        return measure.worst_value if self.errors_fail else None

    def note(self, measure: MeasureSpec) -> str:
        """Say where this policy cannot differ from `scored/1`."""
        if self.errors_fail and measure.worst_value is None:
            return "no worst= declared, so errors are left out as under scored/1"
        return ""

    def counted(
        self, values: NDArray[np.float64], scored: NDArray[np.bool_], blamed: NDArray[np.bool_], measure: MeasureSpec
    ) -> NDArray[np.float64]:
        """Give each trial's counted value, NaN where it does not count. `blamed`: errors at the subject's door."""
        counted = np.where(scored, values, np.nan)
        worst = self.worst(measure)
        if worst is not None:
            counted[(scored & np.isnan(values)) | blamed] = worst
        return counted


SCORED = CountingPolicy(
    name="scored/1",
    title="Scored trials",
    sentence="Only scored trials count; a scored trial without the measure is missing. "
    "Errors, exclusions and trials not run are left out and shown beside the number.",
    errors_fail=False,
)
ERRORS_FAIL = CountingPolicy(
    name="errors-fail/1",
    title="Errors count as failures",
    sentence="Run errors at the subject's door (its timeout, its protocol, its budget) and scored trials without the "
    "measure count as the measure's worst value; other errors and exclusions are left out. "
    "Measures without a worst value stay over scored trials and say so.",
    errors_fail=True,
)
POLICIES: dict[str, CountingPolicy] = {entry.name: entry for entry in (SCORED, ERRORS_FAIL)}


def policy_named(name: str) -> CountingPolicy:
    try:
        return POLICIES[name]
    except KeyError:
        raise RunnerError(f"There is no counting policy {name!r}; there are {' and '.join(POLICIES)}.") from None
