"""The one NinjaAPI: routers, one error body, one table from refusals to statuses."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, ValidationError

from benchsite.flows.curate import NotAllowed
from benchsite.flows.ingest import Conflict, NoRoom
from benchsite.flows.upload import NotThere, TooLarge, Unfit
from runner.errors import DiskFull, RunnerError, is_disk_full

from . import figures, reading, uploads

api = NinjaAPI(
    title="Benchsite",
    version="1",
    urls_namespace="api",
    docs_url="/docs",
    openapi_url="/openapi.json",
    description="Read benches and runs, and send runs. Tokens are made at /settings/tokens/. Without one, what is "
    "public can be read; one that is wrong, no more, or not for this is answered 401.",
)
api.add_router("", reading.router)
api.add_router("", figures.router)
api.add_router("/uploads", uploads.router)
api.add_router("/jobs", uploads.jobs)

STATUS: dict[type[Exception], int] = {Conflict: 409, NotThere: 404, TooLarge: 413, Unfit: 422, NotAllowed: 403}
"""Refusals of the flows by their class; every other RunnerError is 422, a full disk is 507."""


def _answer(request: HttpRequest, status: int, sentence: str) -> HttpResponse:
    return api.create_response(request, {"detail": sentence}, status=status)


@api.exception_handler(RunnerError)
def refused(request: HttpRequest, error: RunnerError) -> HttpResponse:
    if isinstance(error, DiskFull):
        return _answer(request, 507, str(error))
    return _answer(request, STATUS.get(type(error), 422), str(error))


@api.exception_handler(OSError)
def broken(request: HttpRequest, error: OSError) -> HttpResponse:
    """A disk that is full is told; all else is an error like any other."""
    if not is_disk_full(error):
        raise error
    return refused(request, NoRoom())


@api.exception_handler(AuthenticationError)
def unknown(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return _answer(request, 401, "A live token with the right scope is needed; make one at /settings/tokens/.")


@api.exception_handler(Http404)
def absent(request: HttpRequest, error: Http404) -> HttpResponse:
    return _answer(request, 404, "There is nothing here, or nothing that this account may see.")


@api.exception_handler(ValidationError)
def odd(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Turn pydantic's list into one sentence that names the field."""
    first = error.errors[0]
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    return _answer(request, 422, f"{where or 'The body'}: {first['msg']}.")
