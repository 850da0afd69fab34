"""Runs, cells or subjects against a baseline: paired figures, the cases that differ, and what parts the sides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from benchsite.readings.leaderboard import MeasureFacts
from benchsite.readings.notices import Notice
from runner.statistics import (
    Counted,
    CountingPolicy,
    Needed,
    Pair,
    Paired,
    Part,
    Pooled,
    paired,
    policy_named,
    pooled,
    trials_needed,
)
from runner.statistics.telling import chance, signed, span, told, told_needed

from .asked import SHOWS, Asked
from .cautions import Difference, cautions, differences
from .flips import Flips
from .grammar import Of
from .lines import Line, lines_of
from .pieces import Read, read
from .sides import Side, sides_of

ROWS = 100


@dataclass(frozen=True)
class Three:
    """Partial data in three figures: over scored trials, with errors as the worst value, and how many counted."""

    scored: Pooled
    failing: Pooled
    n: int
    planned: int


@dataclass(frozen=True)
class Column:
    """One side. `made`, `needed` and the sentences compare it with the baseline; the baseline itself has none. cost and
    seconds are means of the trials that tell theirs."""

    side: Side
    three: Three
    cost: float | None
    seconds: float | None
    made: Paired | None = None
    sentence: str = ""
    needs: Needed | None = None
    needs_words: str = ""
    rate: bool = False

    @property
    def change(self) -> str:
        known = self.made and self.made.difference is not None
        return signed(self.made.difference, rate=self.rate).removesuffix(" points") if known else ""  # type: ignore

    @property
    def span(self) -> str:
        return span(self.made.lo, self.made.hi, rate=self.rate) if self.made else ""

    @property
    def chances(self) -> tuple[str, str]:
        """Write the p of the test over random signs, and that of the sign test."""
        return (chance(self.made.p_permutation), chance(self.made.p_sign)) if self.made else ("", "")


@dataclass(frozen=True)
class NumbersPage:
    asked: Asked
    kind: str
    policy: CountingPolicy
    measures: tuple[MeasureFacts, ...]
    measure: MeasureFacts | None
    columns: tuple[Column, ...]
    differences: tuple[Difference, ...]
    notices: tuple[Notice, ...]
    every: tuple[Line, ...]
    """All cases in the asked order; `lines` are those the page shows."""
    flips: Flips

    @property
    def scale(self) -> tuple[float, float]:
        """All differences on one scale around 0, intervals included."""
        made = [column.made for column in self.columns if column.made]
        known = [end for one in made for end in (one.difference, one.lo, one.hi) if end is not None]
        most = max((abs(end) for end in known), default=0.0) or 1.0
        return (-most, most)

    @property
    def of(self) -> tuple[Of, ...]:
        return tuple(column.side.of for column in self.columns)

    @property
    def bench(self) -> Any:
        return self.columns[0].side.run.bench

    @cached_property
    def chosen(self) -> tuple[Line, ...]:
        return tuple(line for line in self.every if line.shown(self.asked.show, self.asked.side))

    @property
    def lines(self) -> tuple[Line, ...]:
        return self.chosen[self.asked.first - 1 : self.asked.first - 1 + ROWS]

    @property
    def paired(self) -> bool:
        """Whether any two sides have a case in common."""
        return any(column.made and column.made.difference is not None for column in self.columns)

    @property
    def last(self) -> int:
        return self.asked.first - 1 + len(self.lines)

    @cached_property
    def has_cases(self) -> bool:
        """Whether any scenario has cases of its own."""
        return any(line.case for line in self.every)

    @property
    def next(self) -> int | None:
        after = self.asked.first + ROWS
        return after if after <= len(self.chosen) else None

    @property
    def words(self) -> dict[str, str]:
        """How each choice of cases is called."""
        aim = self.measure and self.measure.objective
        ups = {"better": "better", "worse": "worse"} if aim else {"better": "higher", "worse": "lower"}
        return {"differ": "that differ", **ups, "same": "the same", "apart": "not comparable", "all": "all"}

    @property
    def chosen_words(self) -> str:
        return self.words[self.asked.show]

    @cached_property
    def whole(self) -> tuple[bool, ...]:
        """Of each side whether one list of one run has its trials: a cell, or a run all of whose cells are compared."""
        shared = self.flips.subjects
        return tuple(
            column.side.of.kind == "cell"
            or (
                column.side.of.kind == "run"
                and (shared is None or all(member.subject in shared for member in column.side.members))
            )
            for column in self.columns
        )

    @cached_property
    def counts(self) -> dict[str, int]:
        return {show: sum(line.shown(show, self.asked.side) for line in self.every) for show in SHOWS}


def numbers(user: Any, of: Sequence[Of], asked: Asked) -> NumbersPage | None:
    """Compare what an address names; None where the reader does not see all of it."""
    sides = sides_of(user, of)
    return compare_sides(sides, asked) if sides else None


def compare_sides(sides: Sequence[Side], asked: Asked) -> NumbersPage:
    found = read(sides, asked.measure)
    measure, subjects = found.measure, shared(sides)
    pairs = found.pairs(asked.policy, subjects) if measure else []
    parts = differences(sides)
    columns = tuple(_column(sides, place, found, asked, pairs, subjects) for place in range(len(sides)))
    every = (
        found.once(("lines", asked.policy, asked.sort), lambda: lines_of(found, pairs, measure, asked.sort))
        if measure
        else ()
    )
    return NumbersPage(
        asked=asked,
        kind=sides[0].of.kind,
        policy=policy_named(asked.policy),
        measures=found.measures,
        measure=measure,
        columns=columns,
        differences=parts,
        notices=cautions(sides, parts, subjects is not None),
        every=every,
        flips=Flips(sides, found, subjects),
    )


def shared(sides: Sequence[Side]) -> frozenset[int] | None:
    """The subjects that all runs have; None where nothing is matched by subject."""
    if sides[0].of.kind != "run":
        return None
    return frozenset.intersection(*(frozenset(m.subject for m in side.members) for side in sides)) or None


def _column(
    sides: Sequence[Side],
    place: int,
    found: Read,
    asked: Asked,
    pairs: Sequence[Sequence[Pair]],
    shown: frozenset[int] | None,
) -> Column:
    three, cost, seconds = found.once(("own", place), lambda: _own(found, place, shown))
    if not place or found.measure is None:
        return Column(sides[place], three, cost, seconds)
    measure, mine = found.measure, pairs[place - 1]
    made = found.once(("made", place, asked.policy), lambda: paired(mine, measure.objective))

    def needed() -> Needed:
        return trials_needed(mine, measure.objective, _wanted(measure, made, asked.want))

    needs = needed() if asked.want else found.once(("needs", place, asked.policy), needed)
    return Column(
        sides[place], three, cost, seconds, made,
        told(sides[0].title, sides[place].title, measure.name, made,
             rate=measure.rate, unit=measure.unit, objective=measure.objective),
        needs, told_needed(needs, made.unit, rate=measure.rate, of=measure.unit), measure.rate,
    )  # fmt: skip


def _own(found: Read, place: int, shown: frozenset[int] | None) -> tuple[Three, float | None, float | None]:
    """A side's own figures, and what its trials cost and took."""
    pieces = [piece for piece in found.pieces[place] if not shown or piece.subject in shown]
    if not pieces:
        return _three(found, place, [], 0, shown), None, None
    _, _, _, _, counted, planned, cost, seconds, cost_n, seconds_n, _ = zip(*pieces, strict=True)  # thousands
    return _three(found, place, counted, sum(planned), shown), _mean(cost, cost_n), _mean(seconds, seconds_n)


