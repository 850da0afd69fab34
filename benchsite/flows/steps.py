"""Indexes of long transcripts, made when they arrive, so that the first who opens one waits no longer than the next."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from benchsite.artifacts.models import Blob, StepIndex
from benchsite.artifacts.store import store
from benchsite.diffs import stepindex

LONG = 1_000_000
"""Bytes from which on a transcript is indexed on arrival; a shorter one is read in less time than a page takes."""


def index_long(digests: Iterable[str]) -> None:
    """Index those that are long and have no index of today's format; one at a time, so that memory stays flat."""
    long = {digest for digest in digests if _size(digest) >= LONG}
    if not long:
        return
    done = StepIndex.objects.filter(format=stepindex.FORMAT)
    for blob in Blob.objects.filter(digest__in=long).exclude(pk__in=done.values("blob")):
        with contextlib.suppress(FileNotFoundError):  # another process may take away what no run uses
            _index(blob)


def _index(blob: Blob) -> None:
    with store().open(blob.digest) as file:
        places = stepindex.places(file)
        file.seek(0)
        made = {"format": stepindex.FORMAT, "places": places, "keys": stepindex.keys(file)}
    StepIndex.objects.update_or_create(blob=blob, defaults=made)


def _size(digest: str) -> int:
    try:
        return store().size(digest)
    except FileNotFoundError:
        return 0
