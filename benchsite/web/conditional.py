"""One way to answer: access has been asked before, then the reader's copy is compared, only then is the page made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.contrib.messages import get_messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag

from benchsite.accounts.access import access_class
from benchsite.readings.curate.waiting import waiting
from runner.digests import sha256

from .context import RELEASE
from .rendering import render

PRIVATE = "private, no-cache"
R = TypeVar("R", bound=HttpResponseBase)


def _build() -> str:
    """Name the code that makes pages by its contents: a version number alone would keep old pages after an update."""
    files = [
        file
        for folder, kind in (("templates", "*.html"), ("benchsite", "*.py"), ("static", "*.css"), ("static", "*.js"))
        for file in (Path(settings.BASE_DIR) / folder).rglob(kind)
    ]
    return sha256(b"".join(sha256(file.read_bytes()).encode() for file in sorted(files)))[:16]


BUILD = f"{RELEASE}+{_build()}"


def etag(request: HttpRequest, revision: str) -> str:
    """Access class, reader and what waits for them (the header names both), revision, canonical query and release."""
    query = sorted((key, value) for key, values in request.GET.lists() for value in values)
    parts = (
        access_class(request.user),
        str(request.user),
        repr(waiting(request.user)),
        revision,
        request.path,
        repr(query),
        BUILD,
    )
    return quote_etag(sha256("\n".join(parts).encode())[:32])


def page(request: HttpRequest, revision: str, template: str, build: Callable[[], dict[str, Any]]) -> HttpResponse:
    """Answer 304 where the reader's copy is still true, else render what `build` gives.

    Call it after access has been decided. Waiting messages and DEBUG (templates change under the page) switch it off.
    """
    return answer(request, revision, lambda: render(request, template, build()))


def answer(request: HttpRequest, revision: str, make: Callable[[], R]) -> R | HttpResponseBase:
    if settings.DEBUG or len(get_messages(request)):
        return private(make())
    tag = etag(request, revision)
    known = get_conditional_response(request, etag=tag)
    response = known if known is not None else make()
    response.headers["ETag"] = tag
    return private(response)


def private(response: R) -> R:
    response.headers["Cache-Control"] = PRIVATE
    response.headers["Vary"] = "Cookie"
    return response
