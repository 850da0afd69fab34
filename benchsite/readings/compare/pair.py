"""Two trials of one scenario, and what must be said before they are compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from benchsite.benches.models import ScenarioVersion
from benchsite.readings import words
from benchsite.readings.trialhead import Seen
from benchsite.runs.models import Attempt, Run, Trial

from .grammar import CompareRefused, Of

PARTS = ("template", "fixtures", "schema", "suite", "code", "evaluation", "setup")


@dataclass(frozen=True)
class Pair:
    """`a` is the baseline. `notices` are sentences: why the two may differ for another reason than their agents."""

    a: Seen
    b: Seen
    notices: tuple[str, ...]

    @property
    def same_start(self) -> bool:
        return bool(self.a.run.version.template) and self.a.run.version.template == self.b.run.version.template

    @property
    def sides(self) -> tuple[tuple[str, Seen], tuple[str, Seen]]:
        return ("A", self.a), ("B", self.b)

    @property
    def axes(self) -> list[tuple[str, str, str]]:
        """Each axis on which the subjects differ, with both values."""
        a, b = (side.trial.cell.subject.axes for side in (self.a, self.b))
        names = sorted({*a, *b})
        return [
            (name, str(a.get(name, words.NONE)), str(b.get(name, words.NONE)))
            for name in names
            if a.get(name) != b.get(name)
        ]


def trials_of(user: Any, asked: Sequence[Of]) -> list[Seen] | None:
    """Find the trials in the order asked; None where one of them is absent or not for this reader's eyes."""
    places = [_place(of) for of in asked]
    if None in places:
        return None
    wanted = Q()
    for ulid, index in (place for place in places if place):
        wanted |= Q(run__ulid=ulid, index=index)
    related = ("run__bench", "run__version", "cell__subject", "scenario", "case")
    rows = Trial.objects.filter(wanted, run__in=Run.objects.visible_to(user)).select_related(*related)
    found = {(row.run.ulid, row.index): row for row in rows}
    if len(found) < len(places):
        return None
    tries: dict[int, list[Attempt]] = {}
    for attempt in Attempt.objects.filter(trial__in=list(found.values())).order_by("number"):
        tries.setdefault(attempt.trial_id, []).append(attempt)
    ordered = [found[place] for place in places if place]
    return [Seen(row, row.run, tuple(tries.get(row.pk, ()))) for row in ordered]


def paired(trials: Sequence[Seen]) -> Pair:
    """Judge whether two trials can be compared; raises CompareRefused."""
    if len(trials) != 2:
        raise CompareRefused(f"Trials are compared two at a time; {len(trials)} were named.")
    a, b = trials
    if a.run.bench_id != b.run.bench_id:
        raise CompareRefused(
            f"Trial {a.index} is of the bench {a.run.bench} and trial {b.index} of {b.run.bench}: "
            "only trials of one scenario can be compared."
        )
    if a.trial.scenario_id != b.trial.scenario_id:
        raise CompareRefused(
            f"Trial {a.index} ran the scenario {a.trial.scenario} and trial {b.index} {b.trial.scenario}: "
            "they were asked different things, so what they did cannot be compared."
        )
    return Pair(a, b, tuple(_notices(a, b)))


def _place(of: Of) -> tuple[str, int] | None:
    ulid, _, index = of.id.partition("/")
    good = len(ulid) == 26 and index.isascii() and index.isdigit() and len(index) < 10
    return (ulid, int(index)) if good else None


def _notices(a: Seen, b: Seen) -> Iterator[str]:
    if a.trial.case_id != b.trial.case_id:
        yield f"The trials are of different cases: {a.trial.case} and {b.trial.case}."
    if a.run.version_id != b.run.version_id and (said := _versions(a, b)):
        yield said
    for name, side in (("A", a), ("B", b)):
        if side.trial.state != "scored":
            yield f"Trial {name} was not scored: {words.STATE_WORDS.get(side.trial.state, side.trial.state)}."
        if side.trial.withdrawn:
            yield f"Trial {name} was withdrawn by a curator."


def _versions(a: Seen, b: Seen) -> str:
    """Name what differs between two versions of the bench; nothing where the scenario is the same in both."""
    versions = (a.run.version_id, b.run.version_id)
    rows = ScenarioVersion.objects.filter(scenario=a.trial.scenario_id, version__in=versions)
    if len(set(rows.values_list("fingerprint", flat=True))) <= 1:
        return ""
    old, new = a.run.version.hashes, b.run.version.hashes
    parts = [part for part in PARTS if old.get(part) != new.get(part)]
    named = f" It differs in: {words.listed(parts, 9)}." if parts else ""
    return f"The scenario is not the same in both runs.{named}"
