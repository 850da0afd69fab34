"""The figures of a side's cases, read from rollups: what pairs are made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchsite.benches.models import Case, Measure, ScenarioVersion
from benchsite.readings.counts import SUBJECT_FAULTS, plus
from benchsite.readings.leaderboard import MeasureFacts, headline_of, measures_of
from benchsite.runs.models import Observation, Slot, Tally
from runner.digests import digest
from runner.statistics import Counted, Part, case_figure, policy_named
from runner.statistics.pairing import MEASURED_BY

from .sides import Side

Key = tuple[str, str]
"""Slug of a scenario, key of a case."""
NOTHING: tuple[Any, ...] = (0, 0, 0.0, 0.0, None, None, ())


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
    """`pieces` by side; `names` of scenarios by slug; `measures` are the baseline's."""

    measures: tuple[MeasureFacts, ...]
    measure: MeasureFacts | None
    pieces: tuple[tuple[Piece, ...], ...]
    names: Mapping[str, str]
    _made: dict[tuple[int, str], list[Part]] = field(default_factory=dict)

    def parts(self, side: int, policy: str) -> list[Part]:
        """Give a side's figures; made once."""
        if (side, policy) not in self._made:
            self._made[side, policy] = self._parts(side, policy)
        return self._made[side, policy]

    def _parts(self, side: int, policy: str) -> list[Part]:
        assert self.measure
        rule, worst, reducer = policy_named(policy), self.measure.worst, self.measure.reducer
        return [
            Part(piece.subject, *piece.key, piece.fingerprint, case_figure(piece.counted, reducer, worst, rule))
            for piece in self.pieces[side]
        ]


def read(sides: Sequence[Side], asked: str) -> Read:
    """Read all sides at once; `asked` is a measure's key, else the baseline's headline is compared."""
    declared = list(Measure.objects.filter(version__in={run.version_id for side in sides for run in side.runs}))
    measures = measures_of([row for row in declared if row.version_id == sides[0].run.version_id])
    pooled = [measure for measure in measures if measure.pooled]
    chosen = next((measure for measure in pooled if measure.key == asked), None) or headline_of(pooled)
    if chosen is None:
        return Read(tuple(pooled), None, tuple(() for _ in sides), {})
    scenarios, prints = _scenarios(sides)
    runs = {run.pk for side in sides for run in side.runs}
    found = Slot.objects.filter(run__in=runs, cell__in={member.id for side in sides for member in side.members})
    slots, names = _slots(found), _Names(scenarios, _cases(scenarios), prints)
    same = [row.pk for row in declared if (row.key, row.type) == (chosen.key, chosen.type)]
    seen, blamed = _counted(sides, chosen, same), _blamed(found)
    made = [_pieces(side, slots, seen, blamed, names) for side in sides]
    if sides[0].of.kind == "subject":
        made = _merged(made)
    return Read(tuple(pooled), chosen, tuple(tuple(pieces) for pieces in made), dict(scenarios.values()))


class _Names(NamedTuple):
    """Slug and name by scenario, key by case, fingerprint by version and scenario."""

    scenarios: dict[int, Key]
    cases: dict[int, str]
    prints: dict[tuple[int, int], str]


SlotRow = tuple[int, int, int, float | None, float | None, int, int]


def _slots(slots: Any) -> dict[int, list[SlotRow]]:
    """By cell: scenario, case, planned, cost and seconds, and how many trials those two are of."""
    made: dict[int, list[SlotRow]] = defaultdict(list)
    fields = ("cell_id", "scenario_id", "case_id", "planned", "cost", "seconds", "cost_n", "seconds_n")
    for cell, *row in slots.order_by("id").values_list(*fields):
        made[cell].append(tuple(row))
    return made


def _blamed(slots: Any) -> dict[tuple[int, int], int]:
    """Errors at the subject's door, where there are any: most slots have none, and reading that takes time."""
    rows = slots.exclude(faults={}).values_list("cell_id", "case_id", "faults")
    return {(cell, case): sum(faults.get(code, 0) for code in SUBJECT_FAULTS) for cell, case, faults in rows}


def _cases(scenarios: Iterable[int]) -> dict[int, str]:
    return dict(Case.objects.filter(scenario__in=list(scenarios)).values_list("pk", "key"))


def _counted(
    sides: Sequence[Side], measure: MeasureFacts, same: Sequence[int]
) -> dict[tuple[int, int], tuple[Any, ...]]:
    """By cell and case, what makes a `Counted` but for the trials that are blamed. `same`: the measure by version."""
    runs = {run.pk for side in sides for run in side.runs}
    cells = {member.id for side in sides for member in side.members}
    rows = Tally.objects.filter(run__in=runs, cell__in=cells, measure__in=same)
    values = _values(runs, cells, measure) if measure.reducer == "median" else {}
    return {
        (cell, case): (n, invalid + missing, total or 0.0, squares or 0.0, least, most, values.get((cell, case), ()))
        for cell, case, n, invalid, missing, total, squares, least, most in rows.values_list(
            "cell_id", "case_id", "n", "invalid", "missing", "sum", "sumsq", "min", "max"
        )
    }


def _values(runs: set[int], cells: set[int], measure: MeasureFacts) -> dict[tuple[int, int], tuple[float, ...]]:
    """A median of several runs, or with errors counted in, cannot be made from medians: it needs the values."""
    seen = Observation.objects.filter(
        trial__run__in=runs, trial__cell__in=cells, trial__state="scored", trial__withdrawn=False,
        measure__key=measure.key, valid=True, number__isnull=False,
    )  # fmt: skip
    made: dict[tuple[int, int], list[float]] = defaultdict(list)
    for cell, case, number in seen.values_list("trial__cell_id", "trial__case_id", "number"):
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
    side: Side,
    slots: Mapping[int, list[SlotRow]],
    seen: Mapping[tuple[int, int], tuple[Any, ...]],
    blamed: Mapping[tuple[int, int], int],
    names: _Names,
) -> list[Piece]:
    made, of_version = [], {}
    for run in side.runs:
        own = {scenario: names.prints.get((run.version_id, scenario), "") for scenario in names.scenarios}
        of_version[run.version_id] = own
    for member in side.members:
        prints = of_version[member.run.version_id]
        for scenario, case, *took in slots.get(member.id, ()):
            n, lapsed, total, squares, least, most, values = seen.get((member.id, case), NOTHING)
            counted = Counted(n, lapsed, blamed.get((member.id, case), 0), total, squares, least, most, values)
            key = (names.scenarios[scenario][0], names.cases[case])
            made.append(Piece(member.subject, key, case, prints[scenario], counted, *took, (member.id,)))
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
