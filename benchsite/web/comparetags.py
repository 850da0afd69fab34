"""The words of comparison templates; built in, so no template loads them."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from django import template
from django.utils.safestring import SafeString

from benchsite.readings.compare.lines import Square
from runner.statistics import telling

from . import marks

register = template.Library()


@register.simple_tag
def change_whisker(page: Any, column: Any) -> SafeString | str:
    """A difference from the baseline, on the scale all differences of the page share."""
    made = column.made
    if made is None or made.difference is None:
        return ""
    hollow = made.lo is None
    return marks.whisker(made.difference, made.lo, made.hi, page.scale, hollow=hollow, name=column.sentence)


@register.simple_tag
def case_squares(squares: Iterable[tuple[Square, str, str]], columns: Iterable[Any]) -> SafeString:
    """One case's figures side by side, each but the first with its change. Plain strings: pages have hundreds."""
    made = []
    for place, ((square, url, trials), column) in enumerate(zip(squares, columns, strict=True)):
        made.append(_figure(square, trials, escape(column.side.title)))
        if place:
            made.append(_change(square, url))
    return SafeString("".join(made))


def _figure(square: Square, trials: str, name: str) -> str:
    head = f'\n<td class="num" data-name="{name}"><span class="rate'
    if square.figure is None:
        return f'{head} none">{escape(square.text)}</span></td>'
    n = f"{square.figure.n:,}"
    n = f'<a href="{escape(trials)}">{n}</a>' if trials else n
    return f'{head}">{escape(square.text)}</span> <span class="muted">n={n}</span></td>'


def _change(square: Square, url: str) -> str:
    if square.mark in ("apart", "absent"):
        said = f'<span class="muted">{escape(square.why)}</span>'
    elif square.mark == "same" and not square.change:
        said = '<span class="muted">same</span>'
    else:
        said = escape(f"{square.change} {square.mark}")
        said = f'<a href="{escape(url)}" title="Two trials that show it">{said}</a>' if url else said
    return f'<td class="change {square.mark}">{said}</td>'


@register.simple_tag
def cases_link(many: int, url: str) -> SafeString:
    """How many cases; where there are any, with the list of them."""
    return SafeString(f'<a href="{escape(url)}">{many:,}</a>' if many and url else f"{many:,}")


@register.simple_tag
def change_axis(page: Any) -> SafeString:
    low, high = (telling.signed(end, rate=page.measure.rate).removesuffix(" points") for end in page.scale)
    return marks.axis((low, "0", high))
