"""When the last sweep was: one row, so that whoever runs the site sees that sweeps come."""

from __future__ import annotations

from datetime import datetime

from benchsite.jobs.models import Job

KEY = KIND = "sweep"


def note_sweep(now: datetime, message: str) -> None:
    Job.objects.update_or_create(
        key=KEY, defaults={"kind": KIND, "state": Job.State.DONE, "finished_at": now, "message": message}
    )
