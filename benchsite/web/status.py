"""How this site is, for whoever runs it (the staff): a page, and the same for programs. Nobody else is told of it."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from benchsite.readings.status.page import Page, as_data, status_page
from benchsite.readings.status.work import workers

from . import asked
from .conditional import private
from .context import RELEASE
from .rendering import render


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    """`?ask=workers` waits a second for their answers; the page asks for that part by itself where script runs."""
    _operators_only(request)
    if asked.choice(request.GET, "part", ("", "workers"), ""):
        return private(render(request, "status/_workers.html", {"fact": workers()}))
    return private(render(request, "status.html", {"page": _page(request), "crumbs": [("Status", None)]}))


@require_safe
def status_json(request: HttpRequest) -> HttpResponse:
    _operators_only(request)
    return private(JsonResponse(as_data(_page(request))))


def _operators_only(request: HttpRequest) -> None:
    user = request.user
    if not (user.is_active and (user.is_staff or user.is_superuser)):
        raise Http404


def _page(request: HttpRequest) -> Page:
    return status_page(RELEASE, ask=asked.choice(request.GET, "ask", ("", "workers"), "") == "workers")
