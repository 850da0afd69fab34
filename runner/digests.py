"""Canonical JSON, digests and the names made from them."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

CHUNK = 1 << 20


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical(value: Any) -> bytes:
    """Give the one byte string that stands for a JSON value: sorted keys, no spaces, UTF-8, no NaN.

    Lone surrogates (an upload's JSON may hold them) pass as their three bytes: a digest exists for every value.
    """
    return _CANONICAL.encode(value).encode("utf-8", "surrogatepass")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def digest(value: Any) -> str:
    """Hash a JSON value by its canonical form."""
    return sha256(canonical(value))


def sha256_file(path: Path | str) -> str:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123  hot path: Path.open costs as much as a small file
        return hashlib.file_digest(file, "sha256").hexdigest()


def key10(cell_id: str) -> str:
    """Give a cell's address: cell ids carry slashes and cannot be path parts of a URL."""
    return sha256(cell_id.encode())[:10]


def cell_id(axes: dict[str, str]) -> str:
    """Name a cell by its values, never by position: axes sorted, percent-encoded, over 64 bytes shortened."""
    if not axes:
        return "default"
    text = ",".join(f"{quote(name, safe='.')}={quote(value, safe='')}" for name, value in sorted(axes.items()))
    if len(text) <= 64:
        return text
    return f"{text[:48]}~{sha256(text.encode())[:12]}"


def slug(name: str) -> str:
    """Make a scenario id fit for one part of a URL; ids that already are stay as they are."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:80]
    return safe if safe == name else f"{safe}~{sha256(name.encode())[:6]}"
