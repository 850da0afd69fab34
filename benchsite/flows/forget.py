"""Delete a run for good, and collect the bytes nobody uses any more."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from benchsite.artifacts.models import Blob, BlobUse
from benchsite.artifacts.store import store
from benchsite.benches.models import Bench
from benchsite.jobs.models import Lease, Sent, Upload
from benchsite.runs.models import Run
from runner.errors import RunnerError

from .erase import erase_runs, erase_unused

GRACE = timedelta(days=1)
"""Blobs younger than this are left: an upload that is on its way has no run yet."""


def find_run(ulid: str) -> Run:
    found = Run.objects.select_related("bench", "version").filter(ulid=ulid).first()
    if found is None:
        raise RunnerError(f"There is no run {ulid} on this site.")
    return found


def forget(run: Run) -> None:
    """Delete a run's rows; its label and the decisions on it stay, so that neither number nor id comes back as new."""
    with transaction.atomic():
        erase_runs(Run.objects.filter(pk=run.pk))
        erase_unused(run.bench)
        Upload.objects.filter(run=run.ulid).delete()
        Lease.objects.filter(run=run.ulid).delete()
        Bench.objects.filter(pk=run.bench_id).update(revision=F("revision") + 1)


def collect(now: datetime | None = None, grace: timedelta = GRACE) -> tuple[int, int]:
    """Delete blobs no run uses; gives how many, and their bytes. A redacted blob's row stays, to refuse it again."""
    now = now or timezone.now()
    unused = Blob.objects.filter(created_at__lt=now - grace).exclude(
        Exists(BlobUse.objects.filter(blob=OuterRef("pk")))
    )
    many = size = 0
    for id, digest, bytes in unused.exclude(state=Blob.State.REDACTED).values_list("id", "digest", "size"):
        if _drop(id, digest):
            many, size = many + 1, size + bytes
    return many, size


def _drop(id: int, digest: str) -> bool:
    """Row first, then bytes; looked at once more, since a run may have come to use it meanwhile."""
    with transaction.atomic():
        if BlobUse.objects.filter(blob=id).exists():
            return False
        Sent.objects.filter(digest=digest).delete()
        Blob.objects.filter(pk=id).delete()
    store().path(digest).unlink(missing_ok=True)
    return True
