"""JSON in one canonical form, so that two files differ only where their values do."""

from __future__ import annotations

import json

SUFFIXES = (".json", ".ipynb", ".geojson", ".webmanifest", ".avsc", ".har")


def is_json(path: str) -> bool:
    return path.lower().endswith(SUFFIXES)


def pretty(data: bytes) -> bytes | None:
    """Write JSON with sorted keys, a value a line; None where it is none."""
    try:
        value = json.loads(data)
        text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
    # half a surrogate pair is legal in JSON's escapes and in no encoding
    return text.encode("utf-8", "backslashreplace") + b"\n"
