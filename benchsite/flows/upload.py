"""Runs sent from elsewhere: announced, received blob by blob (or as one bundle), committed. They wait for a curator."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from benchsite.accounts.access import group_ids, is_curator, join
from benchsite.artifacts.models import Blob, BlobUse
from benchsite.artifacts.store import store
from benchsite.benches.models import Bench
from benchsite.jobs.models import Sent, Upload
from benchsite.runs.models import Run
from runner.blobs import is_digest
from runner.errors import BundleError, JournalError, RunnerError
from runner.exchange.bundle import Bundle, Limits, open_bundle
from runner.journal import EVENTS, MANIFEST
from runner.manifest import Manifest

from . import clean, leaks, projected
from .folding import Busy
from .forget import spare
from .ingest import Conflict, Progress, take
from .judged import TooLarge, judge
from .sources import Source
from .undone import undone

Tell = Callable[[str, int, int], None]
"""Told (what is done, how much of it, of how much)."""
UNPACKING, CHECKING, WRITING = "unpacking files", "checking the journal", "writing trials"


class Unfit(RunnerError):
    """What was sent cannot be taken as it is."""


class NotThere(RunnerError):
    """A bench or upload that is absent, or not for this account: the two are told apart nowhere."""


def announce(
    user: Any, run: str, bench: str, manifest: str, events: str, digests: list[str]
) -> tuple[Upload, list[str]]:
    """Begin an upload; gives it and the digests this account still has to send."""
    _check(run, digests, manifest, events)
    _may_send(user, bench)
    upload = Upload(run=run, bench=bench, manifest=manifest, events=events, digests=sorted(set(digests)), by=user)
    _refuse_other_bytes(upload)
    _refuse_redacted(digests)
    spare(upload.digests)
    upload.save()
    return upload, missing(upload)


def missing(upload: Upload) -> list[str]:
    """What is neither in this bench nor sent by this account: naming a digest proves and grants nothing."""
    owner, _, name = upload.bench.partition("/")
    had: set[str] = set()
    for part in leaks.parts(upload.digests):
        sent = Sent.objects.filter(by=upload.by, digest__in=part).values_list("digest", flat=True)
        used = BlobUse.objects.filter(bench__owner=owner, bench__name=name, blob__digest__in=part)
        had.update(sent)
        had.update(used.filter(blob__state=Blob.State.PRESENT).values_list("blob__digest", flat=True))
    return [digest for digest in upload.digests if digest not in had or not store().has(digest)]


def open_upload(key: str, user: Any) -> Upload:
    found = Upload.objects.filter(key=key, by=user).first()
    if found is None:
        raise NotThere("There is no such upload of this account.")
    return found


def receive(upload: Upload, digest: str, stream: IO[bytes]) -> None:
    """Take one blob. It is read and hashed in full, whatever the site has already."""
    if digest not in upload.digests:
        raise NotThere(f"The upload did not announce a blob {clean.text(digest, 70)}.")
    _refuse_redacted([digest])
    try:
        _, size = store().put_stream(stream, expected=digest, limit=settings.UPLOAD_BLOB)
    except RunnerError as error:
        kind = TooLarge if "larger" in str(error) else Unfit
        raise kind(str(error)) from error
    _note_sent(upload.by, [(digest, size)])


def committed(upload: Upload) -> Run | None:
    """Give the run of these bytes, where this account committed them before."""
    done = alike(upload).filter(state=Upload.State.COMMITTED).exists()
    same = Run.objects.filter(ulid=upload.run, manifest=upload.manifest, events=upload.events)
    return same.first() if done else None


def alike(upload: Upload) -> Any:
    """Find the uploads of the same bytes by the same account."""
    return Upload.objects.filter(run=upload.run, manifest=upload.manifest, events=upload.events, by=upload.by)


def check(upload: Upload) -> None:
    """Refuse at once what need not be read to be refused."""
    spare(upload.digests)
    lacking = missing(upload)
    if lacking:
        raise Unfit(
            f"Announced and not sent: {len(lacking):,} of {len(upload.digests):,} blobs, {lacking[0][:12]}… first."
        )
    _refuse_other_bytes(upload)
    _may_send(upload.by, upload.bench)


def commit(upload: Upload, tell: Tell = lambda stage, done, total: None) -> Run:
    """Turn a complete upload into a submitted run. The same bytes again change nothing."""
    found = committed(upload)
    if found is not None:
        return found
    check(upload)
    try:
        run = _take(upload, tell)
    except Busy as error:
        raise Conflict(str(error)) from error
    except (JournalError, BundleError) as error:
        Upload.objects.filter(pk=upload.pk).update(state=Upload.State.FAILED, message=clean.text(error, 500))
        raise error if isinstance(error, Conflict) else Unfit(str(error)) from error
    alike(upload).filter(Q(pk=upload.pk) | Q(state=Upload.State.TAKING)).update(
        state=Upload.State.COMMITTED, message=""
    )
    return run


def accept_file(path: Path, user: Any, tell: Tell = lambda stage, done, total: None) -> Run:
    """Take a bundle that is a file here already; `tell` hears how far it is."""
    with tempfile.TemporaryDirectory(dir=settings.MEDIA_ROOT, prefix="bundle-") as folder:
        with _opened(path) as bundle:
            upload = _unpacked(bundle, user, Path(folder) / "run", partial(tell, UNPACKING))
        return commit(upload, tell)


def look_into(path: Path, user: Any) -> int:
    """Refuse at once what is no bundle, or of a bench this account may not send to; gives its bytes unpacked."""
    with _opened(path) as bundle:
        _may_send(user, bundle.manifest.bench)
        return bundle.size


@contextmanager
def _opened(path: Path) -> Iterator[Bundle]:
    limits = Limits(entries=settings.UPLOAD_FILES, size=settings.UPLOAD_TOTAL, blob=settings.UPLOAD_BLOB)
    try:
        with open_bundle(path, limits) as bundle:
            yield bundle
    except BundleError as error:
        raise Unfit(str(error).replace(path.name, "The bundle", 1)) from error


def save(file: Any, path: Path) -> int:
    """Write what a form sent to a file; gives its size."""
    size = 0
    with path.open("wb") as out:
        for chunk in file.chunks() if hasattr(file, "chunks") else iter(lambda: file.read(1 << 20), b""):
            size += len(chunk)
            if size > settings.UPLOAD_TOTAL:
                raise TooLarge(f"The bundle is larger than the {settings.UPLOAD_TOTAL} bytes this site takes.")
            out.write(chunk)
    return size


def _unpacked(bundle: Bundle, user: Any, folder: Path, tell: Progress) -> Upload:
    """Judge who may send this before anything of it is kept."""
    _may_send(user, bundle.manifest.bench)
    _refuse_redacted(list(bundle.digests))
    spare([*bundle.digests])
    bundle.unpack(folder, store(), tell)
    manifest, events = store().put_file(folder / MANIFEST), store().put_file(folder / EVENTS)
    digests = sorted({*bundle.digests, manifest, events})
    _check(bundle.run, digests, manifest, events)
    bench = bundle.manifest.bench
    upload = Upload(run=bundle.run, bench=bench, manifest=manifest, events=events, digests=digests, by=user)
    _refuse_other_bytes(upload)
    _note_sent(user, [(digest, store().size(digest)) for digest in digests])
    upload.save()
    return upload


def _check(run: str, digests: list[str], manifest: str, events: str) -> None:
    if not projected.ULID.fullmatch(run):
        raise Unfit(f"The run id {clean.text(run, 40)!r} is not a ULID.")
    if len(digests) > settings.UPLOAD_FILES:
        raise TooLarge(f"The upload has {len(digests)} blobs; {settings.UPLOAD_FILES} are allowed.")
    odd = [digest for digest in digests if not is_digest(digest)]
    if odd:
        raise Unfit(f"{clean.text(odd[0], 70)!r} is not a sha256 digest (64 lower-case hex digits).")
    if not {manifest, events} <= set(digests):
        raise Unfit("The digests of manifest and events must be among the digests.")


def _may_send(user: Any, bench: str) -> None:
    """To a bench one sees, to one of one's own groups, or to an owner nobody has yet."""
    try:
        owner, _ = projected.split_name(bench)
    except JournalError as error:
        raise Unfit(str(error)) from error
    if is_curator(user) or Bench.objects.visible_to(user).named(bench).exists():
        return
    group = projected.Group.objects.filter(name=owner).first()
    taken = Bench.objects.of_owner(owner).exists()
    if (group is None and not taken) or (group is not None and group.pk in group_ids(user)):
        return
    raise NotThere(f"There is no bench {bench} that this account may send runs to.")


