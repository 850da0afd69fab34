"""What stands around every answer: the content security policy, and the API's one shape of refusals."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADER = "Content-Security-Policy"


class ContentSecurityPolicy:
    """Own scripts and styles only. A response that set its own policy keeps it; Django's debug pages are exempt."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not (settings.DEBUG and response.status_code in (404, 500)):
            response.headers.setdefault(HEADER, POLICY)
        return response


class MethodsTold:
    """Below `/api/` a method that an address does not take is refused in JSON like all else; ninja does it in words."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not isinstance(response, HttpResponseNotAllowed) or not request.path.startswith("/api/"):
            return response
        allowed = ", ".join(sorted(response.headers["Allow"].split(", ")))
        told = f"This address takes {allowed}, not {request.method}."
        return JsonResponse({"detail": told}, status=405, headers={"Allow": allowed})
