"""Pages from templates."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template import RequestContext
from django.template.loader import get_template


def render(
    request: HttpRequest, template: str, values: dict[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    """Do as Django's shortcut does, and take its context apart afterwards. That holds itself, so all that a page was
    made of would wait for the collector, and some later reader for that."""
    context = RequestContext(request, values)
    try:
        return HttpResponse(get_template(template).template.render(context), status=status)
    finally:
        context.dicts.clear()
