"""A run's data frame: trials x measures as CSV, JSON and Parquet, sent while it is read."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from benchsite.artifacts.store import BlobRefused
from benchsite.readings.frame import frame_of
from benchsite.readings.framefile import TYPES, refusal, written
from benchsite.runs.models import Run

from .access import run_for
from .conditional import answer


@require_safe
def run_frame(request: HttpRequest, ulid: str, kind: str) -> HttpResponseBase:
    run = run_for(request, ulid)
    if why := refusal(kind):
        return _told(why, 501)
    return answer(request, str(run.revision), lambda: _sent(run, kind, every=request.GET.get("every") == "1"))


def _sent(run: Run, kind: str, *, every: bool) -> HttpResponseBase:
    try:
        frame = frame_of(run, every=every)
    except BlobRefused as error:
        return _told(f"The columns of this run stand in its manifest. {error}", 410)
    response = StreamingHttpResponse(written(frame, kind), content_type=TYPES[kind])
    response["Content-Disposition"] = content_disposition_header(True, f"{run.ulid}-trials.{kind}") or ""
    return response


def _told(sentence: str, status: int) -> HttpResponse:
    return HttpResponse(sentence + "\n", content_type="text/plain; charset=utf-8", status=status)
