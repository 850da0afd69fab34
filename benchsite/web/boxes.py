"""Boxes and stacked shares as SVG, one a row of a table, on a scale its panel shares."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from benchsite.readings.distributions import Box, Panel
from benchsite.readings.shapes import Shape
from runner.statistics.spread import Share

from .formats import count, quantity
from .marks import position

HIGH = 28
"""Of the highest bar, in pixels."""
HUES = 8
"""So many categories are told apart by colour; their names stand beside them in any case."""


def box_name(line: Box, panel: Panel) -> str:
    of = line.figures
    least, middle, most = (quantity(value, panel.kind) for value in (of.min, of.median, of.max))
    return f"{line.cell.title}: {least} to {most}, median {middle}"


def box(figures: Any, scale: tuple[float, float], name: str) -> SafeString:
    """A line from the least to the most, a box over the middle half, a tick at the median.

    Only the name can hold what needs escaping; pages have hundreds of these, so they are plain strings.
    """
    least, q1, median, q3, most = (
        position(value, scale) for value in (figures.min, figures.q1, figures.median, figures.q3, figures.max)
    )
    width = f"{float(q3[:-1]) - float(q1[:-1]):.4g}%"
    return SafeString(
        f'<svg class="whisker box" role="img" aria-label="{escape(name)}">'
        f'<line class="rule" x1="{least}" x2="{most}" y1="10" y2="10"/>'
        f'<rect x="{q1}" width="{width}" y="5" height="10"/>'
        f'<line class="tick" x1="{median}" x2="{median}" y1="3" y2="17"/></svg>'
    )


def shape(of: Shape, name: str) -> SafeString:
    """A bar a bin, as high as it has trials; none is so low that it cannot be seen."""
    kind, wide = of.panel.kind, 100 / max(1, len(of.bins))
    drawn = []
    for place, each in enumerate(of.bins):
        if each.many:
            high = max(1.0, each.many / of.most * HIGH)
            told = f"{count(each.many, 'trial')} from {quantity(each.lo, kind)} to {quantity(each.hi, kind)}"
            drawn.append(
                f'<rect x="{place * wide:.4g}%" width="{wide * 0.9:.4g}%" y="{HIGH - high:.4g}" height="{high:.4g}">'
                f"<title>{escape(told)}</title></rect>"
            )
    bars = SafeString("".join(drawn))
    return format_html('<svg class="shape" height="{}" role="img" aria-label="{}">{}</svg>', HIGH, name, bars)


def shares(parts: Sequence[Share], values: Sequence[str], name: str) -> SafeString:
    """Each category's share of the row, in the order of `values`."""
    by_value = {part.value: part.share for part in parts}
    drawn, at = [], 0.0
    for place, value in enumerate(values):
        width = by_value.get(value, 0.0) * 100
        if width:
            hue = f"s{place % HUES}"
            drawn.append(
                format_html('<rect class="{}" x="{}%" width="{}%" height="14"/>', hue, f"{at:.4g}", f"{width:.4g}")
            )
        at += width
    return format_html('<svg class="shares" role="img" aria-label="{}">{}</svg>', name, SafeString("".join(drawn)))
