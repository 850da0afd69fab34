"""The blobs one page reads: their states are asked once, and obeyed for every single one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, TypeVar, cast

from django.conf import settings

from benchsite.artifacts.store import BlobRefused, open_blob, read_blob, states_of, store
from benchsite.diffs.cache import Cache

JSON_LIMIT = 64_000_000
KEPT, KEPT_BYTES = 6, 8_000_000
"""Records kept parsed in this process's memory, never on a disk; larger ones are read for each page."""
T = TypeVar("T")
_kept: dict[tuple[str, Any], Any] = {}
_keeping = Lock()


class Shelf:
    """What a page of a run may open: with `bench`, only blobs that bench's runs brought.

    `why` keeps the sentence of each blob that was refused; `spent` counts bytes read, for pages with a budget.
    """

    def __init__(self, digests: Iterable[str | None] = (), bench: int | None = None) -> None:
        self.bench = bench
        self._states: dict[str, str] = {}
        self.why: dict[str, str] = {}
        self.spent = 0
        self.expect(digests)

    def expect(self, digests: Iterable[str | None]) -> None:
        """Ask the states of blobs that will be read: one query for all that are new."""
        new = {digest for digest in digests if digest and digest not in self._states}
        if new:
            self._states.update(states_of(new, self.bench))

    def open(self, digest: str) -> BinaryIO | None:
        try:
            return open_blob(digest, self.state(digest))
        except BlobRefused as error:
            self.why[digest] = str(error)
            return None

    def read(self, digest: str | None, limit: int | None = None) -> bytes | None:
        """Read a blob; None where it must not be shown, is not there, or is larger than `limit`."""
        if not digest:
            return None
        try:
            return read_blob(digest, limit, self.state(digest))
        except BlobRefused as error:
            self.why[digest] = str(error)
            return None

    def head(self, digest: str | None, limit: int) -> bytes | None:
        file = self.open(digest) if digest else None
        if file is None:
            return None
        with file:
            data = file.read(limit)
        self.spent += len(data)
        return data

    def json(self, digest: str | None) -> Any:
        """Read a JSON blob; None where it is not to be had or no JSON."""
        data = self.read(digest, JSON_LIMIT)
        try:
            return None if data is None else json.loads(data)
        except (ValueError, RecursionError):
            if digest:
                self.why[digest] = f"The record {digest[:8]}… is not JSON."
            return None

    def parsed(self, digest: str, read: Callable[[Any], T]) -> T | None:
        """Read a record that several pages ask for and keep it in memory; its state is obeyed all the same.

        None where `json` gives None; what `read` raises is raised.
        """
        key = (digest, read)
        known = _kept.get(key)
        if known is not None and self.readable(digest):
            return cast(T, known)
        value = self.json(digest)
        if value is None:
            return None
        made = read(value)
        if store().size(digest) <= KEPT_BYTES:
            with _keeping:
                while len(_kept) >= KEPT:
                    _kept.pop(next(iter(_kept)))
                _kept[key] = made
        return made

    def state(self, digest: str) -> str:
        self.expect([digest])
        return self._states[digest]

    def readable(self, digest: str) -> bool:
        file = self.open(digest)
        if file is not None:
            file.close()
        return file is not None


@cache
def diff_cache() -> Cache:
    return Cache(Path(settings.DATA) / "cache" / "diffs")
