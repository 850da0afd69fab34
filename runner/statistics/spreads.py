"""How time, cost, tokens and every numeric measure are spread over the trials of each cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from runner.faults import STATES
from runner.schema import MeasureSpec

from .clusters import Bools, Floats, Ints
from .columns import Columns, columns, parts
from .rows import Key, Row
from .spread import Spread, far_limit, spread

SPENT = ("seconds", "cost", "tokens")
"""What a trial takes, whatever became of it; measures are spread over scored trials alone."""


def spreads(rows: Iterable[Row] | Columns, measures: Sequence[MeasureSpec]) -> dict[tuple[Key, str], Spread]:
    """Describe the values of every (cell, quantity) that has some."""
    table = columns(rows, measures)
    standing = table.in_states(STATES)  # what a curator withdrew has a state of its own
    scored = table.scored
    scenario = table.scenario_of[table.case]
    made: dict[tuple[Key, str], Spread] = {}
    for key, values in _quantities(table, measures):
        known = np.where(standing if key in SPENT else scored, values, np.nan)
        far = _far(scenario, known)
        for cell, own in zip(table.cells, parts(table.cell, len(table.cells)), strict=True):
            if (found := spread(known[own])) is not None:
                made[cell, key] = found._replace(far=int(np.sum(far[own])))
    return made


def _quantities(table: Columns, measures: Sequence[MeasureSpec]) -> Iterator[tuple[str, Floats]]:
    yield "seconds", table.seconds
    yield "cost", table.cost
    yield "tokens", np.asarray([np.nan if known is None else known for known in table.tokens], dtype=float)
    for measure in measures:
        if measure.type in ("int", "float"):
            yield measure.key, table.numbers[measure.key]


def _far(scenario: Ints, values: Floats) -> Bools:
    """Mark the values far above the other values of their scenario; NaN is no value."""
    far = np.zeros(len(values), dtype=bool)
    for places in parts(scenario, int(scenario.max()) + 1 if len(scenario) else 0):
        far[places[values[places] > far_limit(values[places])]] = True
    return far


def far_above(scenarios: Sequence[Key], values: Sequence[float]) -> set[int]:
    """Give the positions of values far above the other values of their scenario."""
    codes: dict[Key, int] = {}
    scenario = np.asarray([codes.setdefault(name, len(codes)) for name in scenarios], dtype=np.int64)
    return set(np.flatnonzero(_far(scenario, np.asarray(values, dtype=float))).tolist())
