"""Trials that took, or measured, far more than the others of their scenario: which they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Q

from benchsite.runs.models import Observation, Run, Trial
from runner.statistics.spreads import far_above

from .leaderboard import MeasureFacts
from .question import SPENT


def far_trials(run: Run, measures: Sequence[MeasureFacts], key: str) -> Q | None:
    """The condition that a trial is one of those a spread counts as `far`; None for what is no quantity."""
    rows = _spent(run, key) if key in SPENT else _measured(measures, run, key)
    if rows is None:
        return None
    found = far_above([scenario for _, scenario, _ in rows], [float(value) for *_, value in rows])
    return Q(pk__in=[rows[place][0] for place in sorted(found)])


def _spent(run: Run, key: str) -> list[tuple[Any, ...]]:
    known = Trial.objects.filter(run=run, withdrawn=False, **{f"{key}__isnull": False})
    return list(known.order_by().values_list("pk", "scenario_id", key))


def _measured(measures: Sequence[MeasureFacts], run: Run, key: str) -> list[tuple[Any, ...]] | None:
    measure = next((one for one in measures if one.key == key and one.pooled and not one.rate), None)
    if measure is None:
        return None
    scored = Trial.objects.filter(run=run, withdrawn=False, state="scored")
    seen = Observation.objects.filter(measure=measure.id, valid=True, number__isnull=False, trial__in=scored)
    return list(seen.order_by().values_list("trial_id", "trial__scenario_id", "number"))
