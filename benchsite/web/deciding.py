"""Take the decisions that a curator's form names, one after the other; what came of each is said on the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest

from benchsite.artifacts.models import Blob
from benchsite.curation.models import BlobDecision, Decision
from benchsite.flows import curate, leaks
from benchsite.readings.curate.decisions import WORDS
from benchsite.readings.words import count
from benchsite.runs.models import Run
from runner.errors import RunnerError

MOST = 200
"""So many at a time: as many as a page shows."""
SAID = 8
"""So many refusals are told one by one."""
TRIALS = re.compile(r"(\d{1,9})(?:\s*[-–]\s*(\d{1,9}))?")
Take = Callable[[Any, Any, str], object]


def decide(request: HttpRequest) -> str:
    """Carry out what the form asks; gives why nothing could be done, in a sentence, or nothing."""
    do, reason = request.POST.get("do", ""), request.POST.get("reason", "").strip()
    if do not in ACTS:
        return "This page has no such decision; choose one of its buttons."
    find, take, one = ACTS[do]
    named = request.POST.getlist("of")[:MOST]
    if not reason:
        return "A decision needs a reason: it is shown beside what you decide about, for ever."
    try:
        things = list(find(request, named))
    except RunnerError as error:
        return str(error)
    if not things:
        return f"Nothing was ticked: tick {one}s in the first column."
    _told(request, things, take, reason, do, one)
    return ""


def _told(request: HttpRequest, things: list[Any], take: Take, reason: str, do: str, one: str) -> None:
    refusals, done = [], 0
    for thing in things:
        try:
            take(thing, request.user, reason)
            done += 1
        except RunnerError as refusal:
            refusals.append(str(refusal))
    if done:
        messages.success(request, f"{count(done, one)} {WORDS.get(do, 'undone')}: {reason}")
    for refusal in refusals[:SAID]:
        messages.error(request, refusal)
    if len(refusals) > SAID:
        messages.error(request, f"{count(len(refusals) - SAID, one)} more could not be decided, for such reasons.")


def _runs(request: HttpRequest, named: list[str]) -> Iterable[Any]:
    return Run.objects.filter(ulid__in=named).order_by("pk")


def _blobs(request: HttpRequest, named: list[str]) -> Iterable[Any]:
    return Blob.objects.filter(digest__in=named).order_by("pk")


def _keys(named: list[str]) -> list[int]:
    return [int(key) for key in named if key.isascii() and key.isdecimal() and len(key) < 18]


def _decisions(request: HttpRequest, named: list[str]) -> Iterable[Any]:
    return Decision.objects.filter(pk__in=_keys(named)).order_by("pk")


def _releases(request: HttpRequest, named: list[str]) -> Iterable[Any]:
    return BlobDecision.objects.filter(pk__in=_keys(named)).order_by("pk")


def _trials(request: HttpRequest, named: list[str]) -> Iterable[Any]:
    """Read "3, 7-9" of one run; each part that is no number or range is an error, not a trial less."""
    run = Run.objects.filter(ulid=request.POST.get("run", "").strip()).first()
    if run is None:
        raise curate.NotAllowed(
            f"There is no run “{request.POST.get('run', '')[:40]}” on this site; give its whole id."
        )
    wanted: list[int] = []
    for part in filter(None, (part.strip() for part in request.POST.get("trials", "").split(","))):
        found = TRIALS.fullmatch(part)
        if found is None:
            raise curate.NotAllowed(f"“{part[:40]}” is no trial: write numbers and ranges, such as 3, 7-9.")
        first, last = int(found[1]), int(found[2] or found[1])
        wanted += range(first, min(last, first + MOST) + 1)
    if len(wanted) > MOST:
        raise curate.NotAllowed(f"At most {MOST} trials are withdrawn at a time.")
    if not wanted:
        raise curate.NotAllowed("No trial was named: write their numbers in the run, such as 3, 7-9.")
    return [(run, index) for index in dict.fromkeys(wanted)]


def _verdict(verdict: str) -> Take:
    return lambda run, by, reason: curate.decide(run, verdict, by=by, reason=reason)


def _withdraw(trial: tuple[Run, int], by: Any, reason: str) -> object:
    return curate.withdraw_trial(*trial, by=by, reason=reason)


def _undo_file(decision: BlobDecision, by: Any, reason: str) -> object:
    return leaks.undo(decision, by=by, reason=reason)


ACTS: dict[str, tuple[Callable[[HttpRequest, list[str]], Iterable[Any]], Take, str]] = {
    **{verdict: (_runs, _verdict(verdict), "run") for verdict in Decision.Verdict.values},
    "release": (_blobs, lambda blob, by, reason: leaks.release(blob, by=by, reason=reason), "file"),
    "redact": (_blobs, lambda blob, by, reason: leaks.redact(blob, by=by, reason=reason), "file"),
    "withdraw-trials": (_trials, _withdraw, "trial"),
    "undo": (_decisions, lambda one, by, reason: curate.undo(one, by=by, reason=reason), "decision"),
    "undo-file": (_releases, _undo_file, "decision"),
}
"""Each button: how what it is about is found, what is done to one of them, and what one is called."""
