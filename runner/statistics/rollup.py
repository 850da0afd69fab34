"""A cell's standing: its pooled figure under a counting policy, with interval and rank range."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from runner.schema import MeasureSpec

from .clusters import Floats, Ints, mean, plain
from .clusters import clusters as clusters_of
from .columns import Columns, columns, parts
from .counted import SlotFigures, TallyFigures, exact_sum, slots, tallies
from .intervals import t_interval
from .objective import badness
from .policy import CountingPolicy, policy_named
from .rows import Key, Row, rows_of
from .words import FEWEST_CLUSTERS, words

__all__ = ["Row", "SlotFigures", "StandingFigures", "TallyFigures", "rows_of", "slots", "standings", "tallies"]

RESAMPLES = 2000


class StandingFigures(NamedTuple):
    """`macro` is the mean over scenarios of the mean over their cases of each case's figure; k/n is the micro one.

    `k` sums the n counted values (booleans: the number of true ones), `planned` counts the cell's trials. `clusters`
    are the scenarios with a figure, or the cases where the bench has one scenario. cost and seconds sum what is known.
    """

    cell: Key
    measure: str
    policy: str
    macro: float | None
    lo: float | None
    hi: float | None
    clusters: int
    rank_lo: int | None
    rank_hi: int | None
    k: float | None
    n: int
    planned: int
    cost: float | None
    seconds: float | None
    note: str


def standings(
    rows: Iterable[Row] | Columns, measures: Sequence[MeasureSpec], policy: str, seed: str
) -> list[StandingFigures]:
    """Pool every measure that has numbers for every cell; `seed` is the run's id. Categories have shares only."""
    table, rule = columns(rows, measures), policy_named(policy)
    if not table.groups:
        return []
    spent = _spent(table)
    made: list[StandingFigures] = []
    for measure in measures:
        if measure.type in ("bool", "int", "float"):
            made.extend(_measure(table, measure, rule, seed, spent))
    return made


def _spent(table: Columns) -> list[tuple[int, float | None, float | None]]:
    """Give (planned, cost, seconds) of every cell."""
    places = parts(table.cell, len(table.cells))
    return [(len(own), exact_sum(table.cost[own]), exact_sum(table.seconds[own])) for own in places]


def _measure(
    table: Columns,
    measure: MeasureSpec,
    rule: CountingPolicy,
    seed: str,
    spent: list[tuple[int, float | None, float | None]],
) -> list[StandingFigures]:
    counted = rule.counted(table.numbers[measure.key], table.scored, table.blamed, measure)
    figures, n, k = _by_case(table, counted, measure.aggregate)
    clusters, unit = clusters_of(figures, table.scenario_of)
    macro = mean(clusters)
    rate = measure.type == "bool"
    low, high = t_interval(clusters, rate=rate)
    ranks = rank_ranges(clusters, measure.objective, seed)
    made = []
    for code, cell in enumerate(table.cells):
        many = int(np.sum(~np.isnan(clusters[code])))
        planned, cost, seconds = spent[code]
        standing = StandingFigures(
            cell=cell,
            measure=measure.key,
            policy=rule.name,
            macro=plain(macro[code]),
            lo=plain(low[code]),
            hi=plain(high[code]),
            clusters=many,
            rank_lo=ranks[code][0] if ranks else None,
            rank_hi=ranks[code][1] if ranks else None,
            k=float(k[code]) if n[code] else None,
            n=int(n[code]),
            planned=planned,
            cost=cost,
            seconds=seconds,
            note=note_of(rule, measure, int(n[code]), many, unit),
        )
        made.append(standing)
    return made


def note_of(rule: CountingPolicy, measure: MeasureSpec, n: int, clusters: int, unit: str) -> str:
    """Say in words what a pooled figure rests on, where that is little."""
    return "; ".join(filter(None, (rule.note(measure), *words(n, clusters, unit=unit))))


