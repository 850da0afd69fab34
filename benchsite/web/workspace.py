"""The workspace browser: the kept world, or one rebuilt from template and changes and labelled so."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from benchsite.readings import workspace as workspaces

from . import diffparts
from .access import found
from .evidence import raw, tab


@require_safe
def trial_workspace(request: HttpRequest, ulid: str, index: int) -> HttpResponse:
    page = found(workspaces.browse(request.user, ulid, index, request.GET.get("f", "")))
    source = f"{reverse('trial_workspace_file', args=[ulid, index])}?f={page.address}"
    return tab(request, "workspace", page, code=diffparts.code(page.preview), source=source)


@require_safe
def trial_workspace_file(request: HttpRequest, ulid: str, index: int) -> HttpResponse:
    return raw(request, found(workspaces.raw_file(request.user, ulid, index, request.GET.get("f", ""))))
