"""The one place where text from outside is made fit for the database; the originals stay in the blobs."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from typing import Any

from pydantic_core import from_json, to_json

from runner.errors import JournalError

BAD = re.compile("[\0\ud800-\udfff]")
ODD = re.compile(r"[^a-z0-9_.-]+")
INSTEAD = "\ufffd"
NUL = "\\u0000"
MAX_INT = 2**48
"""More than any honest count, and small enough that sums still fit a bigint column."""
DEEPEST = 200
"""How deep JSON may be nested: what walks it level by level must not run out of stack on any page."""
TOO_DEEP = "(nested too deeply to be shown)"


def text(value: Any, limit: int | None = None) -> str:
    """Replace NUL and lone surrogates; what is too long for its column ends with an ellipsis."""
    if not value and (value is None or value == ""):
        return ""
    found = value if isinstance(value, str) else str(value)
    if not found.isascii() or "\0" in found:  # ASCII is told by a flag of the string; most text ends here
        found = BAD.sub(INSTEAD, found)
    return found if limit is None or len(found) <= limit else found[: limit - 1] + "…"


def name(value: Any, limit: int, what: str) -> str:
    """Pass an identifier as it is; one that is odd or too long is refused, since cutting it could make two the same."""
    if not isinstance(value, str) or BAD.search(value):
        raise JournalError(f"The {what} {text(value, 60)!r} holds characters that no database keeps.")
    if len(value) > limit:
        raise JournalError(f"The {what} {value[:60]!r}… is longer than {limit} characters.")
    return value


def parsed(data: bytes) -> Any:
    """Read JSON fast; what only the standard library reads (lone surrogates) is left to it. Too deep is ValueError."""
    try:
        return from_json(data, cache_strings="keys")
    except ValueError:  # this reader takes no more than DEEPEST levels either
        value = json.loads(data)
    if _too_deep(value):
        raise ValueError(f"it is nested more than {DEEPEST} deep")
    return value


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        inner = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, (dict, list))]
        level = [one for group in inner for one in group]
    return any(isinstance(one, (dict, list)) for one in level)


def word(value: Any, limit: int) -> str:
    """Make a name that any address can hold of what should be one, as the codes of flags are."""
    return ODD.sub("_", text(value).lower())[:limit] or "_"


def tree(value: Any, depth: int = 0) -> Any:
    """Clean a JSON value throughout; NaN and the infinities become null, what was stored before DEEPEST a few words."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, float):
        return number(value)
    if not isinstance(value, (dict, list, tuple)):
        return value
    if depth >= DEEPEST:
        return TOO_DEEP
    if isinstance(value, dict):
        return {text(key): tree(inner, depth + 1) for key, inner in value.items()}
    return [tree(inner, depth + 1) for inner in value]


def dumped(value: Any) -> str:
    """Write a JSON value as text that both databases take; it is cleaned only where its text shows a need."""
    if not value and isinstance(value, (list, dict)):
        return "[]" if isinstance(value, list) else "{}"
    try:
        found = to_json(value, inf_nan_mode="null").decode()
    except ValueError:  # a lone surrogate
        found = NUL
    return json.dumps(tree(value), allow_nan=False) if NUL in found else found


def dirty(value: Any) -> bool:
    """Tell whether cleaning would change a value, so that its row can be flagged."""
    if isinstance(value, str):
        return (not value.isascii() or "\0" in value) and BAD.search(value) is not None
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(dirty(key) or dirty(inner) for key, inner in value.items())
    return isinstance(value, (list, tuple)) and any(map(dirty, value))


def number(value: Any) -> float | None:
    """Pass a finite number as a float; everything else is unknown."""
    if value is None or isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def amount(value: Any) -> float | None:
    """Pass a believable sum of money or of time; everything else is unknown, and could not be added up."""
    found = number(value)
    return found if found is not None and abs(found) <= MAX_INT else None


def whole(value: Any) -> int | None:
    """Pass a believable whole number; everything else is unknown."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if abs(value) <= MAX_INT else None


def moment(value: Any) -> datetime | None:
    """Read a time; one without a zone is taken as UTC, one that cannot be read is unknown."""
    try:
        found = datetime.fromisoformat(value)
        if found.tzinfo is UTC:
            return found
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return None
