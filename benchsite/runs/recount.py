"""Rollups of a run, computed in Python by the functions the runner itself uses: one path for both databases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db import transaction
from django.db.models import Max

from benchsite.benches.models import Measure
from runner.schema import MeasureSpec
from runner.statistics.columns import columns
from runner.statistics.policy import POLICIES
from runner.statistics.rollup import Row, slots, standings, tallies
from runner.statistics.spread import Spread as SpreadFigures
from runner.statistics.spreads import spreads

from .models import Observation, Run, Slot, Spread, Standing, Tally

WITHDRAWN = "withdrawn"
"""The state a curator's withdrawal gives a trial in the rollups; it counts nowhere, and is shown beside the rest."""
TEXTS = frozenset({"category", "text"})
Figures = dict[tuple[Any, ...], tuple[Any, ...]]
Seen = tuple[dict[str, float | str], frozenset[str]]
"""A trial's valid values, and the measures whose every observation was invalid."""
FACTS = ("id", "cell_id", "scenario_id", "case_id", "number", "state", "fault", "outcome",
         "cost", "seconds", "tokens", "withdrawn")  # fmt: skip
PART = 5000
"""Trials read at a time."""


def recount(run: Run) -> None:
    """Rebuild the run's rollups from its rows; call it in the transaction that changed them."""
    found = figures(run, rows_of_run(run))
    with transaction.atomic():
        for (model, names), rows in zip(ROLLUPS.items(), found, strict=True):
            model.objects.filter(run=run)._raw_delete(run._state.db or "default")
            _insert(model, names, run, rows)


SLOT = ("cell_id", "scenario_id", "case_id", "planned", "states", "faults", "cost", "seconds", "tokens",
        "cost_n", "seconds_n", "tokens_n")  # fmt: skip
TALLY = ("cell_id", "case_id", "measure_id", "n", "invalid", "missing",
         "sum", "sumsq", "min", "q1", "median", "q3", "max", "shares")  # fmt: skip
STANDING = ("cell_id", "policy", "measure_id", "macro", "lo", "hi", "clusters", "rank_lo", "rank_hi",
            "k", "n", "planned", "cost", "seconds")  # fmt: skip
SPREAD = ("cell_id", "key", *SpreadFigures._fields)
ROLLUPS: dict[Any, tuple[str, ...]] = {Slot: SLOT, Tally: TALLY, Standing: STANDING, Spread: SPREAD}
KEYS: dict[Any, int] = {Slot: 3, Tally: 3, Standing: 3, Spread: 2}
"""How many of the leading columns name a row."""


def specs(run: Run) -> list[MeasureSpec]:
    return [MeasureSpec.from_json(row) for row in run.version.schema]


def figures(run: Run, rows: Iterable[Row]) -> tuple[Figures, ...]:
    """Give the rollups in the order of ROLLUPS, as {key: other columns}; in `rows` cell, scenario, case are row ids."""
    measures = specs(run)
    table = columns(rows, measures)
    ids = dict(Measure.objects.filter(version=run.version_id).values_list("key", "id"))
    slot: Figures = {key: tuple(found) for key, found in slots(table).items()}
    tally: Figures = {
        (cell, case, ids[key]): tuple(found) for (cell, _, case, key), found in tallies(table, measures).items()
    }
    standing: Figures = {
        (s.cell, s.policy, ids[s.measure]): tuple(s[3:-1])
        for policy in POLICIES
        for s in standings(table, measures, policy, run.ulid)
    }
    spread: Figures = {key: tuple(found) for key, found in spreads(table, measures).items()}
    return slot, tally, standing, spread


def stored_figures(run: Run) -> tuple[Figures, ...]:
    """Give the rollups as they stand in the database, in the same shape."""
    return tuple(_stored(model, names, run) for model, names in ROLLUPS.items())


def _stored(model: Any, names: tuple[str, ...], run: Run) -> Figures:
    rows = model.objects.filter(run=run).values_list(*names)
    return {row[: KEYS[model]]: row[KEYS[model] :] for row in rows}


def _insert(model: Any, names: tuple[str, ...], run: Run, found: Figures) -> None:
    rows = (model(run=run, **dict(zip(names, (*key, *values), strict=True))) for key, values in found.items())
    model.objects.bulk_create(rows, batch_size=1000)


def rows_of_run(run: Run) -> Iterator[Row]:
    """Read the run's planned trials in the order of their index, with the values of the counted attempts.

    A part of the trials at a time, and the observations of that part: memory does not grow with the run.
    """
    names = {row.pk: (row.key, row.type in TEXTS) for row in Measure.objects.filter(version=run.version_id)}
    most = run.trials.aggregate(most=Max("index"))["most"]
    for start in range(0, 0 if most is None else most + 1, PART):
        part = run.trials.filter(index__gte=start, index__lt=start + PART)
        yield from _rows(list(part.order_by("index").values_list(*FACTS)), _values(part, names))


def _rows(trials: list[tuple[Any, ...]], values: dict[int, Seen]) -> Iterator[Row]:
    for id, cell, scenario, case, number, state, fault, outcome, cost, seconds, tokens, withdrawn in trials:
        held, invalid = values.get(id, _NOTHING)
        if withdrawn:
            state, fault, outcome = WITHDRAWN, None, None
        yield Row(
            cell, scenario, case, number, state, fault or None, outcome or None, cost, seconds, tokens, held, invalid
        )


def _values(trials: Any, names: dict[int, tuple[str, bool]]) -> dict[int, Seen]:
    """Read what was observed of some trials, named by their query: to list their keys takes longer than the answer."""
    rows = Observation.objects.filter(trial__in=trials.order_by().values("id")).order_by("trial_id")
    found = rows.values_list("trial_id", "measure_id", "number", "text", "valid")
    return {trial: _of_trial(rows, names) for trial, rows in groupby(found, key=itemgetter(0))}


def _of_trial(rows: Iterable[tuple[Any, ...]], names: dict[int, tuple[str, bool]]) -> Seen:
    held: dict[str, float | str] = {}
    invalid: list[str] = []
    for _, measure, number, text, valid in rows:
        key, is_text = names[measure]
        if not valid:
            invalid.append(key)
        else:
            held[key] = text if is_text else number
    return held, frozenset(invalid) if invalid else _NONE


_NONE: frozenset[str] = frozenset()
_NOTHING: Seen = ({}, _NONE)
