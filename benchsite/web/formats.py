"""How values look in HTML: rates with interval and k/n, digests to copy, times, chips."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from html import escape
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from benchsite.diffs import dangers
from benchsite.readings.counts import Counts
from benchsite.readings.home import Coverage
from benchsite.readings.subjects import CellFacts
from benchsite.readings.words import (
    NONE,
    STATE_WORDS,
    bounds,
    cost,
    count,
    duration,
    figure,
    number,
    percent,
    ratio,
    size,
    whole,
)

from . import marks

__all__ = ["bounds", "cost", "count", "duration", "figure", "number", "percent", "ratio", "size"]


TAKEN = {"cost": cost, "seconds": duration, "tokens": whole}


def taken(counts: Counts, name: str) -> str:
    """What all trials took; a lower bound where scored ones do not tell theirs."""
    total, known = getattr(counts, name), getattr(counts, f"{name}_n")
    if total is None or known >= counts.scored:
        return TAKEN[name](total)
    said = f"{known:,} trials tell theirs, {counts.scored:,} were scored"
    return format_html('<span title="{}">≥&nbsp;{}</span>', said, TAKEN[name](total))


def digest(value: str, *, copy: bool = True) -> SafeString:
    """Eight digits to read, the whole to copy."""
    if not value:
        return SafeString(NONE)
    button = copy_button(value, "Copy digest") if copy else ""
    return format_html('<span class="digest"><span title="{}">{}</span>{}</span>', value, value[:8], button)


def copy_button(value: str, label: str) -> SafeString:
    return format_html(
        '<button class="copy needs-js" type="button" data-copy="{}" aria-label="{}" title="{}">'
        '<svg class="icon" aria-hidden="true"><use href="#i-copy"/></svg></button>',
        value,
        label,
        label,
    )


def moment(value: datetime | None) -> SafeString:
    """Absolute in the page, which may be a reader's copy; script makes it relative, the title keeps it."""
    if value is None:
        return SafeString(NONE)
    at = value.astimezone(UTC)
    stamp, shown = at.strftime("%Y-%m-%dT%H:%M:%SZ"), f"{at.day} {at:%b %Y, %H:%M}"
    return format_html(
        '<time datetime="{}" title="{} UTC" data-relative>{}</time>', stamp, f"{at:%Y-%m-%d %H:%M:%S}", shown
    )


def axes(cell: CellFacts, *, every: bool = False) -> SafeString:
    """The axis values that tell a cell from the others; all of them with their names when asked."""
    if every:
        named = format_html_join("", '<span class="axis"><i>{}=</i>{}</span>', cell.axes)
        return format_html('<span class="axes">{}</span>', named or cell.name)
    values = "".join([_axis(name, value) for name, value in cell.shown])
    return SafeString(f'<span class="axes">{values or escape(cell.title)}</span>')


@lru_cache(maxsize=1024)
def _axis(name: str, value: str) -> str:
    shown = escape(value)
    return f'<span class="axis" title="{escape(name)}={shown}">{shown}</span>'


def coverage(of: Coverage) -> SafeString:
    words = coverage_words(of)
    parts = [("scored", of.scored), ("excluded", of.excluded), ("broken", of.errors), ("live", of.live)]
    return marks.bar(parts, of.planned, words)


def coverage_words(of: Coverage) -> str:
    said = [f"{of.scored:,} of {count(of.planned, 'trial')} scored"]
    for many, word in ((of.errors, "in error"), (of.excluded, STATE_WORDS["excluded"]), (of.live, "to come")):
        if many:
            said.append(f"{many:,} {word}")
    if of.rest > 0:
        said.append(f"{of.rest:,} not run")
    return ", ".join(said)


def quantity(value: float | None, kind: str) -> str:
    """A number as its kind is written: cost, seconds, tokens, a rate, or plain."""
    written = {"cost": cost, "seconds": duration, "bool": percent}.get(kind, number)
    return written(value)


def span(lo: float | None, hi: float | None, kind: str) -> str:
    """`[$0.21–$0.34]`, or nothing where there is no interval."""
    return "" if lo is None or hi is None else f"[{quantity(lo, kind)}–{quantity(hi, kind)}]"


FSI, PDI = "\u2068", "\u2069"


def foreign(text: Any, most: int = 0) -> SafeString:
    """Text that came from outside, kept from reordering what stands around it; dangerous characters show by name."""
    cut = str(text or "")
    cut = cut[: most - 1] + "…" if most and len(cut) > most else cut
    return format_html("<bdi>{}</bdi>", marks.pills(dangers.split(cut)))


def plainly(text: str) -> str:
    """The same for where no markup can stand, such as a title."""
    shown = "".join(part if isinstance(part, str) else f"[{part.label}]" for part in dangers.split(text))
    return f"{FSI}{shown}{PDI}" if text else ""


def strip_title(mark: Any) -> str:
    word = STATE_WORDS.get(mark.status, mark.status)
    of = f", case {plainly(mark.case)}" if mark.case else ""
    why = f": {plainly(mark.reason[:120])}" if mark.reason else ""
    return f"trial {mark.number}{of}: {word}{why}"
