"""Leases: who holds which attempt, and until when. No broker is trusted, so the truth about the queue is here."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from benchsite.jobs.models import Lease
from runner.jobs import TrialJob

from . import queue

CANCELLED = "cancelled"
"""The holder that tells a worker to end its attempt now."""
LARGEST_SENDS = 20


def offer(job: TrialJob) -> Lease:
    """Put an attempt on the queue. An older lease on it (of a driver that is gone) begins anew."""
    fields = {"holder": "", "until": _until(), "sends": 1, "done": False}
    with transaction.atomic():
        lease, _ = Lease.objects.update_or_create(
            run=job.run_dir.name, index=job.index, attempt=job.attempt, defaults=fields
        )
        _send(job)
    return lease


def claim(run: str, index: int, attempt: int) -> str | None:
    """Take an attempt nobody holds; gives the holder's name. A message that comes twice finds it taken."""
    holder = secrets.token_hex(8)
    free = Lease.objects.open().filter(run=run, index=index, attempt=attempt, holder="")
    return holder if free.update(holder=holder, until=_until()) else None


def renew(run: str, index: int, attempt: int, holder: str) -> bool:
    """Hold on; false when the lease went to somebody else or was cancelled."""
    mine = Lease.objects.open().filter(run=run, index=index, attempt=attempt, holder=holder)
    return bool(mine.update(until=_until()))


def holds(run: str, index: int, attempt: int, holder: str) -> bool:
    return Lease.objects.open().filter(run=run, index=index, attempt=attempt, holder=holder).exists()


def finish(lease: Lease) -> None:
    Lease.objects.filter(pk=lease.pk).update(done=True)


def cancel(job: TrialJob) -> None:
    Lease.objects.open().filter(run=job.run_dir.name, index=job.index, attempt=job.attempt).update(holder=CANCELLED)


def resend(lease: Lease, job: TrialJob) -> bool:
    """Send the message of an attempt that nobody took once more; false when that was tried too often."""
    if lease.sends >= LARGEST_SENDS:
        return False
    with transaction.atomic():
        waiting = Lease.objects.open().filter(pk=lease.pk, holder="", sends=lease.sends)
        if waiting.update(sends=lease.sends + 1, until=_until()):
            _send(job)
    return True


def sweep(now: datetime, folder_of: Any) -> int:
    """Send again what expired before a worker took it. `folder_of` gives a run's folder by its ULID, None if gone."""
    from runner.jobs import trial_seed
    from runner.journal import MANIFEST
    from runner.manifest import Manifest

    sent = 0
    for lease in Lease.objects.expired(now).held_by(""):
        run_dir: Path | None = folder_of(lease.run)
        if run_dir is None:
            continue
        seed = trial_seed(Manifest.read(run_dir / MANIFEST), lease.index)
        sent += resend(lease, TrialJob(run_dir, lease.index, lease.attempt, seed))
    return sent


def _send(job: TrialJob) -> None:
    queue.send(queue.TRIAL, run_dir=str(job.run_dir), job=job.to_json())


def _until() -> datetime:
    return timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
