"""The one road from a journal to rows: a streaming fold, written in batches, idempotent and resumable.

`Run.journal_bytes` is the place before which every attempt has ended: a later ingest of a run that still goes on, or
one that was killed, starts there. Attempts that are met again are known by (trial, number) and left alone.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, DataError, IntegrityError, transaction

from benchsite.artifacts.models import BlobUse
from benchsite.artifacts.store import store
from benchsite.curation.models import Decision, RunLabel
from benchsite.runs.models import Run
from runner.digests import sha256
from runner.errors import DiskFull, JournalError, is_disk_full
from runner.leaks import strike
from runner.manifest import Manifest

from . import clean, projected
from .annotate import bring_tags
from .carry import Carrier, of_manifest
from .curate import decide
from .folding import Busy, Pass
from .forget import spare
from .sources import Source
from .struck import Struck
from .undone import undone

log = logging.getLogger(__name__)
Progress = Callable[[int, int], None]
"""Told (bytes folded, bytes of the journal) after every batch."""
BATCH = 1000
MEETINGS = 5
"""Times that two processes may make the same row before one of them gives up."""


FULL = re.compile(r"disk is full|No space left|disk full", re.IGNORECASE)
"""How databases say so."""


class NoRoom(DiskFull):
    """What was written before is whole; whoever takes the same run in again goes on from there."""

    def __init__(self) -> None:
        super().__init__(settings.DATA)
        self.args = (
            f"The disk of this site is full ({settings.DATA}, or the database's): make room and send it again.",
        )


class Conflict(JournalError):
    """Other bytes under the id of a run that is here already."""


def ingest(
    run_dir: Path,
    *,
    by: Any = None,
    verdict: str = Run.Verdict.SUBMITTED,
    visibility: str = "public",
    keep_events: bool = True,
    on_progress: Progress | None = None,
) -> Run:
    """Bring a run directory up to date in the database; safe to repeat, and while the run still goes on.

    `verdict="accepted"` is for what an operator vouches for. `keep_events=False` leaves the journal's copy for the
    last call: a live run is ingested many times.
    """
    source = Source.of_folder(run_dir)
    return take(source, by=by, verdict=verdict, visibility=visibility, keep_events=keep_events, on_progress=on_progress)


def take(
    source: Source,
    *,
    by: Any = None,
    verdict: str = Run.Verdict.SUBMITTED,
    visibility: str = "public",
    keep_events: bool = True,
    on_progress: Progress | None = None,
    kept: dict[str, Any] | None = None,
) -> Run:
    """Ingest from any source. `kept` holds columns of a run that a rebuild must bring back as they were."""
    data = source.manifest_bytes()
    manifest = read_manifest(data)
    there = bool(kept) or Run.objects.filter(ulid=manifest.run).exists()
    with with_room(), undone(manifest.run, manifest.bench, there=there), readable():
        run, carrier = _open(manifest, data, source, by, visibility, kept or {})
        keep = partial(_keep_journal, source, carrier) if keep_events else None
        with source.open_events() as file:
            Pass(run, manifest, carrier, Struck(file), keep).go(BATCH, on_progress or _silent)
    run = Run.objects.select_related("bench", "version").get(pk=run.pk)
    if verdict == Run.Verdict.ACCEPTED and run.verdict == Run.Verdict.SUBMITTED:
        decide(run, Decision.Verdict.ACCEPT, by=by, reason="Ingested by an operator of this site.")
    return run


def read_manifest(data: bytes) -> Manifest:
    """Read it as its rows will be: without what looks like a secret."""
    try:
        manifest = Manifest.from_json(clean.parsed(strike(data)[0]))
    except (ValueError, RecursionError, AttributeError, TypeError) as error:
        raise JournalError(f"The manifest is not valid JSON of a run: {error}.") from error
    projected.check(manifest)
    return manifest


def _open(
    manifest: Manifest, data: bytes, source: Source, by: Any, visibility: str, kept: dict[str, Any]
) -> tuple[Run, Carrier]:
    """Find the run, or make it with everything its manifest declares."""
    digest = sha256(data)
    run = _found(manifest, digest)
    if run is None:
        spare([digest])  # of a run that was forgotten, as may be
        store().put(data)
        run = _made(manifest, digest, by, visibility, kept)
    carrier = Carrier(run, source.blobs)
    if not BlobUse.objects.filter(run=run, blob__digest=digest).exists():  # new, or its maker was killed before this
        found = carrier.fetch(of_manifest(manifest))
        with transaction.atomic():
            carrier.record([digest, *found])
    return run, carrier


def _found(manifest: Manifest, digest: str) -> Run | None:
    run = Run.objects.select_related("bench", "version").filter(ulid=manifest.run).first()
    if run is not None and run.manifest != digest:
        raise Conflict(f"The run {manifest.run} is here already with another manifest; a run's id is never used twice.")
    return run


def _made(manifest: Manifest, digest: str, by: Any, visibility: str, kept: dict[str, Any]) -> Run:
    """Make the run's row; where another process made it, or took its label, in the same moment, look again."""
    for _ in range(MEETINGS):
        try:
            with transaction.atomic():
                return _make(manifest, digest, by, visibility, kept)
        except IntegrityError:
            if (run := _found(manifest, digest)) is not None:
                return run
    raise Busy(f"The bench {manifest.bench} takes in too many runs at once; try again.")


