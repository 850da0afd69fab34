"""The words of comparison templates; built in, so no template loads them."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils.safestring import SafeString

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
def change_axis(page: Any) -> SafeString:
    low, high = (telling.signed(end, rate=page.measure.rate).removesuffix(" points") for end in page.scale)
    return marks.axis((low, "0", high))
