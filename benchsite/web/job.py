"""The page of a run that is being taken in; while it is, a part of it asks for itself again."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from benchsite.flows.incoming import wake_if_idle
from benchsite.readings.job import job_page

from . import asked
from .access import found
from .conditional import private
from .rendering import render


@require_safe
def job(request: HttpRequest, key: str) -> HttpResponse:
    page = found(job_page(request.user, key))
    if page.going:
        wake_if_idle()
    template = "_job.html" if asked.choice(request.GET, "part", ("", "state"), "") else "job.html"
    context = {"page": page, "crumbs": [("Upload", reverse("upload")), ("Uploaded run", None)]}
    return private(render(request, f"upload/{template}", context))
