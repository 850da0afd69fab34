"""One case across all sides: its figures, and how each differs from the baseline's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from benchsite.readings.leaderboard import MeasureFacts
from benchsite.readings.words import figure, natural
from runner.statistics import CaseFigure, Pair
from runner.statistics.pairing import WHY
from runner.statistics.telling import signed

from .pieces import Read

Mark = Literal["better", "worse", "higher", "lower", "same", "apart", "absent"]
MARKS: dict[str, tuple[Mark, ...]] = {
    "better": ("better", "higher"),
    "worse": ("worse", "lower"),
    "same": ("same",),
    "apart": ("apart",),
}
"""Which marks each choice of cases shows."""


@dataclass(frozen=True)
class Square:
    """One side's figure of a case. `mark` and `difference` compare it with the baseline; the baseline has neither."""

    figure: CaseFigure | None
    text: str
    mark: Mark | None = None
    difference: float | None = None
    change: str = ""
    why: str = ""


@dataclass(frozen=True)
class Line:
    slug: str
    name: str
    case: str
    squares: tuple[Square, ...]

    def shown(self, show: str, side: int) -> bool:
        """Whether a choice of cases has this one: for a side (from 1 on), else for any."""
        squares = self.squares[side - 1 : side] if side else self.squares[1:]
        if show == "differ":
            return any(square.difference for square in squares)
        return show == "all" or any(square.mark in MARKS[show] for square in squares)

    @property
    def largest(self) -> float:
        return max((abs(square.difference or 0.0) for square in self.squares), default=0.0)


def lines_of(found: Read, pairs: Sequence[Sequence[Pair]], measure: MeasureFacts, sort: str) -> tuple[Line, ...]:
    tables = [{(pair.scenario, pair.case): pair for pair in row} for row in pairs]
    keys = dict.fromkeys(key for table in tables for key in table)
    made = [
        Line(slug, found.names.get(slug, slug), case, _squares([table.get((slug, case)) for table in tables], measure))
        for slug, case in keys
    ]
    made.sort(key=lambda line: (natural(line.slug), natural(line.case)))
    if sort == "change":
        made.sort(key=lambda line: -line.largest)
    return tuple(made)


def _squares(pairs: Sequence[Pair | None], measure: MeasureFacts) -> tuple[Square, ...]:
    base = next((pair.base for pair in pairs if pair and pair.base), None)
    return (Square(base, _text(base, measure)), *(_square(pair, measure) for pair in pairs))


def _square(pair: Pair | None, measure: MeasureFacts) -> Square:
    if pair is None:  # another side has this case, neither the baseline nor this one does
        return Square(None, _text(None, measure), "absent", None, "", WHY["uncounted"])
    if not (pair.comparable and pair.base and pair.other):
        return Square(pair.other, _text(pair.other, measure), "apart", None, "", WHY[pair.why])
    one, two = pair.base.figure, pair.other.figure
    change = round(two - one, 12)
    text = signed(change, rate=measure.rate).removesuffix(" points") if change else ""
    return Square(pair.other, _text(pair.other, measure), _mark(measure, one, two), change, text)


def _mark(measure: MeasureFacts, one: float, two: float) -> Mark:
    if round(two - one, 12) == 0:
        return "same"
    if not measure.objective:
        return "higher" if two > one else "lower"
    gain = round(measure.badness(one) - measure.badness(two), 12)
    return "better" if gain > 0 else "worse" if gain < 0 else "same"


def _text(found: CaseFigure | None, measure: MeasureFacts) -> str:
    return figure(found.figure if found else None, measure.type)
