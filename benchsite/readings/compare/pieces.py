"""The figures of a side's cases, read from rollups: what pairs are made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from threading import Lock
from typing import Any, NamedTuple, TypeVar, cast

from django.db.models import F, Q, TextField, Value
from django.db.models.functions import Cast, NullIf

from benchsite.benches.models import Case, Measure, ScenarioVersion
from benchsite.readings.counts import DEFAULT_POLICY, SUBJECT_FAULTS, ReadOnce, plus
from benchsite.readings.leaderboard import MeasureFacts, headline_of, measures_of
from benchsite.readings.wholerows import whole_rows
from benchsite.readings.words import listed
from benchsite.runs.models import Observation, Slot, Tally
from runner.digests import digest
from runner.statistics import Counted, Pair, Part, case_figures, match, policy_named
from runner.statistics.pairing import MEASURED_BY

from .grammar import NoMeasure
from .sides import Side

Key = tuple[str, str]
"""Slug of a scenario, key of a case."""
NEW = tuple.__new__
"""Makes a named tuple in half the time that its own function takes; a comparison has tens of thousands."""
NOTHING = Counted(0, 0, 0, 0.0, 0.0, None, None)
KEPT, LARGEST = 4, 16_000
"""So many comparisons are kept in this process's memory, none of more pieces: some fifty megabytes at the most."""
T = TypeVar("T")
_kept: dict[Hashable, Read] = {}
_keeping = Lock()


class Piece(NamedTuple):
    """One case in one cell of a side; of a subject, in all its runs together. A tuple: made by the thousand."""

    subject: int
    key: Key
    case: int
    fingerprint: str
    counted: Counted
    planned: int
    cost: float | None
    seconds: float | None
    cost_n: int
    """So many trials the cost is of."""
    seconds_n: int
    cells: tuple[int, ...]

    def plus(self, other: Piece) -> Piece:
        return self._replace(
            counted=self.counted.plus(other.counted),
            planned=self.planned + other.planned,
            cost=plus(self.cost, other.cost),
            seconds=plus(self.seconds, other.seconds),
            cost_n=self.cost_n + other.cost_n,
            seconds_n=self.seconds_n + other.seconds_n,
            cells=self.cells + other.cells,
        )


@dataclass(frozen=True)
class Read:
    """`pieces` by side; `names` of scenarios by slug; `measures` are the baseline's; `same`: the measure by version."""

    measures: tuple[MeasureFacts, ...]
    measure: MeasureFacts | None
    pieces: tuple[tuple[Piece, ...], ...]
    names: Mapping[str, str]
    same: tuple[int, ...] = ()
    flips: dict[tuple[str, str, int, bool], tuple[tuple[str, int], tuple[str, int]] | None] = field(
        default_factory=dict
    )
    """By scenario, case, side and whether it gained: two trials that show it, of what pages asked for so far."""
    _made: dict[Hashable, Any] = field(default_factory=dict)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Make once what each page of this comparison asks for again, and give it to all of them."""
        if key not in self._made:
            self._made[key] = make()
        return cast(T, self._made[key])

    def parts(self, side: int, policy: str) -> list[Part]:
        """Give a side's figures."""
        return self.once(("parts", side, policy), lambda: self._parts(side, policy))

    def pairs(self, policy: str, subjects: frozenset[int] | None) -> list[list[Pair]]:
        """Give each other side's cases beside the baseline's."""

        def made() -> list[list[Pair]]:
            base = self.parts(0, policy)
            return [match(base, self.parts(place, policy), subjects) for place in range(1, len(self.pieces))]

        return self.once(("pairs", policy, subjects), made)

    def by_case(self, side: int) -> dict[Key, list[Piece]]:
        return self.once(("cases", side), lambda: self._by_case(side))

    def _by_case(self, side: int) -> dict[Key, list[Piece]]:
        made: dict[Key, list[Piece]] = defaultdict(list)
        for piece in self.pieces[side]:
            made[piece.key].append(piece)
        return dict(made)

    def _parts(self, side: int, policy: str) -> list[Part]:
        assert self.measure
        rule, pieces = policy_named(policy), self.pieces[side]
        counted = [piece.counted for piece in pieces]
        if rule.errors_fail and not any(one.lapsed or one.blamed for one in counted):
            return self.parts(side, DEFAULT_POLICY)  # nothing failed: it is the same figure
        figures = case_figures(counted, self.measure.reducer, self.measure.worst, rule)
        return [
            NEW(Part, (subject, slug, case, print_, figure))
            for (subject, (slug, case), _, print_, *_), figure in zip(pieces, figures, strict=True)
        ]


