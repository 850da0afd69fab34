"""A journal that was sent is judged whole before a row is made of it."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings

from benchsite.artifacts.store import store
from benchsite.jobs.models import Upload
from runner.errors import JournalError, RunnerError
from runner.exchange.checked import refuse_crowded
from runner.exchange.references import references
from runner.manifest import Manifest
from runner.replay import Attempt

from .ingest import BATCH, Progress, read_manifest, readable
from .placed import Placed
from .sources import Source
from .struck import Struck

LARGEST_MANIFEST = 64 << 20


class TooLarge(RunnerError):
    """More than this site takes."""


def judge(upload: Upload, source: Source, tell: Progress) -> Manifest:
    """A run may only speak of bytes it brought: a digest of somebody else's would open their blob."""
    if source.manifest.stat().st_size > LARGEST_MANIFEST:
        raise JournalError(f"The manifest is larger than {LARGEST_MANIFEST} bytes.")
    data = source.manifest_bytes()
    refuse_crowded(data, "The manifest")
    manifest = read_manifest(data)
    if (manifest.run, manifest.bench) != (upload.run, upload.bench):
        raise JournalError("The manifest names another run or bench than the upload announced.")
    announced = set(upload.digests)
    if sum(store().size(digest) for digest in announced) > settings.UPLOAD_TOTAL:
        raise TooLarge(f"The upload is larger than the {settings.UPLOAD_TOTAL} bytes this site takes.")
    with source.open_events() as file, readable():
        folding = Placed(Struck(file), 0, manifest.run, len(manifest.rows))
        for digest in references(manifest, _folded(folding, tell), source.blobs):
            if digest not in announced:
                raise JournalError(f"The run speaks of the blob {digest[:12]}…, which the upload did not announce.")
    if folding.state == "running":
        raise JournalError("The run has not ended; send it when it has.")
    return manifest


def _folded(folding: Placed, tell: Progress) -> Iterable[Attempt]:
    """Give the ended attempts, then those still open: a lost attempt's evidence is evidence too."""
    size = folding.file.seek(0, 2)
    for batch in folding.batches(BATCH):
        yield from batch.ended
        tell(batch.place, size)
    yield from (*folding.left, *folding.unended())
