"""Who did best, by how much, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from benchsite.diffs.dangers import steady
from runner.statistics import POLICIES, words
from runner.statistics.objective import target_of
from runner.statistics.summary import three_figures

from .counts import DEFAULT_POLICY, Counts
from .subjects import CellFacts
from .words import bounds, count, decimals, figure, fixed, listed

LOW = 0.9
"""Under this share of what was planned or expected, a figure rests on a choice nobody made."""


@dataclass(frozen=True)
class MeasureFacts:
    id: int
    key: str
    type: str
    label: str
    unit: str
    objective: str
    headline: bool
    worst: float | None
    description: str
    reducer: str

    @property
    def name(self) -> str:
        return steady(self.label or self.key)

    @property
    def rate(self) -> bool:
        return self.type == "bool"

    @property
    def pooled(self) -> bool:
        """Categories and texts have shares, no standing."""
        return self.type in ("bool", "int", "float")

    def badness(self, value: float | None) -> float:
        """Sort key, best first; what is missing comes last."""
        if value is None:
            return float("inf")
        if self._target is not None:
            return abs(value - self._target)
        return value if self.objective == "minimize" else -value

    @cached_property
    def _target(self) -> float | None:
        return target_of(self.objective)


@dataclass(frozen=True)
class Place:
    """One row of a leaderboard. `k` of `n` is the micro figure; `few` are the words that stand beside it."""

    cell: CellFacts
    macro: float | None
    lo: float | None
    hi: float | None
    clusters: int
    rank_lo: int | None
    rank_hi: int | None
    k: float | None
    n: int
    planned: int
    counts: Counts
    few: tuple[str, ...]
    run: str = ""
    label: int = 0
    three: Mapping[str, Any] | None = None
    """The figure over scored trials, with errors as the worst, and `n` of `planned`; None where not asked for."""

    @property
    def partial(self) -> bool:
        """Whether so few of its planned trials count that its figure may be a matter of which."""
        return self.n < LOW * self.planned

    @property
    def micro(self) -> float | None:
        return self.k / self.n if self.k is not None and self.n else None


@dataclass(frozen=True)
class Board:
    measure: MeasureFacts
    policy: str
    note: str
    places: tuple[Place, ...]
    scale: tuple[float, float]
    one_run: bool = True
    fixed: bool = False
    """It is watched while it changes: what a first error brings is there from the start, so that no row moves."""

    @property
    def best(self) -> Place | None:
        return self.places[0] if self.places and self.places[0].macro is not None else None

    @cached_property
    def level(self) -> tuple[Place, ...]:
        """Those next to the best that have exactly its figure, and are as complete."""
        best = self.best
        alike = (place for place in self.places[1:] if best and place.partial == best.partial)
        return tuple(place for place in alike if best and place.macro == best.macro)

    @cached_property
    def rivals(self) -> tuple[Place, ...]:
        """The others whose rank range reaches the first place."""
        return tuple(place for place in self.places[len(self.level) + 1 :] if place.rank_lo == 1)

    @cached_property
    def some_partial(self) -> bool:
        """Whether partial data stands below complete data."""
        return len({place.partial for place in self.places}) > 1

    def figure(self, place: Place) -> str:
        """The pooled figure, with the decimals its column shares."""
        return self._worded(place.macro)

    def _worded(self, value: float | None) -> str:
        return figure(value, "bool") if self.measure.rate else fixed(value, self._places)

    def bounds(self, place: Place) -> str:
        return bounds(place.lo, place.hi, rate=self.measure.rate, places=self._places)

    @cached_property
    def _places(self) -> int:
        return decimals(value for place in self.places for value in (place.macro, place.lo, place.hi))

    @property
    def counted(self) -> str:
        """The policy a link from n must name: one that says nothing about this measure counts as scored/1 does."""
        return DEFAULT_POLICY if self.note else self.policy

    @cached_property
    def partial(self) -> bool:
        """Whether there are errors, and a worst value to count them as: then one figure alone tells too little."""
        worst = self.measure.rate or self.measure.worst is not None
        return worst and (self.fixed or any(place.three and place.counts.errors for place in self.places))

    @cached_property
    def sides(self) -> tuple[str, str]:
        """What the figure of the board's own policy is over, and the other's."""
        both = ("over scored", "with errors as the worst")
        return (both[1], both[0]) if POLICIES[self.policy].errors_fail else both

    def other(self, place: Place) -> str:
        """The pooled figure under the policy that the board does not follow: beside its own, as two of three."""
        name = "scored" if POLICIES[self.policy].errors_fail else "errors_fail"
        value = place.three[name] if place.three else None
        return self._worded(value)

    @cached_property
    def ranked(self) -> bool:
        return self.one_run and any(place.rank_lo is not None for place in self.places)


def measures_of(rows: Sequence[Any]) -> list[MeasureFacts]:
    fields = ("id", "key", "type", "label", "unit", "objective", "headline", "worst", "description", "reducer")
    return [MeasureFacts(**{name: getattr(row, name) for name in fields}) for row in rows]


def headline_of(measures: Sequence[MeasureFacts]) -> MeasureFacts | None:
    """The declared headline, else the first boolean, else the first measure."""
    declared = (measure for measure in measures if measure.headline)
    return next(declared, next((m for m in measures if m.rate), measures[0] if measures else None))


def board(
    measure: MeasureFacts,
    policy: str,
    standings: Sequence[Any],
    cells: Mapping[int, CellFacts],
    counts: Mapping[int, Counts],
    *,
    one_run: bool = True,
    fixed: bool = False,
) -> Board:
    """Order standings of one measure best first; those of other policies only complete the three figures."""
    three = _threes(standings)
    places = [
        replace(_place(row, cells[row.cell_id], counts.get(row.cell_id, Counts())), three=three.get(row.cell_id))
        for row in standings
        if row.policy == policy
    ]
    order = ordering(measure, places)
    places.sort(key=lambda place: (*order(place), place.cell.ordinal))
    rule = POLICIES[policy]
    silent = rule.errors_fail and not measure.rate and measure.worst is None
    note = f"{measure.key} declares no worst value, so errors are left out as under scored/1" if silent else ""
    return Board(measure, policy, note, tuple(places), scale_of(measure, places), one_run, fixed)


def ordering(measure: MeasureFacts, rows: Sequence[Any]) -> Callable[[Any], tuple[bool, float]]:
    """Give the sort key, best first, of rows that have macro, n and planned.

    Beside complete rows a partial one is placed as if all that is missing had the worst value, or last where there is
    none: three solved trials of thirty are no lead.
    """
    complete = any(row.n >= LOW * row.planned for row in rows)

    def key(row: Any) -> tuple[bool, float]:
        if row.macro is not None and (not complete or row.n >= LOW * row.planned):
            return False, measure.badness(row.macro)
        worst = (1.0 if measure.objective == "minimize" else 0.0) if measure.rate else measure.worst
        if worst is None or row.macro is None:
            return True, measure.badness(row.macro)
        share = row.n / row.planned
        return False, measure.badness(share * row.macro + (1 - share) * worst)

    return key


def _threes(standings: Sequence[Any]) -> dict[int, dict[str, Any]]:
    """Give the three figures of each cell that has a standing under every policy."""
    found: dict[int, dict[str, Any]] = {}
    for row in standings:
        found.setdefault(row.cell_id, {})[row.policy] = row
    return {
        cell: three_figures(
            {name: row.macro for name, row in by.items()}, by[DEFAULT_POLICY].n, by[DEFAULT_POLICY].planned
        )
        for cell, by in found.items()
        if by.keys() == POLICIES.keys()
    }


def _place(row: Any, cell: CellFacts, counts: Counts) -> Place:
    names = ("macro", "lo", "hi", "clusters", "rank_lo", "rank_hi", "k", "n", "planned")
    few = tuple(word for word in words(row.n, row.clusters) if word != "no interval") if row.n else ()
    return Place(cell=cell, counts=counts, few=few, **{name: getattr(row, name) for name in names})


def scale_of(measure: MeasureFacts, places: Sequence[Place]) -> tuple[float, float]:
    """Rates share 0 to 1; other measures run from 0 (or the least) to the most, intervals included."""
    if measure.rate:
        return (0.0, 1.0)
    values = [value for place in places for value in (place.macro, place.lo, place.hi) if value is not None]
    low, high = min([0.0, *values]), max(values, default=1.0)
    return (low, high if high > low else low + 1.0)


@dataclass(frozen=True)
class Verdict:
    """A sentence in its parts: who, what is said of them, over how many trials of `place`, and how sure that is."""

    who: str
    told: str
    tried: str = ""
    rest: str = ""
    place: Place | None = None

    def __str__(self) -> str:
        return " ".join(filter(None, (self.who, self.told, f"{self.tried}." if self.tried else "", self.rest)))


def verdict(table: Board) -> Verdict:
    """Tell who leads, by what, and how sure that is."""
    best = table.best
    if best is None:
        return Verdict("", "No trial is scored.")
    head = " ".join(filter(None, (table.measure.name, table.figure(best), table.bounds(best))))
    tried = count(best.n, "counted trial") + (f" of {best.planned:,} planned" if best.partial else "")
    if len(table.places) == 1:
        return Verdict(best.cell.title, f"is the only cell: {head} over", tried, "", best)
    if table.level:
        level = [best.cell.title, *(place.cell.title for place in table.level)]
        return Verdict(listed(level, 4), f"share the lead: {head}.", rest=_sure(table))
    return Verdict(best.cell.title, f"leads: {head} over", tried, _sure(table), best)


def _sure(table: Board) -> str:
    if not table.ranked:
        return "Too few scenarios for an interval: the order may be chance."
    if table.rivals:
        return f"By rank range, {listed([place.cell.title for place in table.rivals])} may be as good."
    return "No other cell's rank range reaches first place." if not table.level else ""
