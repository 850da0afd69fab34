"""A run's rows as columns: read once from a stream, some tens of bytes a trial, so that a large run is counted in
little memory. Rows are not kept."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from runner.faults import at_subjects_door
from runner.schema import MeasureSpec

from .clusters import Bools, Floats, Ints
from .rows import Key, Row

TEXTS = ("category", "text")
NAN = float("nan")
PART = 1000
"""Rows taken at once."""
Group = tuple[Key, Key, Key]
"""A cell, a scenario and a case of it."""


@dataclass(frozen=True)
class Columns:
    """Groups, cells, cases and scenarios are numbered as they first appear; `group` is each row's.

    `numbers` has each numeric measure's values, NaN where there is none; `texts` the number of each text among `words`,
    -1 where there is none; `invalid` marks measures whose every observation was invalid. None in `tokens`, NaN in
    `cost` and `seconds`: unknown.
    """

    groups: list[Group]
    cells: list[Key]
    group: Ints
    cell: Ints
    case: Ints
    cell_of: Ints
    scenario_of: Ints
    scenario_of_group: Ints
    states: list[str]
    state: Ints
    faults: list[str]
    fault: Ints
    outcomes: list[str]
    outcome: Ints
    cost: Floats
    seconds: Floats
    tokens: list[int | None]
    numbers: dict[str, Floats]
    words: list[str]
    texts: dict[str, Ints]
    invalid: dict[str, Bools]

    @property
    def scored(self) -> Bools:
        return self.in_states({"scored"})

    @property
    def blamed(self) -> Bools:
        """Mark the run errors that the fault table lays at the subject's door."""
        doors = np.asarray([at_subjects_door(fault) for fault in self.faults] + [False])
        return np.asarray(self.in_states({"run_error"}) & doors[self.fault])

    def in_states(self, names: Iterable[str]) -> Bools:
        wanted = frozenset(names)
        return np.asarray([name in wanted for name in self.states] + [False])[self.state]


class _Codes(dict[str | None, int]):
    """Numbers words as they are met; None is -1."""

    def __init__(self) -> None:
        super().__init__({None: -1})

    def __missing__(self, word: str | None) -> int:
        self[word] = code = len(self) - 1
        return code

    def named(self) -> list[str]:
        return [word for word in self if word is not None]


class _Builder:
    def __init__(self, measures: Sequence[MeasureSpec]) -> None:
        self.groups: dict[Group, int] = {}
        self.codes = array("q")
        self.states, self.faults, self.outcomes, self.words = _Codes(), _Codes(), _Codes(), _Codes()
        self.state, self.fault, self.outcome = array("q"), array("q"), array("q")
        self.cost, self.seconds = array("d"), array("d")
        self.tokens: list[int | None] = []
        self.numbers = {measure.key: array("d") for measure in measures if measure.type not in TEXTS}
        self.texts = {measure.key: array("q") for measure in measures if measure.type in TEXTS}
        self.invalid = {measure.key: array("b") for measure in measures}

    def add(self, rows: list[Row]) -> None:
        """Take some rows, column by column: this is the hot path of a recount."""
        groups, seen = self.groups, [row.values for row in rows]
        self.codes.extend([groups.setdefault((row.cell, row.scenario, row.case), len(groups)) for row in rows])
        self.state.extend([self.states[row.state] for row in rows])
        self.fault.extend([self.faults[row.fault] for row in rows])
        self.outcome.extend([self.outcomes[row.outcome] for row in rows])
        self.cost.extend([NAN if row.cost is None else row.cost for row in rows])
        self.seconds.extend([NAN if row.seconds is None else row.seconds for row in rows])
        self.tokens.extend([row.tokens for row in rows])
        for key, numbers in self.numbers.items():  # `stored` has judged the types of values
            numbers.extend([values.get(key, NAN) for values in seen])  # type: ignore[misc]
        for key, texts in self.texts.items():
            texts.extend([self.words[values.get(key)] for values in seen])  # type: ignore[index]
        for key, invalid in self.invalid.items():
            invalid.extend([key in row.invalid and key not in row.values for row in rows])

    def done(self) -> Columns:
        cells: dict[Key, int] = {}
        scenarios: dict[Key, int] = {}
        cases: dict[tuple[Key, Key], int] = {}
        cell_of = _ints(cells.setdefault(cell, len(cells)) for cell, _, _ in self.groups)
        scenario_of_group = _ints(scenarios.setdefault(scenario, len(scenarios)) for _, scenario, _ in self.groups)
        case_of = _ints(cases.setdefault((scenario, case), len(cases)) for _, scenario, case in self.groups)
        group = _ints(self.codes)
        return Columns(
            groups=list(self.groups),
            cells=list(cells),
            group=group,
            cell=cell_of[group],
            case=case_of[group],
            cell_of=cell_of,
            scenario_of=_ints(scenarios[scenario] for scenario, _ in cases),
            scenario_of_group=scenario_of_group,
            states=self.states.named(),
            state=_ints(self.state),
            faults=self.faults.named(),
            fault=_ints(self.fault),
            outcomes=self.outcomes.named(),
            outcome=_ints(self.outcome),
            cost=np.asarray(self.cost),
            seconds=np.asarray(self.seconds),
            tokens=self.tokens,
            numbers={key: np.asarray(column) for key, column in self.numbers.items()},
            words=self.words.named(),
            texts={key: _ints(column) for key, column in self.texts.items()},
            invalid={key: np.asarray(column, dtype=bool) for key, column in self.invalid.items()},
        )


def _ints(values: Iterable[int]) -> Ints:
    return np.asarray(values if isinstance(values, array) else list(values), dtype=np.int64)


def columns(rows: Iterable[Row] | Columns, measures: Sequence[MeasureSpec]) -> Columns:
    """Read rows into columns, with the values of these measures; what is columns already is passed on."""
    if isinstance(rows, Columns):
        return rows
    builder = _Builder(measures)
    stream = iter(rows)
    while part := list(islice(stream, PART)):
        builder.add(part)
    return builder.done()


def parts(codes: Ints, count: int) -> Iterator[Ints]:
    """Give, for every code from 0 up to `count`, the places that have it, in their order."""
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=count))
    yield from np.split(order, ends[:-1]) if count else ()
