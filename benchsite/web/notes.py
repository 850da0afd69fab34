"""Write and take back what stands beside a run or a trial; what came of it is said on the page it stands on."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from benchsite.accounts.access import is_curator
from benchsite.flows import annotate
from benchsite.runs.models import Run
from runner.errors import RunnerError

from .access import run_for


@login_required
@require_POST
def run_note(request: HttpRequest, ulid: str) -> HttpResponse:
    """Add the note that the form holds, or take back the one it names."""
    run, trial = run_for(request, ulid), _trial(request)
    try:
        if drop := _whole(request.POST.get("drop", "")):
            annotate.drop_note(run, drop, by=request.user)
            messages.success(request, "The note is taken back.")
        else:
            annotate.add_note(run, request.POST.get("text", ""), by=request.user, trial=trial)
    except RunnerError as error:
        messages.error(request, str(error))
    return _back(run, trial)


@login_required
@require_POST
def run_tag(request: HttpRequest, ulid: str) -> HttpResponse:
    run, trial = run_for(request, ulid), _trial(request)
    change = annotate.drop_tag if request.POST.get("drop") else annotate.add_tag
    try:
        change(run, request.POST.get("drop") or request.POST.get("name", ""), by=request.user, trial=trial)
    except RunnerError as error:
        messages.error(request, str(error))
    return _back(run, trial)


def annotating(request: HttpRequest, run: Run) -> dict[str, bool]:
    """What `parts/_beside.html` offers this reader."""
    return {"may_annotate": annotate.may_annotate(request.user, run), "may_moderate": is_curator(request.user)}


def _trial(request: HttpRequest) -> int | None:
    return _whole(request.POST.get("trial", ""))


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def _back(run: Run, trial: int | None) -> HttpResponse:
    if trial is not None and run.trials.filter(index=trial).exists():
        return redirect("trial", run.ulid, trial)
    return redirect("run", run.ulid)
