"""Whether a run that says it goes on still does: its runner may have been killed and cannot tell."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from benchsite.runs.models import Run

PATIENCE = timedelta(seconds=90)
"""A runner that is there is heard of every few seconds; after this long nobody should wait for it."""
SILENT = (
    "the runner was stopped, or cannot reach this site. What ended until then is counted; "
    "benchsite run --resume goes on with the rest."
)


def seen_at(run: Any) -> datetime | None:
    found: datetime | None = run.seen_at or run.started_at or run.created_at
    return found


def silent_since(run: Any) -> datetime | None:
    """When a running run was heard of last, if that is too long ago; None for one that lives or has ended."""
    seen = seen_at(run)
    if run.state != Run.State.RUNNING or seen is None or timezone.now() - seen < PATIENCE:
        return None
    return seen
