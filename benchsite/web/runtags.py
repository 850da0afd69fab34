"""The words of a run's page: its charts, and links to the trials behind what they show. Built in, as `tags` is."""

from __future__ import annotations

from typing import Any

from django import template
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from benchsite.readings import words
from benchsite.readings.distributions import Box, Categories, Panel
from benchsite.readings.progress import CellProgress
from benchsite.readings.shapes import Shape
from benchsite.readings.subjects import CellFacts
from benchsite.readings.trend import Line, Trend

from . import boxes, formats, links, marks, matrix, trends

register = template.Library()
register.filter("quantity", formats.quantity)
PLOTLY = "vendor/plotly-basic-4.1.1"


@register.simple_tag
def progress_bar(line: CellProgress) -> SafeString:
    counts = line.counts
    ended = [("scored", counts.scored), ("excluded", counts.excluded), ("broken", counts.errors)]
    parts = [*ended, ("live", line.running)]
    return marks.bar(parts, counts.planned, f"{line.done:,} of {counts.planned:,} done")


@register.simple_tag
def group_url(ulid: str, group: Any) -> str:
    return links.trials(ulid, **group.filters)


@register.simple_tag
def panel_url(ulid: str, panel: Panel, cell: CellFacts) -> str:
    return links.trials(ulid, cell=cell.key10, **panel.filters)


@register.simple_tag
def box_of(line: Box, panel: Panel) -> SafeString:
    return boxes.box(line.figures, panel.scale, boxes.box_name(line, panel))


@register.simple_tag
def shape_of(of: Shape) -> SafeString:
    top = max(of.bins, key=lambda each: each.many, default=None)
    low, high = (formats.quantity(value, of.panel.kind) for value in (top.lo, top.hi)) if top else ("", "")
    most = f": most trials, {top.many:,}, from {low} to {high}" if top else ""
    return boxes.shape(of, f"Shape of {of.panel.name}{most}")


@register.simple_tag
def shares(parts: Any, values: Any, name: str) -> SafeString:
    told = ", ".join(f"{part.value} {words.percent(part.share)}" for part in parts)
    return boxes.shares(parts, values, f"{name}: {told}")


@register.simple_tag
def share_cells(ulid: str, kinds: Categories, cell: CellFacts, parts: Any) -> SafeString:
    """How many trials had each category, each number a link to them."""
    many = {part.value: part.k for part in parts}
    made = []
    for value in kinds.values:
        href = links.trials(ulid, cell=cell.key10, measure=kinds.measure.key, seen="observed", value=value)
        shown = format_html('<a href="{}">{}</a>', href, f"{many[value]:,}") if value in many else "0"
        made.append((shown,))
    return format_html_join("", '<td class="num">{}</td>', made)


@register.simple_tag
def history_square(place: tuple[Any, str, Any], slug: str) -> SafeString:
    """A subject's k/n in one run, coloured by its rate, and a link to these trials."""
    run, key10, counts = place
    n = counts.n()
    if not n:
        return format_html('<span class="none">–</span>')
    href = links.trials(run.ulid, cell=key10, scenario=slug, counted="scored/1")
    colour = matrix.step(counts.rate())
    return format_html('<a class="pad {}" href="{}">{}</a>', colour, href, words.ratio(counts.k, n))


@register.simple_tag
def trend_line(line: Line, of: Trend) -> SafeString:
    return trends.chart(line, of)


@register.simple_tag
def plotly_url() -> str:
    return static(f"{PLOTLY}/plotly-basic.min.js")


@register.simple_tag
def plotly_sheet() -> str:
    return static(f"{PLOTLY}/plotly.css")


@register.simple_tag
def plots_script() -> SafeString:
    return format_html('<script src="{}" type="module"></script>', static("js/plots.js"))
