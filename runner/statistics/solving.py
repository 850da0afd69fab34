"""What several tries of a case say of a cell that solves or does not: pass@k, pass^k, what a success costs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from runner.faults import at_subjects_door
from runner.schema import MeasureSpec

from .cost import Ratio, Spent, cost_per_success
from .counted import SlotFigures, TallyFigures, spent
from .policy import CountingPolicy
from .repeats import RepeatFigures, Tried, curve
from .rows import Key


class Case(NamedTuple):
    """A case in a cell: n counted trials, c of them solved, and what all its trials cost (None: unknown of some)."""

    scenario: Key
    n: int
    c: int
    cost: float | None


class Solving(NamedTuple):
    repeats: tuple[RepeatFigures, ...]
    cost: Ratio


def solving(cases: Iterable[Case]) -> Solving:
    given = list(cases)
    tried = [Tried(case.scenario, case.n, case.c) for case in given]
    return Solving(tuple(curve(tried)), cost_per_success(Spent(one.scenario, one.cost, one.c) for one in given))


def case_of(scenario: Key, slot: SlotFigures, tally: TallyFigures, policy: CountingPolicy) -> Case:
    """Count a case's trials of a boolean that is to be true, as the policy does."""
    blamed = sum(many for code, many in slot.faults.items() if at_subjects_door(code))
    errors = tally.invalid + tally.missing + blamed if policy.errors_fail else 0
    return Case(scenario, tally.n + errors, int(tally.sum or 0), spent(slot.states, slot.cost, slot.cost_n))


def can_solve(measure: MeasureSpec | None) -> bool:
    return measure is not None and measure.type == "bool" and measure.objective == "maximize"


def plain(made: Solving) -> dict[str, Any]:
    return {"repeats": [figures._asdict() for figures in made.repeats], "cost_per_success": made.cost._asdict()}
