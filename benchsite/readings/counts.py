"""What became of planned trials, added up from slots: the numbers that every table and link is made of."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from django.db.models import Q, TextField
from django.db.models.functions import Cast

from runner.faults import FAULTS
from runner.statistics import POLICIES, rate_interval

from .wholerows import whole_rows

ERRORS = ("run_error", "eval_error")
UNDONE = ("queued", "running", "cancelled", "skipped", "not_run")
DEFAULT_POLICY = "scored/1"
SUBJECT_FAULTS = tuple(code for code, row in FAULTS.items() if row.door == "subject" and row.state == "run_error")


@dataclass
class Counts:
    """A sum over slots. `states` holds states and outcomes without zeros; cost and seconds are None while unknown."""

    planned: int = 0
    states: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    cost: float | None = None
    seconds: float | None = None
    tokens: int | None = None
    cost_n: int = 0
    """So many trials the sum of their cost is of."""
    seconds_n: int = 0
    tokens_n: int = 0

    def add(self, slot: Slot | Counts) -> None:
        self.planned += slot.planned
        for state, many in slot.states.items():  # by hand: pages add thousands, and Counter.update is slow on mappings
            self.states[state] += many
        for fault, many in slot.faults.items():
            self.faults[fault] += many
        self.cost_n += slot.cost_n
        self.seconds_n += slot.seconds_n
        self.tokens_n += slot.tokens_n
        if slot.cost is not None:
            self.cost = slot.cost + (self.cost or 0.0)
        if slot.seconds is not None:
            self.seconds = slot.seconds + (self.seconds or 0.0)
        if slot.tokens is not None:
            self.tokens = slot.tokens + (self.tokens or 0)

    @property
    def mean_cost(self) -> float | None:
        """Over the trials that tell theirs: an unknown cost is not nothing."""
        return None if self.cost is None else self.cost / self.cost_n

    @property
    def mean_seconds(self) -> float | None:
        return None if self.seconds is None else self.seconds / self.seconds_n

    @property
    def took(self) -> tuple[float | None, int, float | None, int]:
        """Cost and seconds, each with how many trials it is of."""
        return self.cost, self.cost_n, self.seconds, self.seconds_n

    @property
    def k(self) -> int:
        return self.states["solved"]

    @property
    def scored(self) -> int:
        return self.states["scored"]

    @property
    def errors(self) -> int:
        return sum(self.states[state] for state in ERRORS)

    @property
    def excluded(self) -> int:
        return self.states["excluded"]

    @property
    def undone(self) -> int:
        return sum(self.states[state] for state in UNDONE)

    def n(self, policy: str = DEFAULT_POLICY) -> int:
        """Trials that count for a boolean headline under a policy."""
        if POLICIES[policy].errors_fail:
            return self.scored + sum(self.faults[code] for code in SUBJECT_FAULTS)
        return self.states["solved"] + self.states["unsolved"]

    def rate(self, policy: str = DEFAULT_POLICY) -> float | None:
        n = self.n(policy)
        return self.k / n if n else None

    def interval(self, policy: str = DEFAULT_POLICY) -> tuple[float, float] | None:
        return rate_interval(self.k, self.n(policy))


class Slot(NamedTuple):
    cell: int
    scenario: int
    case: int
    planned: int
    states: dict[str, int]
    faults: dict[str, int]
    cost: float | None
    seconds: float | None
    tokens: int | None
    cost_n: int
    seconds_n: int
    tokens_n: int


SLOT_FIELDS = ("cell_id", "scenario_id", "case_id", "planned", "states", "faults", "cost", "seconds", "tokens",
               "cost_n", "seconds_n", "tokens_n")  # fmt: skip
TEXTS = {"of_states": Cast("states", TextField()), "of_faults": Cast("faults", TextField())}


def read_slots(query: Any, *more: str) -> list[tuple[Slot, tuple[Any, ...]]]:
    """Give slots, each with the values of `more` columns."""
    rows = whole_rows(slots_query(query, *more))
    return list(
        zip(
            slots_made([row[: len(SLOT_FIELDS)] for row in rows]),
            [row[len(SLOT_FIELDS) :] for row in rows],
            strict=True,
        )
    )


def slots_of(query: Any) -> list[Slot]:
    return slots_made(whole_rows(slots_query(query)))


def slots_of_several(query: Any) -> list[Slot]:
    """Of several runs, whose rows a database would sort with all that is in them; as they come they nearly are."""
    rows = whole_rows(_columns(query.order_by()))
    rows.sort(key=itemgetter(0, 2))
    return slots_made(rows)


def slots_query(query: Any, *more: str) -> Any:
    """What to ask for `slots_made`, in the order that their index has them: nothing is left to sort."""
    return _columns(query.order_by("run_id", "cell_id", "case_id"), *more)


def _columns(query: Any, *more: str) -> Any:
    names = ("of_states" if name == "states" else "of_faults" if name == "faults" else name for name in SLOT_FIELDS)
    return query.annotate(**TEXTS).values_list(*names, *more)


def slots_made(rows: Iterable[tuple[Any, ...]]) -> list[Slot]:
    """Thousands of slots have a few dozen different counts: each text of JSON is read once, and shared by all who have
    it. Each column is named, as pages make thousands and a row told by its ends takes three times as long; so does one
    made by its class's own function.
    """
    read, new = ReadOnce(), tuple.__new__
    return [
        new(
            Slot,
            (cell, scenario, case, planned, read[states], read[faults], cost, seconds, tokens, costs, times, tokened),
        )
        for cell, scenario, case, planned, states, faults, cost, seconds, tokens, costs, times, tokened in rows
    ]


class ReadOnce(dict[str, dict[str, Any]]):
    """What texts of JSON say: each is read at the first asking, and what it says is shared."""

    def __missing__(self, text: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(text)
        self[text] = found
        return found


def by_cell(slots: Iterable[Slot]) -> dict[int, Counts]:
    return summed(slots, "cell")


def summed(slots: Iterable[Slot], by: str) -> dict[int, Counts]:
    """Add up thousands of slots: few differ in their states, so equal ones are added at once."""
    groups: dict[int, list[Slot]] = defaultdict(list)
    key = attrgetter(by)
    for slot in slots:
        groups[key(slot)].append(slot)
    return defaultdict(Counts, {one: _sum(of) for one, of in groups.items()})


def _sum(slots: list[Slot]) -> Counts:
    _, _, _, planned, states, faults, *took, costs, times, tokens = zip(*slots, strict=True)
    made = Counts(planned=sum(planned), cost_n=sum(costs), seconds_n=sum(times), tokens_n=sum(tokens))
    kinds = list(zip(map(id, states), map(id, faults), strict=True))
    many = Counter(kinds)
    for kind, counts in dict(zip(kinds, zip(states, faults, strict=True), strict=True)).items():
        for summed, seen in zip((made.states, made.faults), counts, strict=True):
            for word, often in seen.items():
                summed[word] += often * many[kind]
    for name, column in zip(("cost", "seconds", "tokens"), took, strict=True):
        known = [one for one in column if one is not None]
        setattr(made, name, sum(known) if known else None)
    return made


def total(slots: Iterable[Slot | Counts]) -> Counts:
    counts = Counts()
    for slot in slots:
        counts.add(slot)
    return counts


def plus(a: Any, b: Any) -> Any:
    """Add what is known; None is unknown, never 0."""
    return b if a is None else a if b is None else a + b


def counted(policy: str) -> Q:
    """The condition that a trial counts for the headline under a policy: what a link from n must show."""
    if POLICIES[policy].errors_fail:
        return Q(state="scored") | Q(state="run_error", fault__in=SUBJECT_FAULTS)
    return Q(state="scored") & (Q(headline__isnull=False) | ~Q(outcome=""))