def _refuse_other_bytes(upload: Upload) -> None:
    found = Run.objects.filter(ulid=upload.run).first()
    same = found is None or (found.manifest, found.events) == (upload.manifest, upload.events)
    if not same and not _half_taken(found, upload):
        raise Conflict(f"The run {upload.run} is here already with other bytes; a run's id is never used twice.")


def _half_taken(run: Run | None, upload: Upload) -> bool:
    """Tell whether a run is what somebody left who was killed while these same bytes were taken in."""
    if run is None or run.events or (run.manifest, run.by_id) != (upload.manifest, upload.by_id):
        return False
    return alike(upload).filter(state=Upload.State.TAKING).exists()


def _refuse_redacted(digests: list[str]) -> None:
    for part in leaks.parts(digests):
        gone = Blob.objects.filter(digest__in=part, state=Blob.State.REDACTED).first()
        if gone is not None:
            raise Unfit(f"The blob {gone.digest[:12]}… was redacted on this site and is not taken again.")


def _note_sent(user: Any, blobs: list[tuple[str, int]]) -> None:
    """A blob row from the first moment, so that what is never committed can be collected."""
    now = timezone.now()
    rows = [Blob(digest=digest, size=size, created_at=now) for digest, size in blobs]
    Blob.objects.bulk_create(rows, ignore_conflicts=True, batch_size=2000)
    back = Blob.objects.filter(state=Blob.State.MISSING)
    for part in leaks.parts([digest for digest, _ in blobs]):
        for blob in back.filter(digest__in=part):
            blob.state, blob.size = Blob.State.PRESENT, store().size(blob.digest)
            found = leaks.scan([blob.digest])
            with transaction.atomic():
                blob.save(update_fields=["state", "size"])
                leaks.hold(found)
    sent = [Sent(by=user, digest=digest) for digest, _ in blobs]
    Sent.objects.bulk_create(sent, ignore_conflicts=True, batch_size=2000)


def _take(upload: Upload, tell: Tell) -> Run:
    """Turn what was sent into rows, whole or not at all."""
    source = Source.of_store(upload.manifest, upload.events)
    manifest = judge(upload, source, partial(tell, CHECKING))
    run = Run.objects.filter(ulid=upload.run).first()
    there = run is not None and not _half_taken(run, upload)
    with undone(upload.run, upload.bench, there=there):
        Upload.objects.filter(pk=upload.pk).update(state=Upload.State.TAKING)
        _make_bench(manifest, upload.by)
        return take(source, by=upload.by, visibility=Bench.Visibility.PRIVATE, on_progress=partial(tell, WRITING))


def _make_bench(manifest: Manifest, user: Any) -> None:
    """Make a bench nobody had yet, private to its owner's group, with who sent it in that group from the start."""
    with transaction.atomic():
        if not Bench.objects.named(manifest.bench).exists():
            bench = projected.bench_of(manifest, Bench.Visibility.PRIVATE)
            if bench.group is not None:
                join(user, bench.group)
