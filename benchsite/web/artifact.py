"""The page of a blob: only within the reader's benches, asked of blob_use."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from benchsite.readings import artifact as artifacts

from . import diffparts
from .access import found
from .conditional import private
from .evidence import raw
from .rendering import render


@require_safe
def artifact(request: HttpRequest, sha256: str) -> HttpResponse:
    if request.GET.get("raw"):
        return raw(request, found(artifacts.raw_by_digest(request.user, sha256)))
    page = found(artifacts.by_digest(request.user, sha256))
    return private(render(request, "trial/blob.html", {"page": page, "code": diffparts.code(page.preview)}))
