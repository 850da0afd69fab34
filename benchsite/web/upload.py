"""The page that takes a bundle from a browser; programs use the API."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from benchsite.flows.incoming import take_bundle
from benchsite.flows.leaks import held_of
from benchsite.jobs.models import Job
from benchsite.readings import words
from runner.errors import DiskFull, RunnerError

from .conditional import private
from .rendering import render


@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HttpRequest) -> HttpResponse:
    problem, status = "", 200
    if request.method == "POST":
        if not request.user.is_authenticated:
            return redirect_to_login(request.path)
        try:
            return _taken(request)
        except RunnerError as error:
            problem, status = str(error), 507 if isinstance(error, DiskFull) else 422
    context = {
        "problem": problem,
        "limit": settings.UPLOAD_TOTAL,
        "address": request.build_absolute_uri("/").rstrip("/"),
        "crumbs": [("Upload", None)],
    }
    return private(render(request, "upload.html", context, status=status))


def _taken(request: HttpRequest) -> HttpResponse:
    file = request.FILES.get("bundle")
    if file is None:
        raise RunnerError("No file was chosen: choose the .zip that `benchsite bundle RUN` wrote.")
    run = take_bundle(file, request.user)
    if isinstance(run, Job):
        return redirect("job", key=run.key)
    messages.success(request, "The run is here. It counts on leaderboards once a curator accepts it.")
    if held := held_of(run):
        messages.warning(request, words.held(held))
    return redirect("run", ulid=run.ulid)
