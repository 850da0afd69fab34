"""One row a planned trial, and the two counts made of them: slots (what became of a case) and tallies (one measure)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from runner.replay import Attempt, RunResult, Trial, Value
from runner.schema import MeasureSpec

Key = Hashable
Stored = float | str
LARGEST = 1e100
"""Squares of larger values, added up, would leave the range of a float."""


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


class SlotFigures(NamedTuple):
    """`states` holds states and the outcomes of scored trials, no zeros. Sums of what is known; None: nothing is."""

    planned: int
    states: dict[str, int]
    faults: dict[str, int]
    cost: float | None
    seconds: float | None
    tokens: int | None


class TallyFigures(NamedTuple):
    """One measure over the scored trials of a case in a cell: n + invalid + missing = scored.

    Numbers are None for categories and texts, and where n is 0; `shares` counts the trials that had each category.
    """

    n: int
    invalid: int
    missing: int
    sum: float | None
    sumsq: float | None
    min: float | None
    q1: float | None
    median: float | None
    q3: float | None
    max: float | None
    shares: dict[str, int]


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
    return number if abs(number) <= LARGEST else None


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


def slots(rows: Iterable[Row]) -> dict[tuple[Key, Key, Key], SlotFigures]:
    """Count, per (cell, scenario, case), what became of its trials."""
    grouped: dict[tuple[Key, Key, Key], list[Row]] = {}
    for row in rows:
        grouped.setdefault((row.cell, row.scenario, row.case), []).append(row)
    return {key: _slot(group) for key, group in grouped.items()}


def _slot(rows: list[Row]) -> SlotFigures:
    states = Counter(row.state for row in rows)
    states.update(row.outcome for row in rows if row.state == "scored" and row.outcome)
    tokens = [row.tokens for row in rows if row.tokens is not None]
    return SlotFigures(
        planned=len(rows),
        states=dict(states),
        faults=dict(Counter(row.fault for row in rows if row.fault)),
        cost=known_sum(row.cost for row in rows),
        seconds=known_sum(row.seconds for row in rows),
        tokens=sum(tokens) if tokens else None,
    )


def known_sum(figures: Iterable[float | None]) -> float | None:
    """Sum what is known, exactly (so that order cannot matter); None when nothing is known: absent is not 0."""
    known = [figure for figure in figures if figure is not None]
    return math.fsum(known) if known else None


def tallies(rows: Iterable[Row], measures: Sequence[MeasureSpec]) -> dict[tuple[Key, Key, Key, str], TallyFigures]:
    """Describe every measure over the scored trials of every (cell, scenario, case) that was planned."""
    codes: dict[tuple[Key, Key, Key], int] = {}
    scored: list[tuple[int, Row]] = []
    for row in rows:
        code = codes.setdefault((row.cell, row.scenario, row.case), len(codes))
        if row.state == "scored":
            scored.append((code, row))
    counts = np.bincount([code for code, _ in scored], minlength=len(codes)) if scored else np.zeros(len(codes), int)
    made: dict[tuple[Key, Key, Key, str], TallyFigures] = {}
    for measure in measures:
        figures = _tally(measure, scored, counts)
        made.update({(*key, measure.key): figures[code] for key, code in codes.items()})
    return made


def _tally(measure: MeasureSpec, scored: list[tuple[int, Row]], counts: NDArray[np.int64]) -> list[TallyFigures]:
    key, groups = measure.key, len(counts)
    seen = [(code, row.values[key]) for code, row in scored if key in row.values]
    invalid = _count([code for code, row in scored if key in row.invalid and key not in row.values], groups)
    n = _count([code for code, _ in seen], groups)
    missing = counts - n - invalid
    counted = zip(n.tolist(), invalid.tolist(), missing.tolist(), strict=True)
    if measure.type in ("category", "text"):
        shares = _shares(seen if measure.type == "category" else [], groups)
        return [_counted(three, _NOTHING, share) for three, share in zip(counted, shares, strict=True)]
    numbers = describe([code for code, _ in seen], [float(value) for _, value in seen], n)
    return [_counted(three, row, {}) for three, row in zip(counted, numbers, strict=True)]


_NOTHING: list[float | None] = [None] * 7


def _counted(counted: tuple[int, int, int], row: list[float | None], shares: dict[str, int]) -> TallyFigures:
    total, squares, least, q1, median, q3, most = row
    return TallyFigures(*counted, total, squares, least, q1, median, q3, most, shares)


def _shares(seen: list[tuple[int, Stored]], groups: int) -> list[dict[str, int]]:
    shares: list[Counter[str]] = [Counter() for _ in range(groups)]
    for code, value in seen:
        shares[code][str(value)] += 1
    return [dict(sorted(share.items())) for share in shares]


def _count(codes: list[int], groups: int) -> NDArray[np.int64]:
    return np.bincount(np.asarray(codes, dtype=np.int64), minlength=groups)


def describe(codes: list[int], values: list[float], n: NDArray[np.int64]) -> list[list[float | None]]:
    """Give [sum, sumsq, min, q1, median, q3, max] of every group; quartiles are linear between neighbours."""
    group, value = np.asarray(codes, dtype=np.int64), np.asarray(values, dtype=float)
    value = value[np.lexsort((value, group))]  # sorted within groups, so sums don't depend on the order of rows
    full = n > 0
    size = n[full]
    start = np.cumsum(size) - size
    columns = [np.add.reduceat(part, start) if len(start) else part for part in (value, value * value)]
    columns += [_quantile(value, start, size, share) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    table: list[list[float | None]] = [[None] * 7 for _ in n]
    for code, row in zip(np.flatnonzero(full).tolist(), np.column_stack(columns).tolist(), strict=True):
        table[code] = row
    return table


def _quantile(
    value: NDArray[np.float64], start: NDArray[np.int64], size: NDArray[np.int64], share: float
) -> NDArray[np.float64]:
    place = (size - 1) * share
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, size - 1)
    low, high = value[start + below], value[start + above]
    return np.asarray(low + (high - low) * (place - below))
