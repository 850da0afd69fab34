"""Which blobs a run needs, the nested ones too: the sides of change records and the files of stored trees."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from runner.blobs import BlobStore, is_digest
from runner.collected import digests_of
from runner.errors import BundleError
from runner.manifest import Manifest
from runner.replay import Attempt

from .checked import refuse_crowded

LARGEST_RECORD = 256 << 20
"""A change record or tree over this many bytes is refused before it is parsed."""


def references(manifest: Manifest, attempts: Iterable[Attempt], blobs: BlobStore) -> Iterator[str]:
    """Name every digest the run needs, each once. Raises BundleError where a record is missing or can't be read."""
    seen: set[str] = set()
    parsed: set[tuple[str, str]] = set()
    for digest, record in _all(manifest, attempts):
        named = [_checked(digest)]
        if record and (digest, record) not in parsed:
            parsed.add((digest, record))
            named.extend(nested_references(blobs, digest, record))
        for one in named:
            if one not in seen:
                seen.add(one)
                yield one


def _all(manifest: Manifest, attempts: Iterable[Attempt]) -> Iterator[tuple[str, str]]:
    """Pair each direct digest with the kind of record behind it: "changes", "entries" (a tree) or "" (plain bytes)."""
    if manifest.template:
        yield manifest.template, "entries"
    yield from ((digest, "") for digest in manifest.blobs() if digest != manifest.template)
    for attempt in attempts:
        records = {record.blob: "changes" for record in attempt.changes.values()}
        records.update({record: "changes" for request in attempt.requests for record in request.records()})
        if attempt.kept:
            records[attempt.kept.blob] = "entries"
        records.update(dict.fromkeys(digests_of(attempt.collected), "entries"))
        yield from records.items()
        yield from ((digest, "") for digest in attempt.blobs() if digest not in records)


def nested_references(blobs: BlobStore, digest: str, record: str) -> Iterator[str]:
    """Name the stored bytes a change record ("changes") or a tree ("entries") speaks of."""
    for row in _rows(blobs, digest, record):
        sides = (row.get("before"), row.get("after")) if record == "changes" else (row,)
        for side in sides:
            if isinstance(side, dict) and side.get("stored") and side.get("sha256"):
                yield _checked(side["sha256"])


def _rows(blobs: BlobStore, digest: str, record: str) -> Iterator[dict[str, Any]]:
    if not blobs.has(digest):
        raise BundleError(f"The blob {digest[:12]}… that the run needs is missing from {blobs.root}.")
    if blobs.size(digest) > LARGEST_RECORD:
        raise BundleError(f"The record {digest[:12]}… is larger than {LARGEST_RECORD} bytes.")
    data = blobs.read(digest)
    refuse_crowded(data, f"The record {digest[:12]}…")
    try:
        rows = json.loads(data)[record]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BundleError(f"The record {digest[:12]}… cannot be read: it is no list of {record}.") from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BundleError(f"The record {digest[:12]}… cannot be read: its {record} are not a list of objects.")
    yield from rows


def _checked(digest: Any) -> str:
    if not (isinstance(digest, str) and is_digest(digest)):
        raise BundleError(f"{str(digest)[:80]!r} stands where a sha256 digest should.")
    return digest