def _make(manifest: Manifest, digest: str, by: Any, visibility: str, kept: dict[str, Any]) -> Run:
    bench = projected.bench_of(manifest, visibility)
    declared = projected.declare(manifest, bench)
    run = Run.objects.create(**_columns(manifest, declared, digest, by), **kept)
    projected.make_cells(manifest, run, bench)
    label = _label(run)
    Run.objects.filter(pk=run.pk).update(label=label, **({"created_at": kept["created_at"]} if kept else {}))
    if not kept:  # a rebuild leaves the tags as people have them by now
        bring_tags(run, manifest.tags)
    return run


def _columns(manifest: Manifest, declared: projected.Declared, digest: str, by: Any) -> dict[str, Any]:
    return {
        "ulid": manifest.run,
        "bench": declared.bench,
        "version": declared.version,
        "cohort": manifest.cohort,
        "origin": clean.text(manifest.origin, 20),
        "by": by,
        "counts": {"planned": len(manifest.rows)},
        "manifest": digest,
        "isolation": clean.text(manifest.isolation, 12),
        "parent": clean.text(manifest.parent or "", 26),
        "regrades": clean.text(manifest.regrades or "", 26),
    }


def _label(run: Run) -> int:
    """Give the run its number within the bench; a rebuild finds the one it had."""
    found = RunLabel.objects.filter(run=run.ulid).first()
    if found is None:
        bench = str(run.bench)
        last = RunLabel.objects.filter(bench=bench).order_by("-number").first()
        found = RunLabel.objects.create(run=run.ulid, bench=bench, number=last.number + 1 if last else 1)
    return found.number


def _keep_journal(source: Source, carrier: Carrier) -> str:
    """Copy the journal, as it stands, into the site's store: a rebuild folds it again."""
    with source.open_events() as file:
        digest, _ = carrier.target.put_stream(file)
        spare([digest])
        if not carrier.target.has(digest):  # a sweep took what a forgotten run had left
            file.seek(0)
            carrier.target.put_stream(file)
    return digest


@contextmanager
def readable() -> Iterator[None]:
    """Say in one sentence that the shape of a record is none we know, wherever that shows."""
    try:
        yield
    except IntegrityError as error:  # rows it had just found or made are of nothing any more
        log.warning("Rows were taken away from an ingest", exc_info=True)
        raise JournalError("Another process rebuilt or forgot runs of this bench meanwhile; try again.") from error
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, DataError) as error:
        log.warning("A journal cannot be read", exc_info=True)
        raise JournalError(f"The journal cannot be read ({type(error).__name__}: {_line(error)}).") from error


def _line(error: Exception) -> str:
    return clean.text(str(error).partition("\n")[0], 200)


@contextmanager
def with_room() -> Iterator[None]:
    """Say in one sentence that a disk is full, ours or the database's."""
    try:
        yield
    except (OSError, DatabaseError) as error:
        if is_disk_full(error) or FULL.search(str(error)):
            raise NoRoom() from error
        raise


def _silent(done: int, total: int) -> None:
    return None