def read(sides: Sequence[Side], asked: str) -> Read:
    """Read all sides at once; `asked` is a measure's key, else the baseline's headline is compared."""
    declared = list(Measure.objects.filter(version__in={run.version_id for side in sides for run in side.runs}))
    measures = measures_of([row for row in declared if row.version_id == sides[0].run.version_id])
    pooled = [measure for measure in measures if measure.pooled]
    chosen = next((measure for measure in pooled if measure.key == asked), None) if asked else headline_of(pooled)
    if asked and chosen is None:
        keys = [measure.key for measure in pooled]
        told = (
            f"The baseline has no measure {asked[:80]!r} with a figure to compare; it has {listed(keys, 9) or 'none'}."
        )
        raise NoMeasure(told, keys)
    if chosen is None:
        return Read(tuple(pooled), None, tuple(() for _ in sides), {})
    scenarios, prints = _scenarios(sides)
    names = _Names(scenarios, _cases(scenarios), prints)
    same = tuple([row.pk for row in declared if (row.key, row.type) == (chosen.key, chosen.type)])
    key = (_as_they_are(sides), tuple(pooled), chosen, same, *(tuple(of.items()) for of in names))
    with _keeping:
        known = _kept.pop(key, None)
    made = known or Read(tuple(pooled), chosen, _all_pieces(sides, chosen, same, names), dict(scenarios.values()), same)
    if sum(map(len, made.pieces)) <= LARGEST:
        with _keeping:
            _kept[key] = made  # what is asked for last is the last to go
            while len(_kept) > KEPT:
                del _kept[next(iter(_kept))]
    return made


def _as_they_are(sides: Sequence[Side]) -> Hashable:
    """Sides by what changes with each of their numbers: whatever changes a rollup raises its run's revision with it.

    The revision is read before the rollups, so nothing that is kept is older than its key.
    """
    return sides[0].of.kind, tuple(
        (
            tuple((run.pk, run.ulid, run.created_at, run.revision) for run in side.runs),
            tuple((member.id, member.subject) for member in side.members),
        )
        for side in sides
    )


def _all_pieces(
    sides: Sequence[Side], measure: MeasureFacts, same: Sequence[int], names: _Names
) -> tuple[tuple[Piece, ...], ...]:
    slots, blamed = _slots(Slot.objects.filter(_of(sides)))
    seen = _counted(sides, measure, same, blamed)
    made = [_pieces(side, slots, seen, names) for side in sides]
    if sides[0].of.kind == "subject":
        made = _merged(made)
    return tuple(tuple(pieces) for pieces in made)


class _Names(NamedTuple):
    """Slug and name by scenario, the key of each case, fingerprint by version and scenario."""

    scenarios: dict[int, Key]
    cases: dict[int, Key]
    prints: dict[tuple[int, int], str]


SlotRow = tuple[int, int, int, int, float | None, float | None, int, int, str | None]
"""Cell, scenario, case, planned, cost and seconds, how many trials those two are of, and faults where there are any."""


def _of(sides: Sequence[Side]) -> Q:
    """The condition that a row is of the sides' runs, and of their cells where these are not all that the runs have."""
    condition = Q(run__in={run.pk for side in sides for run in side.runs})
    if sides[0].of.kind == "run":
        return condition
    return condition & Q(cell__in={member.id for side in sides for member in side.members})


def _slots(slots: Any) -> tuple[dict[int, list[SlotRow]], dict[tuple[int, int], int]]:
    """Give slots by cell, in their order, and errors at the subject's door by cell and case, where there are any."""
    made: dict[int, list[SlotRow]] = defaultdict(list)
    once, blamed = ReadOnce(), {}
    # most slots have none, and reading that takes time
    some = NullIf(Cast("faults", TextField()), Value("{}", TextField()))
    fields = ("cell_id", "scenario_id", "case_id", "planned", "cost", "seconds", "cost_n", "seconds_n", "some_faults")
    for row in whole_rows(slots.order_by().annotate(some_faults=some).values_list(*fields)):
        made[row[0]].append(row)
        if row[-1] is not None:
            faults = once[row[-1]]
            blamed[row[0], row[2]] = sum([faults.get(code, 0) for code in SUBJECT_FAULTS])
    for of in made.values():  # as they come they are in order, nearly always
        of.sort(key=itemgetter(2))
    return made, blamed


def _cases(scenarios: Mapping[int, Key]) -> dict[int, Key]:
    rows = Case.objects.filter(scenario__in=list(scenarios)).values_list("pk", "scenario_id", "key")
    return {case: (scenarios[scenario][0], key) for case, scenario, key in whole_rows(rows)}


