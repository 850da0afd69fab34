"""Counting added and deleted lines; simple edits without loading libgit2, which costs more than they do."""

from __future__ import annotations

from runner.blobs import BlobStore

from .changes import Side

SNIFFED = 8000
"""Bytes in which a NUL makes a file binary, as in git."""

Counted = tuple[int | None, int | None]


def is_binary(data: bytes) -> bool:
    return b"\0" in data[:SNIFFED]


def count_lines(before: Side | None, after: Side | None, blobs: BlobStore) -> Counted:
    """Count between two sides; (None, None) where either is no text that we hold."""
    old, new = _bytes(before, blobs), _bytes(after, blobs)
    if old is None or new is None or is_binary(old) or is_binary(new):
        return None, None
    return count_between(old, new)


def count_between(old: bytes, new: bytes) -> tuple[int, int]:
    """Give (added, deleted). Once equal ends are cut off, one side is mostly empty, or both are one line."""
    was, now = _split(old), _split(new)
    start, end = 0, 0
    shorter = min(len(was), len(now))
    while start < shorter and was[start] == now[start]:
        start += 1
    while end < shorter - start and was[-1 - end] == now[-1 - end]:
        end += 1
    deleted, added = len(was) - start - end, len(now) - start - end
    if not added or not deleted or added == deleted == 1:
        return added, deleted
    from .patch import text_patch

    _, added, deleted = text_patch(old, new)
    return added, deleted


def _split(data: bytes) -> list[bytes]:
    """Split at newlines alone, as git does."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _bytes(side: Side | None, blobs: BlobStore) -> bytes | None:
    if side is None:
        return b""
    if side.type != "file" or not side.stored or side.sha256 is None:
        return None
    return blobs.read(side.sha256)
