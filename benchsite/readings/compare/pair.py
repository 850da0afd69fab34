"""Two trials of one scenario, and what must be said before they are compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

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
    read = [_place(of) for of in asked]
    places = [place for place in read if place]
    if len(places) < len(read):
        return None
    sought = Run.objects.visible_to(user).filter(ulid__in={ulid for ulid, _ in places})
    runs = {run.ulid: run for run in sought.select_related("bench", "version")}
    if any(ulid not in runs for ulid, _ in places):
        return None
    # one by one and by the runs' keys: of two at once, PostgreSQL makes a walk over all trials of a run, or all cells
    rows = Trial.objects.select_related("cell__subject", "scenario", "case")
    found = [next(iter(rows.filter(run=runs[ulid], index=index)[:1]), None) for ulid, index in places]
    if None in found:
        return None
    tries: dict[int, list[Attempt]] = {}
    for attempt in Attempt.objects.filter(trial__in=[row.pk for row in found]).order_by("number"):
        tries.setdefault(attempt.trial_id, []).append(attempt)
    return [Seen(row, runs[ulid], tuple(tries.get(row.pk, ()))) for row, (ulid, _) in zip(found, places, strict=True)]


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
