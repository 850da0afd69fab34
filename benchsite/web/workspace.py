"""The workspace browser: the kept world, or one rebuilt from template and changes and labelled so."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchsite.readings import workspace as workspaces

from .evidence import found, raw


@require_safe
def trial_workspace(request: HttpRequest, ulid: str, index: int) -> HttpResponse:
    page = found(workspaces.browse(request.user, ulid, index, request.GET.get("f", "")))
    return render(request, "trial/workspace.html", {"page": page, "head": page.head})


@require_safe
def trial_workspace_file(request: HttpRequest, ulid: str, index: int) -> HttpResponse:
    return raw(request, found(workspaces.raw_file(request.user, ulid, index, request.GET.get("f", ""))))
