"""JSON in one canonical form, so that two files differ only where their values do."""

from __future__ import annotations

import json

from .limits import MAX_BYTES

SUFFIXES = (".json", ".ipynb", ".geojson", ".webmanifest", ".avsc", ".har")
ENCODER = json.JSONEncoder(indent=2, sort_keys=True, ensure_ascii=False)


def is_json(path: str) -> bool:
    return path.lower().endswith(SUFFIXES)


def pretty(data: bytes) -> bytes | None:
    """Write JSON with sorted keys, a value a line; None where it is none, or too large when written out."""
    parts, room = [], MAX_BYTES
    try:
        for part in ENCODER.iterencode(json.loads(data)):
            parts.append(part)
            room -= len(part)
            if room < 0:  # a deeply nested value is mostly indentation, and grows a thousandfold
                return None
    except (ValueError, RecursionError):
        return None
    text = "".join(parts)
    # half a surrogate pair is legal in JSON's escapes and in no encoding
    return text.encode("utf-8", "backslashreplace") + b"\n"
