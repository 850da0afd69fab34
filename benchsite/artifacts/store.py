"""The one door to bytes: every reader, patch, zip, search and diff opens blobs here, and their state is obeyed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.db.models import Exists, OuterRef

from runner.blobs import BlobStore
from runner.errors import RunnerError

from .models import Blob, BlobUse

WORDS = {
    Blob.State.HELD: "is held back until a curator decides: it may hold a secret",
    Blob.State.REDACTED: "was redacted",
    Blob.State.MISSING: "was never sent",
}


class BlobRefused(RunnerError):
    """A blob that is held, redacted, missing or larger than asked for. `state` says which."""

    def __init__(self, digest: str, state: str, sentence: str) -> None:
        self.digest, self.state = digest, state
        super().__init__(sentence)


@lru_cache
def _store(root: Path) -> BlobStore:
    return BlobStore(root)


def store() -> BlobStore:
    return _store(Path(settings.BLOBS))


def state_of(digest: str) -> str:
    """Give a blob's state; one nobody recorded is missing."""
    found = Blob.objects.filter(digest=digest).values_list("state", flat=True).first()
    return str(found or Blob.State.MISSING)


def states_of(digests: Iterable[str], bench: int | None = None) -> dict[str, str]:
    """Give the states of many blobs in one query, for pages that read many; unknown ones are missing.

    With `bench`, so are blobs that no run of that bench uses: a record that names a stranger's digest opens nothing.
    """
    asked = set(digests)
    blobs = Blob.objects.filter(digest__in=asked)
    if bench is not None:
        blobs = blobs.filter(Exists(BlobUse.objects.filter(blob=OuterRef("pk"), bench=bench)))
    known = dict(blobs.values_list("digest", "state"))
    return {digest: str(known.get(digest, Blob.State.MISSING)) for digest in asked}


def open_blob(digest: str, state: str | None = None) -> BinaryIO:
    """Open a blob that may be shown; `state`, where `states_of` has just told it, saves a query."""
    state = state or state_of(digest)
    if state != Blob.State.PRESENT:
        raise BlobRefused(digest, state, f"The blob {digest[:8]}… {WORDS[Blob.State(state)]}.")
    try:
        return store().open(digest)
    except FileNotFoundError as error:
        raise BlobRefused(digest, "missing", f"The bytes of blob {digest[:8]}… are not in the store.") from error


def read_blob(digest: str, limit: int | None = None, state: str | None = None) -> bytes:
    """Read a blob whole; one larger than `limit` bytes is refused, never cut in silence."""
    with open_blob(digest, state) as file:
        data = file.read() if limit is None else file.read(limit + 1)
    if limit is not None and len(data) > limit:
        raise BlobRefused(digest, "large", f"The blob {digest[:8]}… is larger than {limit} bytes.")
    return data


def read_head(digest: str, limit: int) -> bytes:
    """Read the first `limit` bytes, for views that say they show a part."""
    with open_blob(digest) as file:
        return file.read(limit)
