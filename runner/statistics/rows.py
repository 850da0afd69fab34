"""One row a planned trial: what statistics need of it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

from runner.replay import Attempt, RunResult, Trial, Value
from runner.schema import LARGEST_NUMBER, MeasureSpec

Key = Hashable
Stored = float | str


class Row(NamedTuple):
    """What statistics need of a planned trial. `values` are the valid ones: numbers (booleans 0 and 1) or text.

    `invalid` names the measures whose every observation was invalid. Pass rows in the order of the trial index: the
    bootstrap of rank ranges takes its clusters in order of appearance.
    """

    cell: Key
    scenario: Key
    case: Key
    number: int
    state: str
    fault: str | None
    outcome: str | None
    cost: float | None
    seconds: float | None
    tokens: int | None
    values: Mapping[str, Stored]
    invalid: frozenset[str]


def stored(measure: MeasureSpec, value: Value) -> Stored | None:
    """Give a value as statistics keep it; None where it cannot be one (an upload may claim anything)."""
    if measure.type in ("category", "text"):
        fits = isinstance(value, str) and (not measure.categories or value in measure.categories)
        return str(value) if fits else None
    if not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    if measure.type == "bool" and number not in (0, 1):
        return None
    return number if abs(number) <= LARGEST_NUMBER else None


def observed(measures: Mapping[str, MeasureSpec], attempt: Attempt) -> tuple[dict[str, Stored], frozenset[str]]:
    """Split an attempt's observations into valid values and the names of invalid ones."""
    values: dict[str, Stored] = {}
    invalid: set[str] = set()
    for key, seen in attempt.observations.items():
        if key not in measures:
            continue
        value = stored(measures[key], seen.value) if seen.valid else None
        if value is None:
            invalid.add(key)
        else:
            values[key] = value
    return values, frozenset(invalid)


def rows_of(result: RunResult) -> list[Row]:
    """Give a run's rows; cell, scenario and case are positions in its manifest."""
    measures = {measure.key: measure for measure in result.manifest.measures}
    return [_row(trial, measures) for trial in result.trials]


def _row(trial: Trial, measures: Mapping[str, MeasureSpec]) -> Row:
    planned, final, usage = trial.planned, trial.final, trial.usage
    values, invalid = observed(measures, final) if final else ({}, frozenset())
    scored = trial.state == "scored"
    known = [count for count in (usage.tokens_in, usage.tokens_out) if count is not None]
    return Row(
        cell=planned.cell,
        scenario=planned.scenario,
        case=planned.case,
        number=planned.number,
        state=trial.state,
        fault=final.fault if final and trial.state in ("run_error", "eval_error") else None,
        outcome=final.outcome if final and scored else None,
        cost=usage.cost,
        seconds=final.seconds if final else None,
        tokens=sum(known) if known else None,
        values=values,
        invalid=invalid,
    )


def known_sum(figures: Iterable[float | None]) -> float | None:
    """Sum what is known, exactly (so that order cannot matter); None when nothing is known: absent is not 0."""
    known = [figure for figure in figures if figure is not None]
    return math.fsum(known) if known else None