def _counted(
    sides: Sequence[Side], measure: MeasureFacts, same: Sequence[int], blamed: Mapping[tuple[int, int], int]
) -> dict[tuple[int, int], Counted]:
    """What is known of each case in each cell. `same`: the measure by version."""
    tallies = Tally.objects.filter(_of(sides), measure__in=same).annotate(lapsed=F("invalid") + F("missing"))
    names = ("cell_id", "case_id", "n", "lapsed", "sum", "sumsq")
    if measure.reducer in ("min", "max"):  # each column more takes time
        ends = whole_rows(tallies.values_list(*names, "min", "max"))
        made = {
            (cell, case): Counted(n, lapsed, 0, total or 0.0, squares or 0.0, least, most)
            for cell, case, n, lapsed, total, squares, least, most in ends
        }
    else:
        made = {
            (cell, case): NEW(Counted, (n, lapsed, 0, total or 0.0, squares or 0.0, None, None, ()))
            for cell, case, n, lapsed, total, squares in whole_rows(tallies.values_list(*names))
        }
    for key, many in blamed.items():
        if many:
            made[key] = made.get(key, NOTHING)._replace(blamed=many)
    for key, numbers in (_values(sides, measure) if measure.reducer == "median" else {}).items():
        if key in made:
            made[key] = made[key]._replace(values=numbers)
    return made


def _values(sides: Sequence[Side], measure: MeasureFacts) -> dict[tuple[int, int], tuple[float, ...]]:
    """A median of several runs, or with errors counted in, cannot be made from medians: it needs the values."""
    runs = {run.pk for side in sides for run in side.runs}
    cells = {member.id for side in sides for member in side.members}
    seen = Observation.objects.filter(
        trial__run__in=runs, trial__cell__in=cells, trial__state="scored", trial__withdrawn=False,
        measure__key=measure.key, valid=True, number__isnull=False,
    )  # fmt: skip
    made: dict[tuple[int, int], list[float]] = defaultdict(list)
    for cell, case, number in whole_rows(seen.values_list("trial__cell_id", "trial__case_id", "number")):
        made[cell, case].append(number)
    return {key: tuple(numbers) for key, numbers in made.items()}


def _scenarios(sides: Sequence[Side]) -> tuple[dict[int, Key], dict[tuple[int, int], str]]:
    """Give names, and fingerprints: what a scenario measures is its own source and every part that decides on it."""
    versions = {run.version_id: run.version for side in sides for run in side.runs}
    rows = ScenarioVersion.objects.filter(version__in=versions)
    shared = {pk: [version.hashes.get(part) for part in MEASURED_BY] for pk, version in versions.items()}
    names, prints = {}, {}
    for version, scenario, own, slug, name in rows.values_list(
        "version_id", "scenario_id", "fingerprint", "scenario__slug", "scenario__name"
    ):
        names[scenario] = (slug, name)
        prints[version, scenario] = digest([own, shared[version]])
    return names, prints


def _pieces(
    side: Side, slots: Mapping[int, list[SlotRow]], seen: Mapping[tuple[int, int], Counted], names: _Names
) -> list[Piece]:
    made: list[Piece] = []
    of_version, keys = {}, names.cases
    for run in side.runs:
        own = {scenario: names.prints.get((run.version_id, scenario), "") for scenario in names.scenarios}
        of_version[run.version_id] = own
    for member in side.members:
        prints, cells, subject = of_version[member.run.version_id], (member.id,), member.subject
        made += [
            NEW(
                Piece,
                (subject, keys[case], case, prints[scenario], seen.get((cell, case), NOTHING), planned, cost, seconds,
                 costs, times, cells),
            )
            for cell, scenario, case, planned, cost, seconds, costs, times, _ in slots.get(member.id, ())
        ]  # fmt: skip
    return made


def _merged(sides: Sequence[Sequence[Piece]]) -> list[list[Piece]]:
    """Add up a subject's runs case by case. Of a scenario that changed, take the newest form that all sides ran."""
    grouped = [_by_form(pieces) for pieces in sides]
    made: list[list[Piece]] = []
    for forms in grouped:
        chosen = []
        for key, own in forms.items():
            common = [form for form in own if all(form in other.get(key, {}) for other in grouped)]
            chosen.append(own[common[0] if common else next(iter(own))])
        made.append(chosen)
    return made


def _by_form(pieces: Iterable[Piece]) -> dict[Key, dict[str, Piece]]:
    made: dict[Key, dict[str, Piece]] = defaultdict(dict)
    for piece in pieces:  # the newest run's come first
        forms = made[piece.key]
        forms[piece.fingerprint] = forms[piece.fingerprint].plus(piece) if piece.fingerprint in forms else piece
    return made
