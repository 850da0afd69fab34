"""The two counts made of rows: slots (what became of a case in a cell) and tallies (one measure over scored trials)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from runner.schema import MeasureSpec

from .clusters import Bools, Floats, Ints
from .columns import TEXTS, Columns, Group, columns, parts
from .rows import Key, Row, known_sum


class SlotFigures(NamedTuple):
    """`states` holds states and the outcomes of scored trials, no zeros. cost, seconds and tokens sum what is known
    (None: nothing is), of as many trials as `cost_n`, `seconds_n` and `tokens_n` say."""

    planned: int
    states: dict[str, int]
    faults: dict[str, int]
    cost: float | None
    seconds: float | None
    tokens: int | None
    cost_n: int
    seconds_n: int
    tokens_n: int


def spent(states: Mapping[str, int], cost: float | None, known: int) -> float | None:
    """Give what all trials of a slot cost; None where fewer tell theirs than were scored."""
    return cost if known >= states.get("scored", 0) else None


def together(slots: Iterable[SlotFigures]) -> dict[str, Any]:
    """Give what became of all trials of some slots, and what they took as far as it is known."""
    mine = list(slots)
    states, faults = Counter[str](), Counter[str]()
    for slot in mine:
        states.update(slot.states)
        faults.update(slot.faults)
    tokens = [slot.tokens for slot in mine if slot.tokens is not None]
    return {
        "planned": sum(slot.planned for slot in mine),
        "states": dict(states),
        "faults": dict(faults),
        "cost": known_sum(slot.cost for slot in mine),
        "seconds": known_sum(slot.seconds for slot in mine),
        "tokens": sum(tokens) if tokens else None,
        **{name: sum(getattr(slot, name) for slot in mine) for name in ("cost_n", "seconds_n", "tokens_n")},
    }


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


def slots(rows: Iterable[Row] | Columns) -> dict[Group, SlotFigures]:
    """Count, per (cell, scenario, case), what became of its trials."""
    table = columns(rows, ())
    planned = np.bincount(table.group, minlength=len(table.groups)).tolist()
    states = _words_by_group(table, table.states, table.state)
    faults = _words_by_group(table, table.faults, table.fault)
    costs, times = (_count(table, ~np.isnan(known)).tolist() for known in (table.cost, table.seconds))
    outcomes = _words_by_group(table, table.outcomes, np.where(table.scored, table.outcome, -1))
    made = {}
    for code, places in enumerate(parts(table.group, len(table.groups))):
        tokens = [known for place in places.tolist() if (known := table.tokens[place]) is not None]
        made[table.groups[code]] = SlotFigures(
            planned=planned[code],
            states={**states[code], **outcomes[code]},
            faults=faults[code],
            cost=exact_sum(table.cost[places]),
            seconds=exact_sum(table.seconds[places]),
            tokens=sum(tokens) if tokens else None,
            cost_n=costs[code],
            seconds_n=times[code],
            tokens_n=len(tokens),
        )
    return made


def _words_by_group(table: Columns, words: list[str], codes: Ints) -> list[dict[str, int]]:
    """Count, for every group, how many of its rows have each word; -1 is none."""
    found: list[dict[str, int]] = [{} for _ in table.groups]
    there = codes >= 0
    pairs, many = np.unique(table.group[there] * len(words) + codes[there], return_counts=True)
    for pair, count in zip(pairs.tolist(), many.tolist(), strict=True):
        group, word = divmod(pair, len(words))
        found[group][words[word]] = count
    return found


def exact_sum(values: Floats) -> float | None:
    """Sum what is known, exactly, so that order cannot matter; None when nothing is known."""
    known = values[~np.isnan(values)]
    return math.fsum(known.tolist()) if len(known) else None


def tallies(
    rows: Iterable[Row] | Columns, measures: Sequence[MeasureSpec]
) -> dict[tuple[Key, Key, Key, str], TallyFigures]:
    """Describe every measure over the scored trials of every (cell, scenario, case) that was planned."""
    table = columns(rows, measures)
    scored = table.scored
    made: dict[tuple[Key, Key, Key, str], TallyFigures] = {}
    for measure in measures:
        figures = _tally(table, measure, scored)
        made.update({(*group, measure.key): figures[code] for code, group in enumerate(table.groups)})
    return made


def _tally(table: Columns, measure: MeasureSpec, scored: Bools) -> list[TallyFigures]:
    key, group = measure.key, table.group
    is_text = measure.type in TEXTS
    seen = scored & (table.texts[key] >= 0 if is_text else ~np.isnan(table.numbers[key]))
    n, invalid, planned = (_count(table, of) for of in (seen, scored & table.invalid[key], scored))
    counted = zip(n.tolist(), invalid.tolist(), (planned - n - invalid).tolist(), strict=True)
    if not is_text:
        numbers = describe(group[seen], table.numbers[key][seen], n)
        return [_counted(three, row, {}) for three, row in zip(counted, numbers, strict=True)]
    codes = np.where(seen, table.texts[key], -1) if measure.type == "category" else np.full(len(group), -1)
    shares = [dict(sorted(share.items())) for share in _words_by_group(table, table.words, codes)]
    return [_counted(three, _NOTHING, share) for three, share in zip(counted, shares, strict=True)]


def _count(table: Columns, rows: Bools) -> NDArray[np.int64]:
    return np.bincount(table.group[rows], minlength=len(table.groups))


_NOTHING: list[float | None] = [None] * 7


def _counted(counted: tuple[int, int, int], row: list[float | None], shares: dict[str, int]) -> TallyFigures:
    total, squares, least, q1, median, q3, most = row
    return TallyFigures(*counted, total, squares, least, q1, median, q3, most, shares)


def describe(group: Ints, value: Floats, n: Ints) -> list[list[float | None]]:
    """Give [sum, sumsq, min, q1, median, q3, max] of every group; quartiles are linear between neighbours."""
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
