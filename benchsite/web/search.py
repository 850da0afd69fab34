"""The search page, and the same hits as a part for the palette (Ctrl-K)."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from benchsite.readings.search import search_page

from . import asked
from .access import benches_for, runs_for
from .conditional import private
from .rendering import render

PARTS = {"": "search.html", "hits": "parts/_hits.html"}


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    template = PARTS[asked.choice(request.GET, "part", tuple(PARTS), "")]
    found = search_page(request.GET.get("q", ""), benches_for(request), runs_for(request))
    return private(render(request, template, {"page": found}))
