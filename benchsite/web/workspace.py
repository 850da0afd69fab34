"""The workspace browser: the kept world or one rebuilt and labelled so, the start world, search, downloads."""

from __future__ import annotations

from typing import cast
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from benchsite.readings import workspace as workspaces
from benchsite.readings.trialsheet import listing
from benchsite.readings.worldfind import LONGEST, Search, Where
from benchsite.readings.worlds import At
from benchsite.readings.worldzip import ZipRefused, pack

from . import asked, diffparts, twins
from .access import found
from .conditional import private
from .evidence import raw, sent, tab, whole_number


@require_safe
def trial_workspace(request: HttpRequest, ulid: str, index: int) -> HttpResponse:
    at, search = _at(request), _search(request)
    page = found(workspaces.browse(request.user, ulid, index, request.GET.get("f", ""), at, search))
    keep = "at=start&" if at == "start" else ""
    here = [ulid, index]
    urls = {
        "raw": f"{reverse('trial_workspace_file', args=here)}?{keep}f={page.address}",
        "twin": f"?{keep}f={page.address}" if page.address else f"?{keep}".rstrip("?&"),
        "zip": f"{reverse('trial_workspace_zip', args=here)}?{keep}f={page.address}",
        "open": f"benchsite open {ulid}:{index}",
        "end": f"?{urlencode({'f': page.address})}" if page.address else "?",
        "start": f"?at=start&f={page.address}" if page.address else "?at=start",
    }
    if search and page.found and page.found.next:
        asked_again = {"find": search.words, "in": search.where, "after": page.found.next}
        urls["next"] = f"?{keep}{urlencode(asked_again)}"
    return tab(request, "workspace", page, code=diffparts.code(page.preview), keep=keep, urls=urls)


@require_safe
def trial_workspace_table(request: HttpRequest, ulid: str, index: int, kind: str) -> HttpResponse:
    """The twin of a folder's listing; a file has none."""
    page = found(workspaces.browse(request.user, ulid, index, request.GET.get("f", ""), _at(request)))
    return private(twins.sent(listing(found(page if page.in_folder else None)), kind))


@require_safe
def trial_workspace_file(request: HttpRequest, ulid: str, index: int) -> HttpResponseBase:
    address = request.GET.get("f", "")
    return raw(request, found(workspaces.raw_file(request.user, ulid, index, address, _at(request))))


@require_safe
def trial_workspace_zip(request: HttpRequest, ulid: str, index: int) -> HttpResponseBase:
    try:
        made = found(pack(request.user, ulid, index, request.GET.get("f", ""), _at(request)))
    except ZipRefused as error:
        return HttpResponse(f"{error}\n", status=413, content_type="text/plain; charset=utf-8")
    return sent(made.chunks(), made.name)


def _at(request: HttpRequest) -> At:
    return cast(At, asked.choice(request.GET, "at", ("end", "start"), "end"))


def _search(request: HttpRequest) -> Search | None:
    words = request.GET.get("find", "").strip()[:LONGEST]
    where = cast(Where, asked.choice(request.GET, "in", ("names", "content"), "names"))
    return Search(words, where, whole_number(request, "after") or 0) if words else None
