"""A comparison in words and signed numbers: the same sentence on a page, in a report and in a pull request."""

from __future__ import annotations

import math

from .objective import target_of
from .paired import UNTOLD, Paired
from .power import Needed

MINUS = "\N{MINUS SIGN}"


def amount(value: float, *, rate: bool, unit: str = "") -> str:
    """Write a size: `4.1 points` of a rate, `2.5 files` of a number."""
    if rate:
        return f"{value * 100:.1f} points"
    return f"{_plain(value)} {unit}".strip()


def signed(value: float, *, rate: bool, unit: str = "") -> str:
    """Write a difference with its sign; one that rounds to nothing has none."""
    text = amount(abs(value), rate=rate, unit=unit)
    nothing = float(text.split()[0].replace(",", "")) == 0
    return text if nothing else f"{MINUS if value < 0 else '+'}{text}"


def span(lo: float | None, hi: float | None, *, rate: bool) -> str:
    """Write an interval of a difference: `[+0.6, +7.5]`; nothing where there is none."""
    if lo is None or hi is None:
        return ""
    return f"[{_end(lo, rate)}, {_end(hi, rate)}]"


def chance(p: float | None) -> str:
    """Write a p value: `0.04`, `<0.001`, or a dash."""
    if p is None:
        return "\N{EN DASH}"
    return "<0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def told(base: str, other: str, measure: str, made: Paired, *, rate: bool, unit: str = "", objective: str = "") -> str:
    """Tell a paired difference in one sentence."""
    if made.difference is None:
        return f"{other} and {base} have no case in common that was counted on both sides."
    what = f"distance of {measure} from {target_of(objective):g}" if target_of(objective) is not None else measure
    size = f"{signed(made.difference, rate=rate, unit=unit)} {span(made.lo, made.hi, rate=rate)}".strip()
    over = f"{made.clusters:,} {made.unit if made.clusters != 1 else made.unit[:-1]}"
    if made.verdict in ("better", "worse"):
        return f"{other} is {made.verdict} than {base}: {what} {size} over {over}."
    if made.verdict in ("higher", "lower"):
        return f"{other} has a {made.verdict} {measure} than {base}: {size} over {over}."
    head = f"{UNTOLD.capitalize()} {other} from {base}: {what} {size} over {over}"
    rest = made.words.removeprefix(UNTOLD).removeprefix(": ")
    if made.detectable is not None:
        seen = amount(made.detectable, rate=rate, unit=unit)
        rest = f"{rest}; " * bool(rest) + f"a true difference under {seen} would likely be missed"
    return f"{head}; {rest}." if rest else f"{head}."


def told_needed(found: Needed, unit: str, *, rate: bool, of: str = "") -> str:
    """Say what it would take to see a wanted difference with 80 % chance."""
    wanted = amount(found.wanted, rate=rate, unit=of)
    ways = [
        f"about {found.trials:,} {'trial' if found.trials == 1 else 'trials'} of each case" if found.trials else "",
        f"about {found.clusters:,} {unit} with as many trials as here" if found.clusters else "",
    ]
    if not any(ways):
        return f"What it would take to see {wanted} cannot be told from these trials."
    only = "" if found.trials else " More trials of the same cases would not do, or cannot be judged."
    return f"To see {wanted} with 80 % chance takes {' or '.join(filter(None, ways))}.{only}"


def _end(value: float, rate: bool) -> str:
    return signed(value, rate=rate).removesuffix(" points")


def _plain(value: float) -> str:
    """Three significant digits, whole numbers whole, thousands parted."""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"
