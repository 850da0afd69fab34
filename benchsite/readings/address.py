"""A file's address in a query: the raw bytes of its path, base64url without padding; readable text is decoration."""

from __future__ import annotations

import base64
import binascii
import os

from runner.errors import PathRefused
from runner.paths import check_relative


def to_address(path: str) -> str:
    return base64.urlsafe_b64encode(os.fsencode(path)).decode().rstrip("=")


def from_address(text: str) -> str | None:
    """Give the path; None where the address is none, or names a path that no world can hold."""
    try:
        raw = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), b"-_", validate=True)
        path = check_relative(os.fsdecode(raw))
    except (binascii.Error, ValueError, PathRefused):
        return None
    return path if to_address(path) == text else None
