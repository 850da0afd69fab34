"""The site's own error pages. They ask nothing of the database, which may be what failed."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """One answer for what is absent and what is forbidden: same status, same body, same headers."""
    response = render(request, "404.html", status=404)
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "403_csrf.html", status=403)
