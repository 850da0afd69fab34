"""Numbers as the site writes them. A missing number is a dash, never 0."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

NONE = "–"
HUGE = 1e15
STATE_WORDS: dict[str, str] = {
    "solved": "solved",
    "unsolved": "unsolved",
    "measured": "measured",
    "scored": "scored",
    "excluded": "excluded",
    "run_error": "run error",
    "eval_error": "evaluation error",
    "running": "running",
    "queued": "queued",
    "cancelled": "cancelled",
    "skipped": "skipped",
    "not_run": "not run",
    "withdrawn": "withdrawn",
}

SPENT_WORDS: dict[str, str] = {"cost": "cost", "seconds": "time", "tokens": "tokens"}


def odd(value: float | None) -> str:
    """Say in a few characters what no honest figure is: unknown, infinite, or of hundreds of digits."""
    if value is None or not math.isfinite(value):
        return NONE
    return f"{value:.2g}" if abs(value) >= HUGE else ""


def percent(share: float | None) -> str:
    """`72 %`; what is not quite none or all never reads as 0 % or 100 %."""
    if share is None or odd(share):
        return odd(share)
    if 0 < share < 0.005:
        return "<1 %"
    if 0.995 <= share < 1:
        return ">99 %"
    return f"{_half_up(share * 100)} %"


def bounds(lo: float | None, hi: float | None, *, rate: bool = True, places: int | None = None) -> str:
    """`[64–79]`, or nothing where there is no interval."""
    if lo is None or hi is None or odd(lo) or odd(hi):
        return ""
    if places is not None and not rate:
        return f"[{fixed(lo, places)}–{fixed(hi, places)}]"
    return f"[{_half_up(lo * 100)}–{_half_up(hi * 100)}]" if rate else f"[{number(lo)}–{number(hi)}]"


def number(value: float | None) -> str:
    """At most three significant digits, whole numbers whole, thousands parted."""
    if value is None or odd(value):
        return odd(value)
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def decimals(values: Iterable[float | None]) -> int:
    """How many decimals a column needs: three significant digits for its largest, none where all are whole."""
    known = [abs(value) for value in values if value is not None and abs(value) < HUGE]
    if not known or all(value == int(value) for value in known) or max(known) >= 1000:
        return 0
    return max(0, 2 - math.floor(math.log10(max(known))))


def fixed(value: float | None, places: int) -> str:
    """A number of a column whose numbers share their decimals."""
    if value is not None and abs(value) < HUGE:  # a page has thousands
        return f"{value:,.{places}f}"
    return odd(value)


def figure(value: float | None, kind: str) -> str:
    return percent(value) if kind == "bool" else number(value)


def ratio(k: float | None, n: int) -> str:
    return f"{number(k or 0)}/{n:,}" if n else NONE


def whole(value: int | None) -> str:
    """Thousands parted; a missing count is a dash."""
    return NONE if value is None else f"{value:,}"


def cost(dollars: float | None) -> str:
    """`$0.41`; under ten cents three significant digits."""
    if dollars is None or odd(dollars):
        return odd(dollars)
    if dollars == 0 or abs(dollars) >= 0.1:
        return f"${dollars:,.2f}"
    return f"${dollars:.{2 - math.floor(math.log10(abs(dollars)))}f}"


def duration(seconds: float | None) -> str:
    """`3 m 30 s`, `0.8 s`, `1 h 04 m`; days from the third on, `5 d 02 h`."""
    if seconds is None or odd(seconds):
        return odd(seconds)
    if seconds < 9.95:
        return f"{seconds:.1f} s" if seconds >= 0.05 or seconds == 0 else f"{seconds * 1000:.0f} ms"
    whole = _half_up(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} m {whole % 60:02} s"
    if whole < 72 * 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02} m"
    return f"{whole // 86_400:,} d {whole % 86_400 // 3600:02} h"


def size(count: int | None) -> str:
    if count is None:
        return NONE
    amount, unit = float(count), "B"
    for bigger in ("kB", "MB", "GB", "TB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, bigger
    return f"{count} B" if unit == "B" else f"{amount:.1f} {unit}"


def ranks(lo: int | None, hi: int | None) -> str:
    if lo is None or hi is None:
        return NONE
    return str(lo) if lo == hi else f"{lo}–{hi}"


def ordinal(place: int) -> str:
    """`1st`, `2nd`, `11th`, `21st`."""
    tens, ones = divmod(place % 100, 10)
    return f"{place}{'th' if tens == 1 else ('th', 'st', 'nd', 'rd')[ones] if ones < 4 else 'th'}"


def count(many: int, one: str, several: str = "") -> str:
    """`1 trial`, `12 trials`."""
    return f"{many:,} {one if many == 1 else several or one + 's'}"


def held(many: int) -> str:
    told = count(many, "of its files looks as if it held a secret", "of its files look as if they held a secret")
    return f"{told}: nobody can open what is held back until a curator decides."


def listed(words: list[str], limit: int = 3, of: str = "") -> str:
    """`a, b and c`; past the limit `a, b, c and 4 more` (of what, where that is not plain)."""
    if len(words) > limit:
        words = [*words[:limit], f"{len(words) - limit} more {of}".strip()]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def natural(name: str) -> list[tuple[int, str]]:
    """Sort key in which `task_3` comes before `task_10`."""
    parts = re.split(r"([0-9]+)", name)
    return [(int(part), "") if part.isdecimal() and part.isascii() else (0, part) for part in parts]


def _half_up(value: float) -> int:
    return math.floor(value + 0.5)
