"""Keeping what a process wrote: known secrets are struck out, and nobody's output fills the store."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import chain

from runner.blobs import BlobStore
from runner.paths import StrPath
from runner.redaction import Redactor, chunks_of

LIMIT = 32 << 20


def store_text(blobs: BlobStore, text: str, redactor: Redactor) -> str:
    return blobs.put(redactor.text(text).encode("utf-8", "surrogatepass"))


def store_output(blobs: BlobStore, file: StrPath, redactor: Redactor) -> str | None:
    """Store a process's output, the middle left out when it is huge; None where there is none."""
    try:
        size = os.stat(file).st_size  # noqa: PTH116
    except FileNotFoundError:
        return None
    return blobs.put(redacted(file, size, LIMIT, redactor)) if size else None


def store_lines(blobs: BlobStore, lines: Iterable[bytes], redactor: Redactor) -> str | None:
    """Store what was written line by line; its middle is left out when it is huge, and is never held in memory."""
    head, lines = bytearray(), iter(lines)
    for line in lines:
        head += line
        if len(head) > LIMIT:
            every = chain((bytes(head),), lines)
            return blobs.put(_ends(redactor.stream(every) if redactor else every, LIMIT))
    return blobs.put(redactor.strike(bytes(head))) if head else None


def redacted(file: StrPath, size: int, limit: int, redactor: Redactor) -> bytes:
    """Read what is kept of a file. Where the middle is left out, no half of a secret may stand at the cut."""
    if size <= limit:
        return redactor.strike(bounded(file, size, limit))
    return _ends(redactor.stream(chunks_of(file)), limit) if redactor else bounded(file, size, limit)


def bounded(file: StrPath, size: int, limit: int = LIMIT) -> bytes:
    with open(file, "rb") as data:  # noqa: PTH123
        if size <= limit:
            return data.read(limit)
        head = data.read(limit // 2)
        data.seek(size - limit // 2)
        return head + _left_out(size - limit) + data.read(limit // 2)


def _ends(chunks: Iterable[bytes], limit: int) -> bytes:
    half, size = limit // 2, 0
    head, tail = bytearray(), bytearray()
    for chunk in chunks:
        size += len(chunk)
        room = half - len(head)
        head += chunk[:room]
        tail += chunk[room:]
        if len(tail) > 2 * half:
            del tail[: len(tail) - half]
    left_out = size - len(head) - min(half, len(tail))
    return bytes(head) + (_left_out(left_out) if left_out else b"") + bytes(tail[-half:])


def _left_out(count: int) -> bytes:
    return f"\n… {count:,} bytes left out …\n".encode()
