"""Trials in order, one mark each: what a cell did on a scenario, try by try."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from .wholerows import whole_rows

MARKS = 60
READ = 6000
FIELDS = ("index", "cell_id", "scenario_id", "number", "state", "outcome", "withdrawn", "case__key", "reason")


@dataclass(frozen=True)
class Mark:
    index: int
    status: str
    number: int
    case: str
    reason: str


@dataclass(frozen=True)
class Strip:
    marks: tuple[Mark, ...]
    more: int


NO_STRIP = Strip((), 0)


def strips(trials: Any, by: str) -> dict[int, Strip]:
    """Give a strip per cell or per scenario (`by`), in the order of case and number; long ones say what is left."""
    marks: dict[int, list[Mark]] = defaultdict(list)
    more: dict[int, int] = defaultdict(int)
    place = FIELDS.index(by)
    for row in whole_rows(trials.order_by(by, "case", "number").values_list(*FIELDS)[:READ]):
        index, _, _, number, state, outcome, withdrawn, case, reason = row
        of = marks[row[place]]
        if len(of) == MARKS:
            more[row[place]] += 1
        else:
            of.append(Mark(index, "withdrawn" if withdrawn else outcome or state, number, case, reason))
    return {key: Strip(tuple(of), more[key]) for key, of in marks.items()}
