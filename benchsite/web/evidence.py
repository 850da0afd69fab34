"""How evidence leaves the site: absent is absent for everyone, bytes never run in a reader's browser."""

from __future__ import annotations

from typing import Any, TypeVar

from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.http import content_disposition_header

from benchsite.diffs.options import Options
from benchsite.readings.artifact import Raw

T = TypeVar("T")
SANDBOX = "sandbox; default-src 'none'; img-src 'self'; style-src 'none'"


def found(thing: T | None) -> T:
    """Pass what is there; forbidden and absent look the same."""
    if thing is None:
        raise Http404
    return thing


def whole_number(request: HttpRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None


def attachment(thing: Raw) -> HttpResponseBase:
    return _send(thing, inline=False)


def raw(request: HttpRequest, thing: Raw) -> HttpResponseBase:
    """Send bytes: allow-listed images and plain text may be shown, all else is only saved."""
    return _send(thing, inline=thing.inline and request.GET.get("raw") != "save")


def _send(thing: Raw, *, inline: bool) -> HttpResponseBase:
    response = FileResponse(thing.file, content_type=thing.media if inline else thing.saved_as)
    response["Content-Disposition"] = content_disposition_header(not inline, thing.name)
    response["Content-Length"] = str(thing.size)
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = SANDBOX
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    response["Cache-Control"] = "private, max-age=0, must-revalidate"
    return response


def part_or_page(request: HttpRequest, page: Any, options: Options) -> HttpResponse:
    """Give one file's diff: the bare section when script asks for the part, a page of its own otherwise."""
    template = "trial/_file.html" if request.GET.get("part") else "trial/file.html"
    return render(request, template, {"page": page, "head": page.head, "file": page.file, "options": options})
