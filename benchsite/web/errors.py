"""The site's own error pages. They ask nothing of the database, which may be what failed. Programs get JSON."""

from __future__ import annotations

import secrets

import structlog
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string

from .context import SHEETS
from .rendering import render

log = structlog.get_logger(__name__)
API = "/api/"


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """One answer for what is absent and what is forbidden: same status, same body, same headers."""
    if request.path.startswith(API):
        return JsonResponse({"detail": "The API has no such address; /api/v1/docs lists those it has."}, status=404)
    response = render(request, "404.html", status=404)
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "403_csrf.html", status=403)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "403.html", status=403)


def server_error(request: HttpRequest) -> HttpResponse:
    """Give reader and operator the same mark, so that one can name what the other must find in the log."""
    mark = secrets.token_hex(4)
    log.error("this error was shown to a reader", mark=mark, path=request.path)
    if request.path.startswith(API):
        told = f"Something broke on our side; if it stays so, tell who runs this site: error {mark}."
        return JsonResponse({"detail": told}, status=500)
    sheets = [f"css/{name}.css" for name in SHEETS]
    return HttpResponse(render_to_string("500.html", {"mark": mark, "sheets": sheets}), status=500)
