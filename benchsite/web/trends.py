"""A subject from run to run as SVG: dot and whisker for each run it took part in, a line where the bench changed."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString

from benchsite.readings import words
from benchsite.readings.trend import Line, Point, Trend

HEIGHT, PAD = 72, 8


def chart(line: Line, of: Trend) -> SafeString:
    """Per cents across, units down: the figure stretches with its panel, its marks do not."""
    parts = [_turn(place, len(of.runs)) for place in of.turns]
    before: tuple[str, str] | None = None
    for place, point in enumerate(line.points):
        if place in of.turns or point.macro is None:
            before = None
        if point.macro is None:
            continue
        at = (_across(place, len(of.runs)), _down(point.macro, of.scale))
        if before:
            parts.append(format_html('<line class="path" x1="{}" y1="{}" x2="{}" y2="{}"/>', *before, *at))
        parts.append(_mark(point, at, of.scale))
        before = at
    told = "; ".join(f"run {p.run.label} {_said(p, of)}" for p in line.told) or "no figure yet"
    name = f"{line.cell.title}: {told}"
    return format_html(
        '<svg class="trend" height="{}" role="img" aria-label="{}">{}</svg>', HEIGHT, name, SafeString("".join(parts))
    )


def _said(point: Point, of: Trend) -> str:
    kind = of.measure.type
    interval = words.bounds(point.lo, point.hi, rate=of.measure.rate)
    return f"{words.figure(point.macro, kind)} {interval}".strip()


def _mark(point: Point, at: tuple[str, str], scale: tuple[float, float]) -> SafeString:
    whisker = ""
    if point.lo is not None and point.hi is not None:
        low, high = _down(point.lo, scale), _down(point.hi, scale)
        whisker = format_html('<line class="rule" x1="{}" x2="{}" y1="{}" y2="{}"/>', at[0], at[0], low, high)
    dot = "dot hollow" if point.n < 10 else "dot"
    return format_html('{}<circle class="{}" cx="{}" cy="{}" r="3.5"/>', whisker, dot, *at)


def _turn(place: int, many: int) -> SafeString:
    at = f"{(place / many) * 100:.4g}%"
    return format_html('<line class="turn" x1="{}" x2="{}" y1="0" y2="{}"/>', at, at, HEIGHT)


def _across(place: int, many: int) -> str:
    return f"{(place + 0.5) / many * 100:.4g}%"


def _down(value: float, scale: tuple[float, float]) -> str:
    low, high = scale
    share = (min(max(value, low), high) - low) / (high - low)
    return f"{HEIGHT - PAD - share * (HEIGHT - 2 * PAD):.4g}"
