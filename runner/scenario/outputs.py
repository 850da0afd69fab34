"""Keeping what a process wrote: known secret values are struck out, and nobody's output fills the store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from runner.blobs import BlobStore

LIMIT = 32 << 20
STRUCK = b"[secret]"
SHORTEST_SECRET = 4
"""A shorter value would strike out half of every text; it protects nothing either."""


def secrets_of(names: Iterable[str], axes: Mapping[str, Any]) -> tuple[str, ...]:
    values = (str(axes[name]) for name in names if name in axes)
    return tuple(value for value in values if len(value) >= SHORTEST_SECRET)


def struck(data: bytes, secrets: tuple[str, ...]) -> bytes:
    for secret in secrets:
        data = data.replace(secret.encode("utf-8", "surrogateescape"), STRUCK)
    return data


def store_text(blobs: BlobStore, text: str, secrets: tuple[str, ...]) -> str:
    return blobs.put(struck(text.encode("utf-8", "surrogatepass"), secrets))


def store_output(blobs: BlobStore, file: Path, secrets: tuple[str, ...]) -> str | None:
    """Store a process's output, the middle left out when it is huge; None where there is none."""
    try:
        size = file.stat().st_size
    except FileNotFoundError:
        return None
    if not size:
        return None
    return blobs.put(struck(bounded(file, size), secrets))


def bounded(file: Path, size: int, limit: int = LIMIT) -> bytes:
    with file.open("rb") as data:
        if size <= limit:
            return data.read(limit)
        head = data.read(limit // 2)
        data.seek(size - limit // 2)
        return head + f"\n… {size - limit:,} bytes left out …\n".encode() + data.read(limit // 2)
