"""Status marks and figures as SVG: a shape and a word for each state, dot and whisker, coverage bars."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from html import escape
from typing import Any, Literal

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from benchsite.diffs.dangers import Pill
from benchsite.readings.words import STATE_WORDS

TICK = '<path class="cutline" d="m3.4 6.2 1.9 1.9 3.4-3.9"/>'
CROSS = '<path class="cutline" d="m4 4 4 4m0-4L4 8"/>'
SHAPES: dict[str, str] = {
    "solved": f'<circle cx="6" cy="6" r="5.6"/>{TICK}',
    "unsolved": f'<rect x=".8" y=".8" width="10.4" height="10.4" rx="1"/>{CROSS}',
    "measured": '<circle class="line" cx="6" cy="6" r="4.8"/><circle cx="6" cy="6" r="2"/>',
    "scored": '<circle class="line" cx="6" cy="6" r="4.8"/><circle cx="6" cy="6" r="2"/>',
    "run_error": '<path d="M6 .5 11.8 11.200H.2Z"/><path class="cutline" d="M6 4.500v3M6 9.300v.1"/>',
    "eval_error": '<path d="M6 11.5.2.8h11.600Z"/><path class="cutline" d="M6 2.700v3M6 7.700v.1"/>',
    "running": '<circle class="line" cx="6" cy="6" r="4.8"/><path d="M6 1.200a4.8 4.8 0 0 1 0 9.600Z"/>',
    "queued": '<circle class="line" cx="6" cy="6" r="4.8"/>',
    "excluded": '<circle class="line" cx="6" cy="6" r="4.8"/><path class="line" d="m2.7 9.3 6.6-6.6"/>',
    "withdrawn": '<rect class="line" x="1.2" y="1.2" width="9.6" height="9.6"/><path class="line" d="m1.5 10.5 9-9"/>',
    "skipped": '<path class="line" d="M1.5 3.5 5 6 1.5 8.500M6.5 3.5 10 6 6.5 8.5"/>',
    "cancelled": '<path class="line" d="m2.5 2.5 7 7m0-7-7 7"/>',
    "not_run": '<path class="line" d="M2 6h8"/>',
}
"""Drawn in 12 units. Colour comes from the tone's class; the shape alone tells the status apart."""
TONES = frozenset({"solved", "unsolved", "run_error", "eval_error", "running", "measured"})


def _tone(status: str) -> str:
    return f" tone-{status}" if status in TONES else ""


@lru_cache(maxsize=64)
def shape(status: str) -> SafeString:
    """The mark alone, for where the word stands beside it or in a title."""
    inner = mark_safe(SHAPES.get(status, SHAPES["not_run"]))
    return format_html('<svg class="mark{}" viewBox="0 0 12 12" aria-hidden="true">{}</svg>', _tone(status), inner)


@lru_cache(maxsize=64)
def chip(status: str) -> SafeString:
    word = STATE_WORDS.get(status, status)
    return format_html('<span class="chip{}">{}{}</span>', _tone(status), shape(status), word)


@lru_cache(maxsize=4096)
def position(value: float, scale: tuple[float, float]) -> str:
    """Where a value stands between the scale's ends. Per cents, so that a figure stretches and its dot does not."""
    low, high = scale
    return f"{(min(max(value, low), high) - low) / (high - low) * 100:.4g}%"


def whisker(
    value: float | None,
    lo: float | None,
    hi: float | None,
    scale: tuple[float, float],
    *,
    hollow: bool,
    name: str,
    kind: Literal["", "best"] = "",
) -> SafeString:
    """Dot and whisker on a shared scale (its rails are drawn by the style sheet); no figure is no dot, not one at 0.

    Only the name can hold what needs escaping; pages have hundreds of these, so they are plain strings.
    """
    drawn = f'<svg class="whisker {kind}" role="img" aria-label="{escape(name)}">'
    if lo is not None and hi is not None:
        a, b = position(lo, scale), position(hi, scale)
        drawn += (
            f'<line class="rule" x1="{a}" x2="{b}" y1="10" y2="10"/>'
            f'<line class="rule" x1="{a}" x2="{a}" y1="6.5" y2="13.5"/>'
            f'<line class="rule" x1="{b}" x2="{b}" y1="6.5" y2="13.5"/>'
        )
    if value is not None:
        dot = "dot hollow" if hollow else "dot"
        drawn += f'<circle class="{dot}" cx="{position(value, scale)}" cy="10" r="4"/>'
    return SafeString(f"{drawn}</svg>")


def axis(labels: tuple[str, str, str]) -> SafeString:
    """The scale's ends and middle, for the head of a column of whiskers."""
    places = (("0%", "start"), ("50%", "middle"), ("100%", "end"))
    ticks = ((at, anchor, label) for (at, anchor), label in zip(places, labels, strict=True))
    drawn = format_html_join("", '<text x="{}" y="14" text-anchor="{}">{}</text>', ticks)
    said = f"drawn on a scale from {labels[0]} to {labels[-1]}"
    return format_html(
        '<span class="visually-hidden">{}</span><svg class="whisker axis" aria-hidden="true">{}</svg>', said, drawn
    )


def bar(parts: list[tuple[str, int]], planned: int, words: str) -> SafeString:
    """A coverage bar: parts in order on a rail of what was planned; the smallest part is still to be seen."""
    made, at = [], 0.0
    for kind, many in parts:
        width = many / planned * 100 if planned else 0
        if many:
            place, wide = f"{at:.4g}", f"{max(width, 1.5):.4g}"
            made.append(format_html('<rect class="{}" x="{}%" width="{}%" height="8"/>', kind, place, wide))
        at += width
    return format_html(
        '<svg class="bar" role="img" aria-label="{}"><rect class="rail" width="100%" height="8"/>{}</svg>',
        words,
        SafeString("".join(made)),
    )


def pills(parts: Iterable[str | Pill]) -> SafeString:
    """Write a text whose dangerous characters are shown by name. No template does: its last line end would show."""
    return format_html_join("", "{}", ((_pill(part),) for part in parts))


def stretches(lines: Iterable[Any]) -> SafeString:
    """Write text of a terminal or a transcript: stretches with classes, pills, and what was found marked."""
    return format_html_join("", "{}", ((_stretch(line),) for line in lines))


def _stretch(line: Any) -> str:
    inner = _pill(line.content)
    if line.found:
        return format_html('<mark class="{}">{}</mark>', line.classes, inner)
    return format_html('<span class="{}">{}</span>', line.classes, inner) if line.classes else inner


def _pill(part: str | Pill) -> str:
    if isinstance(part, str):
        return part
    return format_html('<span class="pill" title="{}">{}</span>', part.title, part.label)
