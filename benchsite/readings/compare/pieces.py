"""The figures of a side's cases, read from rollups: what pairs are made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchsite.benches.models import Measure, ScenarioVersion
from benchsite.readings.counts import SUBJECT_FAULTS, plus
from benchsite.readings.leaderboard import MeasureFacts, headline_of, measures_of
from benchsite.runs.models import Observation, Slot, Tally
from runner.digests import digest
from runner.statistics import Counted, Part, case_figure, policy_named
from runner.statistics.pairing import MEASURED_BY

from .sides import Side

Key = tuple[str, str]
"""Slug of a scenario, key of a case."""
NOTHING = Counted(0, 0, 0, 0.0, 0.0, None, None)


@dataclass(frozen=True)
class Piece:
    """One case in one cell of a side; of a subject, in all its runs together."""

    subject: int
    key: Key
    case: int
    fingerprint: str
    counted: Counted
    planned: int
    cost: float | None = None
    seconds: float | None = None

    def plus(self, other: Piece) -> Piece:
        return replace(
            self,
            counted=self.counted.plus(other.counted),
            planned=self.planned + other.planned,
            cost=plus(self.cost, other.cost),
            seconds=plus(self.seconds, other.seconds),
        )


@dataclass(frozen=True)
class Read:
    """`pieces` by side; `names` of scenarios by slug; `measures` are the baseline's."""

    measures: tuple[MeasureFacts, ...]
    measure: MeasureFacts | None
    pieces: tuple[tuple[Piece, ...], ...]
    names: Mapping[str, str]

    def parts(self, side: int, policy: str) -> list[Part]:
        assert self.measure
        rule, worst, reducer = policy_named(policy), self.measure.worst, self.measure.reducer
        return [
            Part(piece.subject, *piece.key, piece.fingerprint, case_figure(piece.counted, reducer, worst, rule))
            for piece in self.pieces[side]
        ]


def read(sides: Sequence[Side], asked: str) -> Read:
    """Read all sides at once; `asked` is a measure's key, else the baseline's headline is compared."""
    measures = measures_of(list(Measure.objects.filter(version=sides[0].run.version_id)))
    pooled = [measure for measure in measures if measure.pooled]
    chosen = next((measure for measure in pooled if measure.key == asked), None) or headline_of(pooled)
    if chosen is None:
        return Read(tuple(pooled), None, tuple(() for _ in sides), {})
    slots = _slots(sides)
    seen, prints = _counted(sides, chosen), _fingerprints(sides)
    made = [_pieces(side, slots, seen, prints) for side in sides]
    if sides[0].of.kind == "subject":
        made = _merged(made)
    names = {row["scenario__slug"]: row["scenario__name"] for rows in slots.values() for row in rows}
    return Read(tuple(pooled), chosen, tuple(tuple(pieces) for pieces in made), names)


FIELDS = ("cell_id", "scenario_id", "case_id", "scenario__slug", "scenario__name", "case__key", "planned", "faults")


def _slots(sides: Sequence[Side]) -> dict[int, list[dict[str, Any]]]:
    runs = {run.pk for side in sides for run in side.runs}
    cells = {member.id for side in sides for member in side.members}
    made: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in Slot.objects.filter(run__in=runs, cell__in=cells).order_by("id").values(*FIELDS, "cost", "seconds"):
        made[row["cell_id"]].append(row)
    return made


def _counted(sides: Sequence[Side], measure: MeasureFacts) -> dict[tuple[int, int], Counted]:
    runs = {run.pk for side in sides for run in side.runs}
    cells = {member.id for side in sides for member in side.members}
    rows = Tally.objects.filter(run__in=runs, cell__in=cells, measure__key=measure.key, measure__type=measure.type)
    values = _values(runs, cells, measure) if measure.reducer == "median" else {}
    return {
        (cell, case): Counted(
            n, invalid + missing, 0, total or 0.0, squares or 0.0, least, most, values.get((cell, case), ())
        )
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


def _fingerprints(sides: Sequence[Side]) -> dict[tuple[int, int], str]:
    """Name what a version's scenario measures: its own source and every part of the definition that decides on it."""
    versions = {run.version_id: run.version for side in sides for run in side.runs}
    rows = ScenarioVersion.objects.filter(version__in=versions).values_list("version_id", "scenario_id", "fingerprint")
    shared = {pk: [version.hashes.get(part) for part in MEASURED_BY] for pk, version in versions.items()}
    return {(version, scenario): digest([own, shared[version]]) for version, scenario, own in rows}


def _pieces(
    side: Side,
    slots: Mapping[int, list[dict[str, Any]]],
    seen: Mapping[tuple[int, int], Counted],
    prints: Mapping[tuple[int, int], str],
) -> list[Piece]:
    return [
        Piece(
            subject=member.subject,
            key=(row["scenario__slug"], row["case__key"]),
            case=row["case_id"],
            fingerprint=prints.get((member.run.version_id, row["scenario_id"]), ""),
            counted=seen.get((member.id, row["case_id"]), NOTHING)._replace(blamed=_blamed(row["faults"])),
            planned=row["planned"],
            cost=row["cost"],
            seconds=row["seconds"],
        )
        for member in side.members
        for row in slots.get(member.id, ())
    ]


def _blamed(faults: Mapping[str, int]) -> int:
    return sum(faults.get(code, 0) for code in SUBJECT_FAULTS)


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