def _by_case(table: Columns, counted: Floats, reducer: str) -> tuple[Floats, Ints, Floats]:
    """Reduce the trials of every (cell, case): figures as cells x cases, then n and the sum of values of every cell."""
    cells, cases = len(table.cells), len(table.scenario_of)
    there = ~np.isnan(counted)
    group, value = (table.cell * cases + table.case)[there], counted[there]
    order = np.lexsort((value, group))  # sorted within groups, so sums don't depend on the order of rows
    group, value = group[order], value[order]
    size = np.bincount(group, minlength=cells * cases)
    flat, sums = np.full(cells * cases, np.nan), np.zeros(cells * cases)
    if len(value):
        full = size > 0
        start = np.cumsum(size[full]) - size[full]
        sums[full] = np.add.reduceat(value, start)
        flat[full] = _reduce(value, start, size[full], sums[full], reducer)
    return flat.reshape(cells, cases), size.reshape(cells, cases).sum(axis=1), sums.reshape(cells, cases).sum(axis=1)


def _reduce(value: Floats, start: Ints, size: Ints, sums: Floats, reducer: str) -> Floats:
    """Reduce runs of sorted values."""
    end = start + size - 1
    if reducer == "median":
        return np.asarray((value[start + (size - 1) // 2] + value[start + size // 2]) / 2)
    if reducer == "sum":
        return sums
    if reducer in ("min", "max"):
        return np.asarray(value[start if reducer == "min" else end])
    return np.asarray(sums / size)


def rank_ranges(clusters: Floats, objective: str, seed: str) -> list[tuple[int | None, int | None]] | None:
    """Give each cell's 95 % range of ranks over resampled clusters, the same draw for all cells (they are paired).

    None for a measure without direction. A cell with under five clusters is not ranked.
    """
    if not objective:
        return None
    ranked = np.flatnonzero(np.sum(~np.isnan(clusters), axis=1) >= FEWEST_CLUSTERS)
    ranges: list[tuple[int | None, int | None]] = [(None, None)] * len(clusters)
    if not len(ranked):
        return ranges
    ranks = _ranks(badness(_resampled(clusters[ranked], seed), objective))
    lows = np.quantile(ranks, 0.025, axis=0, method="lower")
    highs = np.quantile(ranks, 0.975, axis=0, method="higher")
    for place, low, high in zip(ranked.tolist(), lows.tolist(), highs.tolist(), strict=True):
        ranges[place] = (int(low), int(high))
    return ranges


def _resampled(clusters: Floats, seed: str) -> Floats:
    """Draw 2,000 x cells macro means by bootstrap over clusters."""
    count = clusters.shape[1]
    random = np.random.default_rng(int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big"))
    weights = random.multinomial(count, np.full(count, 1 / count), size=RESAMPLES).astype(float)
    there = ~np.isnan(clusters)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = (weights @ np.where(there, clusters, 0.0).T) / (weights @ there.T.astype(float))
    # A draw without any of a cell's clusters says nothing about it: its own mean stands in.
    return np.where(np.isnan(drawn), mean(clusters), drawn)


def _ranks(badness: Floats) -> Ints:
    """Rank every row from 1; ties share the lowest rank."""
    order = np.argsort(badness, axis=1, kind="stable")
    ordered = np.take_along_axis(badness, order, axis=1)
    fresh = np.ones(ordered.shape, dtype=bool)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    place = np.maximum.accumulate(np.where(fresh, np.arange(1, ordered.shape[1] + 1), 0), axis=1)
    ranks = np.empty_like(place)
    np.put_along_axis(ranks, order, place, axis=1)
    return ranks


def shares(figures: Mapping[tuple[Key, Key, Key, str], TallyFigures], cell: Key, measure: str) -> dict[str, int]:
    """Add up a cell's counts of each category over its cases."""
    total: dict[str, int] = {}
    for (of, _, _, key), tally in figures.items():
        if of == cell and key == measure:
            for value, count in tally.shares.items():
                total[value] = total.get(value, 0) + count
    return dict(sorted(total.items()))
