"""Take the rows of runs out of the database; what was decided and written about them is left alone."""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from benchsite.artifacts.models import Artifact, BlobUse
from benchsite.benches.models import Bench, Case, Measure, Scenario, ScenarioVersion, Subject, Version
from benchsite.runs.models import Attempt, Cell, Observation, Run, Slot, Spread, Standing, Tally, Trial


def erase_runs(runs: QuerySet[Any]) -> None:
    """Delete in the order of the foreign keys, without loading a row."""
    ids = list(runs.values_list("pk", flat=True))
    trials = Trial.objects.filter(run__in=ids).values("pk")
    for model in (Observation, Attempt, Artifact):
        _raw(model._default_manager.filter(trial__in=trials))
    for model in (Slot, Tally, Standing, Spread, Trial, Cell, BlobUse):
        _raw(model._default_manager.filter(run__in=ids))
    _raw(Run.objects.filter(pk__in=ids))


def erase_unused(bench: Bench) -> None:
    """Delete versions no run is of, and what only they declared."""
    unused = Version.objects.filter(bench=bench).exclude(Exists(Run.objects.filter(version=OuterRef("pk"))))
    for model in (Measure, ScenarioVersion):
        _raw(model._default_manager.filter(version__in=list(unused.values_list("pk", flat=True))))
    _raw(unused)
    declared = ScenarioVersion.objects.filter(scenario=OuterRef("pk"))
    scenarios = list(Scenario.objects.filter(bench=bench).exclude(Exists(declared)).values_list("pk", flat=True))
    _raw(Case.objects.filter(scenario__in=scenarios))
    _raw(Scenario.objects.filter(pk__in=scenarios))
    _raw(Subject.objects.filter(bench=bench).exclude(Exists(Cell.objects.filter(subject=OuterRef("pk")))))


def _raw(rows: QuerySet[Any]) -> None:
    rows.order_by()._raw_delete(rows.db)
