"""The one address of comparisons: each kind of thing has a module of its own."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchsite.readings.compare.grammar import CompareRefused, Of, read

from . import compare_numbers, compare_trials
from .conditional import private

PAGES: dict[str, Callable[[HttpRequest, tuple[Of, ...]], HttpResponseBase]] = {
    "trial": compare_trials.page,
    **dict.fromkeys(compare_numbers.KINDS, compare_numbers.page),
}
"""By kind; a page raises Http404 for what the reader may not see before it refuses anything in words."""


@require_safe
def compare(request: HttpRequest) -> HttpResponseBase:
    try:
        asked = read(request.GET.getlist("of"))
        if not asked:
            return _said(request, "", 200)
        return PAGES[asked[0].kind](request, asked)
    except CompareRefused as error:
        return _said(request, str(error), 400)


def _said(request: HttpRequest, refused: str, status: int) -> HttpResponse:
    crumbs = [("Compare", None)]
    return private(render(request, "compare/refused.html", {"refused": refused, "crumbs": crumbs}, status=status))
