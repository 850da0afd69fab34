"""Trials that took, or measured, far more than the others of their scenario: which they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import OuterRef, Q, Subquery

from benchsite.runs.models import Observation, Run, Spread, Trial
from runner.statistics.spreads import far_above

from .leaderboard import MeasureFacts
from .question import SPENT


def far_trials(run: Run, measures: Sequence[MeasureFacts], key: str) -> Q | None:
    """The condition that a trial is one of those a spread counts as `far`; None for what is no quantity."""
    rows = _spent(run, key) if key in SPENT else _measured(measures, run, key)
    if rows is None:
        return None
    if not Spread.objects.filter(run=run, key=key, far__gt=0).exists():  # most have none, and values are many
        return Q(pk__in=[])
    rows = [row for row in rows if row[2] is not None]
    found = far_above([scenario for _, scenario, _ in rows], [float(value) for *_, value in rows])
    return Q(pk__in=[rows[place][0] for place in sorted(found)])


def _spent(run: Run, key: str) -> Any:
    known = Trial.objects.filter(run=run, withdrawn=False, **{f"{key}__isnull": False})
    return known.order_by().values_list("pk", "scenario_id", key)


def _measured(measures: Sequence[MeasureFacts], run: Run, key: str) -> Any:
    measure = next((one for one in measures if one.key == key and one.pooled and not one.rate), None)
    if measure is None:
        return None
    # asked trial by trial: joined, a database may look through the observations of all runs
    seen = Observation.objects.filter(trial=OuterRef("pk"), measure=measure.id, valid=True).values("number")[:1]
    scored = Trial.objects.filter(run=run, withdrawn=False, state="scored").annotate(value=Subquery(seen))
    return scored.order_by().values_list("pk", "scenario_id", "value")
