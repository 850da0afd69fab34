"""The templates' words; built in, so no template loads them. Each is one function of formats or marks."""

from __future__ import annotations

from functools import partial
from html import escape
from typing import Any

from django import template
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from benchsite.readings import words
from benchsite.readings.question import Question
from benchsite.readings.search import Hit
from benchsite.readings.strips import Mark, Strip

from . import formats, links, marks, matrix, source, turned
from .markdown import markdown

register = template.Library()

for name, function in {
    "percent": words.percent,
    "number": words.number,
    "whole": words.whole,
    "cost": words.cost,
    "duration": words.duration,
    "size": words.size,
    "chip": marks.chip,
    "shape": marks.shape,
    "digest": formats.digest,
    "moment": formats.moment,
    "taken": formats.taken,
    "coverage": formats.coverage,
    "coverage_words": formats.coverage_words,
    "axes": formats.axes,
    "pills": marks.pills,
    "stretches": marks.stretches,
    "foreign": formats.foreign,
    "plainly": formats.plainly,
    "ordinal": words.ordinal,
    "readme": partial(markdown, below=2),
    "document": partial(markdown, anchors=True),
}.items():
    register.filter(name, function)


@register.simple_tag
def sheets(*names: str) -> SafeString:
    """Link the style sheets that only some pages need."""
    return format_html_join("", '<link rel="stylesheet" href="{}">', ((static(f"css/{name}.css"),) for name in names))


@register.filter
def state_word(value: str) -> str:
    return words.STATE_WORDS.get(value, value)


@register.filter
def figure(value: float | None, kind: str) -> str:
    return words.figure(value, kind)


@register.simple_tag
def count(many: int, one: str, several: str = "") -> str:
    return words.count(many, one, several)


@register.simple_tag
def ratio(k: float | None, n: int) -> str:
    return words.ratio(k, n)


@register.simple_tag
def bounds(lo: float | None, hi: float | None, kind: str = "bool") -> str:
    return words.bounds(lo, hi, rate=kind == "bool")


@register.simple_tag
def ranks(lo: int | None, hi: int | None) -> str:
    return words.ranks(lo, hi)


@register.simple_tag
def copy_button(value: str, label: str = "Copy") -> SafeString:
    return formats.copy_button(value, label)


@register.simple_tag
def all_axes(cell: Any) -> SafeString:
    return formats.axes(cell, every=True)


@register.simple_tag
def trials_url(ulid: str, **filters: Any) -> str:
    return links.trials(ulid, **filters)


@register.simple_tag
def run_url(ulid: str, **asked: Any) -> str:
    return links.run(ulid, **asked)


@register.simple_tag
def line_whisker(line: Any, scale: tuple[float, float], title: str, best: bool = False) -> SafeString:
    """For a line of a table that has a square and its interval."""
    square = line.square
    name = f"{title}: {square.text if square else words.NONE}"
    value, n = (square.value, square.n) if square else (None, 0)
    return marks.whisker(value, line.lo, line.hi, scale, hollow=n < 10, name=name, kind="best" if best else "")


@register.simple_tag
def rate_whisker(counts: Any, policy: str = "scored/1") -> SafeString:
    lo, hi = counts.interval(policy) or (None, None)
    rate, n = counts.rate(policy), counts.n(policy)
    return marks.whisker(rate, lo, hi, (0.0, 1.0), hollow=n < 10, name=words.percent(rate))


@register.simple_tag
def scale_axis(scale: tuple[float, float], kind: str) -> SafeString:
    low, high = scale
    if kind in ("bool", "category"):
        return marks.axis(("0", "50", "100 %"))
    return marks.axis((words.number(low), words.number((low + high) / 2), words.number(high)))


@register.simple_tag
def counts_rate(counts: Any, policy: str = "scored/1") -> SafeString:
    return matrix.rate_text(counts, policy)


@register.simple_tag
def counts_n(counts: Any, policy: str = "scored/1") -> int:
    return int(counts.n(policy))


@register.simple_tag
def trial_strip(ulid: str, strip: Strip, more: str = "") -> SafeString:
    """Each trial a mark that links to it; `more` is the list behind the ones not drawn."""
    base = links.run(ulid)
    drawn = "".join([_drawn(base, mark) for mark in strip.marks])
    names = escape(words.listed([f"{many} {word}" for word, many in _tally(strip)], 6))
    rest = f'<a class="more" href="{escape(more)}">+{strip.more}</a>' if strip.more else ""
    hidden = f'<span class="visually-hidden">{names}</span>'
    return SafeString(f'<span class="strip">{hidden}{drawn}{rest}{_versus(ulid, strip)}</span>')


def _drawn(base: str, mark: Mark) -> str:
    """A page has a thousand of these: each part is escaped by hand, which takes a third of format_html's time."""
    title = escape(formats.strip_title(mark))
    return f'<a href="{base}t/{mark.index:d}/" title="{title}">{marks.shape(mark.status)}</a>'


def _versus(ulid: str, strip: Strip) -> str:
    """Lead from a strip with an unsolved trial to what the nearest solved one did otherwise."""
    trials = links.unsolved_of(strip)
    if not trials:
        return ""
    href = links.compare_trials(*((ulid, index) for index in trials), nearest="1" if len(trials) == 2 else "")
    title = f"What the nearest solved trial did otherwise than trial {trials[0]:d}"
    return f'<a class="versus" href="{escape(href)}" title="{title}" aria-label="{title}">≠</a>'


@register.simple_tag
def compare_url(ulid: str, *indexes: int) -> str:
    return links.compare_trials(*((ulid, index) for index in indexes))


def _tally(strip: Strip) -> list[tuple[str, int]]:
    seen: dict[str, int] = {}
    for mark in strip.marks:
        word = words.STATE_WORDS.get(mark.status, mark.status)
        seen[word] = seen.get(word, 0) + 1
    return list(seen.items())


@register.simple_tag
def matrix_head(grid: Any, asked: Question) -> SafeString:
    return turned.head(grid) if asked.turn else matrix.head(grid)


@register.simple_tag
def matrix_body(grid: Any, asked: Question) -> SafeString:
    return turned.body(grid, asked) if asked.turn else matrix.body(grid, asked)


@register.simple_tag
def matrix_foot(grid: Any, asked: Question) -> SafeString:
    return turned.foot(grid, asked) if asked.turn else matrix.foot(grid, asked)


@register.simple_tag
def asking(asked: Question, **changed: Any) -> str:
    """The address of the same page asked otherwise."""
    return asked.query(**changed)


@register.simple_tag
def twins(name: str, query: str = "") -> SafeString:
    """Link a table's twins; `query` is the page's own, so that they hold what it shows."""
    rest = query if query != "?" else ""
    return format_html(
        '<span class="twins"><a class="btn small" href="{}.csv{}">CSV</a>'
        '<a class="btn small" href="{}.json{}">JSON</a></span>',
        name, rest, name, rest,
    )  # fmt: skip


@register.simple_tag
def further(asked: Any, after: int) -> str:
    """The query of a list's next page."""
    return str(asked.query(after=after))


@register.simple_tag
def hit_url(hit: Hit) -> str:
    return reverse(hit.route, args=hit.args)


@register.simple_tag
def python_source(text: str, mark: int = 0) -> SafeString:
    return source.python_source(text, mark)
