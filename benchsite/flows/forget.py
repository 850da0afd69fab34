"""Delete a run for good, and collect the bytes nobody uses any more."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from benchsite.artifacts.models import Blob, BlobUse
from benchsite.artifacts.store import store
from benchsite.benches.models import Bench
from benchsite.jobs.models import Lease, Sent, Upload
from benchsite.runs.models import Run
from runner.errors import RunnerError

from .bulk import hold_blobs
from .erase import erase_runs, erase_unused

PART = 500
"""Blobs deleted at once: whoever takes a run in waits meanwhile."""
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
    old = Blob.objects.filter(created_at__lt=(now or timezone.now()) - grace).exclude(state=Blob.State.REDACTED)
    unused = old.exclude(Exists(BlobUse.objects.filter(blob=OuterRef("pk"))))
    ids = list(unused.order_by("pk").values_list("pk", flat=True))
    many = size = 0
    for start in range(0, len(ids), PART):
        for bytes in _drop(unused.filter(pk__in=ids[start : start + PART])):
            many, size = many + 1, size + bytes
    return many, size


def _drop(unused: Any) -> list[int]:
    """Delete rows and bytes; looked at once more, and while no run can come to use them; gives their sizes."""
    with transaction.atomic():
        hold_blobs(alone=True)
        found = list(unused.values_list("id", "digest", "size"))
        Sent.objects.filter(digest__in=[digest for _, digest, _ in found]).delete()
        Blob.objects.filter(pk__in=[id for id, _, _ in found]).delete()
        for _, digest, _ in found:
            store().path(digest).unlink(missing_ok=True)
    return [size for _, _, size in found]


def spare(digests: list[str]) -> None:
    """Leave blobs that no run uses yet for another while: an upload that is on its way speaks of them."""
    now = timezone.now()
    for start in range(0, len(digests), PART):
        old = Blob.objects.filter(digest__in=digests[start : start + PART], created_at__lt=now - GRACE / 2)
        old.exclude(Exists(BlobUse.objects.filter(blob=OuterRef("pk")))).update(created_at=now)
