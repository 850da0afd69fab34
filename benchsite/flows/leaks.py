"""What looks like a secret is held back on arrival, before anybody can open it, until a curator releases or redacts it.

Nothing is altered: the bytes stay as they came until a curator has them deleted. What a journal says stands on the
pages themselves: there it is struck out (`struck`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.db import transaction
from django.db.models import F, Q

from benchsite.artifacts.models import Blob, BlobUse, Finding, StepIndex
from benchsite.artifacts.store import store
from benchsite.benches.models import Bench
from benchsite.curation.models import BlobDecision
from benchsite.runs.models import Run
from runner.digests import CHUNK
from runner.leaks import VERSION, Leak, find_leaks

from .curate import NotAllowed, may

AFTER = {
    BlobDecision.Verdict.RELEASE: Blob.State.PRESENT,
    BlobDecision.Verdict.HOLD: Blob.State.HELD,
    BlobDecision.Verdict.REDACT: Blob.State.REDACTED,
}
Scan = dict[str, list[Leak]]
PART = 2_000


def scan(digests: list[str]) -> Scan:
    """Look through those blobs of the store that were not looked through yet; to be done outside a transaction."""
    found: Scan = {}
    for part in parts(digests):
        done = set(Blob.objects.filter(digest__in=part, scanned=VERSION).values_list("digest", flat=True))
        for digest in part:
            if digest not in done and (leaks := _leaks(digest)) is not None:
                found[digest] = leaks
    return found


def hold(found: Scan) -> None:
    """Note what a scan found, within the transaction that made the rows: nobody opens a blob in between."""
    clean = [digest for digest, leaks in found.items() if not leaks]
    for part in parts(clean):
        Blob.objects.filter(digest__in=part).update(scanned=VERSION)
    for digest in found.keys() - set(clean):
        _hold(Blob.objects.select_for_update().get(digest=digest), found[digest])


def held_in(run: Run) -> Any:
    """Find the uses of blobs that wait for a curator, asked so that indexes have the few among a large run's many."""
    uses = BlobUse.objects.filter(run=run, bench=run.bench_id)
    return uses.exclude(blob__state="present").filter(blob__state="held")  # as BlobQuerySet.held says it


def held_of(run: Run) -> int:
    """Count the blobs of a run that wait for a curator."""
    return int(held_in(run).count())


def release(blob: Blob, *, by: Any, reason: str) -> None:
    """Show what was held back after all."""
    _decide(blob, BlobDecision.Verdict.RELEASE, by, reason)


def hold_again(blob: Blob, *, by: Any, reason: str) -> None:
    """Take a release back: nobody opens the bytes until a curator decides anew."""
    _decide(blob, BlobDecision.Verdict.HOLD, by, reason)


def undo(decision: BlobDecision, *, by: Any, reason: str) -> None:
    """Take a further decision that puts back what held before this one; deleted bytes do not come back."""
    blob = Blob.objects.filter(digest=decision.digest).first()
    if blob is None or decision.verdict == BlobDecision.Verdict.REDACT:
        raise NotAllowed(f"The bytes of blob {decision.digest[:12]}… are gone; that cannot be undone.")
    if BlobDecision.objects.filter(digest=decision.digest, pk__gt=decision.pk).exists():
        raise NotAllowed(f"'{decision.verdict}' was followed by another decision; only the newest can be undone.")
    back = hold_again if decision.verdict == BlobDecision.Verdict.RELEASE else release
    back(blob, by=by, reason=reason)


def redact(blob: Blob, *, by: Any, reason: str) -> None:
    """Delete bytes for good; the same bytes are never taken again. A run is made of its journal: that one stays."""
    needs = Run.objects.filter(Q(manifest=blob.digest) | Q(events=blob.digest)).first()
    if needs is not None:
        raise NotAllowed(
            f"The blob {blob.digest[:12]}… is the journal of run {needs.ulid}, which is made of it: "
            "leave it held back, or reject the run and erase it (`manage.py forget`)."
        )
    _decide(blob, BlobDecision.Verdict.REDACT, by, reason)
    StepIndex.objects.filter(blob=blob).delete()
    store().path(blob.digest).unlink(missing_ok=True)


def _decide(blob: Blob, verdict: BlobDecision.Verdict, by: Any, reason: str) -> None:
    may(by, reason.strip())
    with transaction.atomic():
        held = Blob.objects.select_for_update().get(pk=blob.pk)
        if verdict == BlobDecision.Verdict.HOLD and not (held.state == Blob.State.PRESENT and _released(held)):
            raise NotAllowed(
                f"The blob {held.digest[:12]}… is {held.state}; only what was released is held back again."
            )
        if verdict != BlobDecision.Verdict.HOLD and held.state != Blob.State.HELD:
            raise NotAllowed(
                f"The blob {held.digest[:12]}… is {held.state}; only what is held back waits for a verdict."
            )
        BlobDecision.objects.create(digest=held.digest, verdict=verdict, reason=reason.strip(), by=by)
        Blob.objects.filter(pk=held.pk).update(state=AFTER[verdict])
        runs = Run.objects.filter(pk__in=BlobUse.objects.filter(blob=held).values("run"))
        Bench.objects.filter(pk__in=runs.values("bench")).update(revision=F("revision") + 1)
        runs.update(revision=F("revision") + 1)


def _hold(blob: Blob, leaks: list[Leak]) -> None:
    """Hold a blob back; one that a curator has released before stays so."""
    blob.scanned = VERSION
    if blob.state == Blob.State.PRESENT and not _released(blob):
        blob.state = Blob.State.HELD
    blob.save(update_fields=["scanned", "state"])
    blob.findings.all().delete()
    Finding.objects.bulk_create(Finding(blob=blob, kind=k.kind[:100], line=k.line, shown=k.shown[:60]) for k in leaks)


def _released(blob: Blob) -> bool:
    newest = BlobDecision.objects.filter(digest=blob.digest).last()
    return newest is not None and newest.verdict == BlobDecision.Verdict.RELEASE


def _leaks(digest: str) -> list[Leak] | None:
    try:
        return find_leaks(_chunks(digest))
    except FileNotFoundError:
        return None


def _chunks(digest: str) -> Iterator[bytes]:
    with store().open(digest) as file:
        while chunk := file.read(CHUNK):
            yield chunk


def parts(digests: list[str]) -> Iterable[list[str]]:
    """Cut a list into pieces that one query can name."""
    return (digests[start : start + PART] for start in range(0, len(digests), PART))
