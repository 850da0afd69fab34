"""A run as trials x measures, read part by part from its rows: what `benchsite export` writes of its folder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchsite.flows import clean
from benchsite.runs.models import Attempt as AttemptRow
from benchsite.runs.models import Observation as ObservationRow
from benchsite.runs.models import Run
from benchsite.runs.models import Trial as TrialRow
from benchsite.runs.recount import WITHDRAWN
from runner.frames import Columns, kinds, row_of
from runner.manifest import Manifest
from runner.records import Attempt, ChangeRecord, Observation, Trial, Usage, Value

from .loaded import manifest_json

PART = 1000
"""Trials read at a time: memory is bounded by them and the manifest, not by the run."""


@dataclass(frozen=True)
class Frame:
    manifest: Manifest
    run: Run
    every: bool

    @property
    def names(self) -> list[str]:
        return list(kinds([self.manifest]))

    def parts(self) -> Iterator[Columns]:
        """Give the rows in the order of their index, some at a time, as columns; the first part may be empty."""
        after: int | None = -1
        while after is not None:
            rows = list(self.run.trials.filter(index__gt=after).order_by("index")[:PART])
            made = [row_of(self.manifest, trial, every=self.every) for trial in _trials(self.manifest, rows)]
            yield {name: [row.get(name) for row in made] for name in self.names}
            after = rows[-1].index if len(rows) == PART else None


def frame_of(run: Run, *, every: bool = False) -> Frame:
    """Open a run's frame; a manifest that may not be shown, or is not here, is refused in one sentence."""
    data = manifest_json(run.manifest)
    numbers = {name: data.pop(name) for name in ("rows", "order") if name in data}
    return Frame(Manifest.from_json({**clean.tree(data), **numbers}), run, every)


def _trials(manifest: Manifest, rows: list[TrialRow]) -> Iterator[Trial]:
    ids = [row.pk for row in rows]
    tries: dict[int, list[Any]] = defaultdict(list)
    for one in AttemptRow.objects.filter(trial__in=ids).order_by("number"):
        tries[one.trial_id].append(one)
    seen: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for trial, *facts in ObservationRow.objects.filter(trial__in=ids).values_list(
        "trial_id", "measure__key", "measure__type", "number", "text", "valid"
    ):
        seen[trial].append(tuple(facts))
    for row in rows:
        made = [_attempt(one) for one in tries[row.pk]]
        if row.attempts > len(made):  # the one that runs just now has no row yet
            made.append(Attempt(row.index, row.attempts))
        elif made:
            made[-1].observations.update(_observations(tries[row.pk][-1].record, seen[row.pk]))
        # what a curator withdrew counts nowhere, whatever it measured
        state = WITHDRAWN if row.withdrawn else row.state
        yield Trial(manifest.trials[row.index], state, row.reason, tuple(made))


def _attempt(row: Any) -> Attempt:
    record = row.record
    changes = {stage: ChangeRecord(stage, one["blob"], one["counts"]) for stage, one in _of(record, "changes").items()}
    return Attempt(
        trial=row.trial_id,
        number=row.number,
        state=row.state,
        outcome=record.get("outcome"),
        fault=row.fault or None,
        phase=record.get("phase"),
        started_at=_moment(row.started_at),
        finished_at=_moment(row.finished_at),
        seconds=record.get("seconds"),
        changes=changes,
        usage=Usage.from_json(record.get("usage")),
        flags=tuple(record.get("flags", ())),
    )


def _of(record: dict[str, Any], name: str) -> dict[str, Any]:
    return dict(record.get(name) or {})


def _observations(record: dict[str, Any], rows: list[tuple[Any, ...]]) -> Iterator[tuple[str, Observation]]:
    for key, kind, number, text, valid in rows:
        yield key, Observation(key, _value(kind, number, text), valid)
    for one in record.get("unknown", ()):
        yield one["measure"], Observation(one["measure"], None, valid=False)


def _value(kind: str, number: float | None, text: str) -> Value:
    if number is None:
        return text
    return {"bool": bool, "int": int}.get(kind, float)(number)


def _moment(at: datetime | None) -> str | None:
    """As the runner writes it."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else None
