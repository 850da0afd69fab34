"""Whether a value fits the measure it was observed for. Never raises: what does not fit is stored with its reason."""

from __future__ import annotations

import enum
import math
import sys
from typing import Any

from runner.replay import Value
from runner.schema import LARGEST_NUMBER, MeasureSpec

LONGEST_TEXT = 100_000


def judge(measure: MeasureSpec | None, key: str, value: Any) -> tuple[Value, str]:
    """Give (value to store, "") when it fits, else (what can be stored of it, why it is invalid)."""
    plain = _unwrap(value)
    if measure is None:
        return _storable(plain), f"the schema declares no measure {key!r}"
    reason = _JUDGES[measure.type](measure, plain)
    if reason:
        return _storable(plain), reason
    return float(plain) if measure.type == "float" else plain, ""


def _unwrap(value: Any) -> Any:
    """Take numpy scalars and enum members for what they stand for; numpy is never imported for it."""
    if isinstance(value, enum.Enum):
        value = value.value
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return value.item()
    return value


def _bool(measure: MeasureSpec, value: Any) -> str:
    return "" if isinstance(value, bool) else _wrong("a bool", value)


def _int(measure: MeasureSpec, value: Any) -> str:
    if type(value) is bool or not isinstance(value, int):
        return _wrong("an int", value)
    return "" if abs(value) < 2**63 else "the number is too large to keep (64 bits)"


def _float(measure: MeasureSpec, value: Any) -> str:
    if type(value) is bool or not isinstance(value, int | float):
        return _wrong("a float", value)
    try:
        number = float(value)
    except OverflowError:
        return "the number is too large for a float"
    if not math.isfinite(number):
        return f"{number} is not a finite number"
    return "" if abs(number) <= LARGEST_NUMBER else f"the number is larger than {LARGEST_NUMBER:g}, beyond any figure"


def _category(measure: MeasureSpec, value: Any) -> str:
    if type(value) in (str, int, bool) and str(value) in measure.categories:
        return "" if isinstance(value, str) else _wrong("text", value)
    return f"{value!r:.80} is none of {', '.join(measure.categories)}"


def _text(measure: MeasureSpec, value: Any) -> str:
    if not isinstance(value, str):
        return _wrong("text", value)
    return "" if len(value) <= LONGEST_TEXT else f"the text is longer than {LONGEST_TEXT} characters"


def _wrong(wanted: str, value: Any) -> str:
    return f"expected {wanted}, got {type(value).__name__}" if value is not None else f"expected {wanted}, got None"


def _storable(value: Any) -> Value:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else str(value)[:80]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return _described(value)[:1000]


def _described(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return repr(value)
    except Exception:  # a scenario's own class may raise anything; observing must not
        return f"<{type(value).__name__}>"


_JUDGES = {"bool": _bool, "int": _int, "float": _float, "category": _category, "text": _text}