def _mean(spent: Sequence[float | None], of: Sequence[int]) -> float | None:
    """What a trial took, of those that tell it."""
    took = [one for one in spent if one is not None]
    if not took:
        return None
    many = of if len(took) == len(spent) else [one for one, known in zip(of, spent, strict=True) if known is not None]
    return sum(took) / sum(many)


def _wanted(measure: MeasureFacts, made: Paired, asked: float) -> float:
    """What the reader asks about (points of a rate); else 5 points, or a tenth of the baseline's figure."""
    if measure.rate:
        return (asked or 5) / 100
    return asked or abs(made.base or 0.0) / 10


def _three(found: Read, place: int, counted: Sequence[Counted], planned: int, shown: frozenset[int] | None) -> Three:
    measure = found.measure
    if measure is None:
        nothing = Pooled(None, None, None, 0, "scenarios")
        return Three(nothing, nothing, 0, planned)

    def own(policy: str) -> Pooled:
        return _pooled(found.parts(place, policy), shown, measure.rate)

    scored = own("scored/1")
    same = measure.worst is None or not any(one.lapsed or one.blamed for one in counted)
    return Three(scored, scored if same else own("errors-fail/1"), sum([one.n for one in counted]), planned)


def _pooled(parts: Sequence[Part], shown: frozenset[int] | None, rate: bool) -> Pooled:
    """Pool a side over its own cases: each case is the mean of its cells, of which there may be thousands."""
    cases: dict[tuple[str, str], list[float]] = defaultdict(list)
    for subject, slug, case, _, figure in parts:
        if figure is not None and (not shown or subject in shown):
            cases[slug, case].append(figure[0])
    means = [of[0] if len(of) == 1 else sum(of) / len(of) for of in cases.values()]
    return pooled([slug for slug, _ in cases], means, rate=rate)
