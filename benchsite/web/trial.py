"""A trial's pages: one view a tab, each may you, what did you ask, fetch, render."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from benchsite.diffs.options import Options
from benchsite.readings import artifact as artifacts
from benchsite.readings import diff as diffs
from benchsite.readings import transcript as transcripts
from benchsite.readings import trial as trials
from benchsite.readings.failing import MEANING
from benchsite.readings.notes import notes_of
from benchsite.readings.sheet import Sheet
from benchsite.readings.trialsheet import artifacts as artifacts_sheet
from benchsite.readings.trialsheet import declared, observations

from . import diffparts, filehtml, logparts, stephtml, twins
from .access import found
from .conditional import private
from .evidence import attachment, raw, tab, whole_number
from .notes import annotating

TABLES: dict[str, tuple[Callable[..., Any], Callable[..., Sheet]]] = {
    "observations": (trials.overview, observations),
    "artifacts": (artifacts.of_trial, artifacts_sheet),
    "declared": (artifacts.of_trial, declared),
}
"""Of each twin: which tab's reading it is made of, and how."""


@require_safe
def trial(request: HttpRequest, ulid: str, index: int) -> HttpResponse:
    page = found(trials.overview(request.user, ulid, index))
    run = page.head.run
    return tab(request, "overview", page, beside=notes_of(run, index, request.user), **annotating(request, run))


@require_safe
def trial_table(request: HttpRequest, ulid: str, index: int, table: str, kind: str) -> HttpResponse:
    read, sheet = twins.named(TABLES, table)
    return private(twins.sent(sheet(found(read(request.user, ulid, index))), kind))


@require_safe
def trial_transcript(request: HttpRequest, ulid: str, index: int) -> HttpResponse:
    number, attempt = whole_number(request, "page"), whole_number(request, "attempt")
    role, at, words = (request.GET.get(name, "") for name in ("role", "at", "find"))
    page = found(transcripts.transcript(request.user, ulid, index, number or 1, attempt, role, at, words))
    if request.GET.get("raw"):
        return attachment(found(transcripts.raw_transcript(page, request.GET["raw"])))
    steps = stephtml.items(page.steps, page.place, many=page.several)
    return tab(request, "transcript", page, keep=_kept(page), steps=steps)


def _kept(page: transcripts.Transcript) -> str:
    """The query of what a reader chose, for links to other pages of the same list."""
    chosen = {"role": page.role, "find": page.words, "attempt": page.attempt}
    return urlencode({name: value for name, value in chosen.items() if value})


@require_safe
def trial_changes(request: HttpRequest, ulid: str, index: int) -> HttpResponse:
    options = Options.read(request.GET)
    page = found(diffs.changes(request.user, ulid, index, options, whole_number(request, "page") or 1))
    bar = diffparts.bar(options, json=page.has_json, moved=page.has_moved, failed=page.has_failures)
    more: dict[str, Any] = {"bar": bar, "meaning": MEANING}
    more["tree"] = filehtml.listed(page.tree)
    every = f"?{options.query(files='all')}"
    return tab(request, "changes", page, files=diffparts.shown_all(page), all_files=every, **more)


@require_safe
def trial_diff_file(request: HttpRequest, ulid: str, index: int) -> HttpResponse:
    options = Options.read(request.GET)
    page = found(diffs.one_file(request.user, ulid, index, request.GET.get("f", ""), options))
    if request.GET.get("raw"):
        return raw(request, found(page.raw(request.GET["raw"])))
    return diffparts.answer_file(request, page)


@require_safe
def trial_patch(request: HttpRequest, ulid: str, index: int) -> HttpResponse:
    return attachment(found(diffs.patch(request.user, ulid, index, Options.read(request.GET).stage)))


@require_safe
def trial_artifacts(request: HttpRequest, ulid: str, index: int) -> HttpResponse:
    page = found(artifacts.of_trial(request.user, ulid, index, whole_number(request, "page") or 1))
    return tab(request, "artifacts", page)


@require_safe
def trial_artifact(request: HttpRequest, ulid: str, index: int, name: str) -> HttpResponse:
    attempt = whole_number(request, "attempt")
    if request.GET.get("raw"):
        return raw(request, found(artifacts.raw_of_trial(request.user, ulid, index, name, attempt)))
    number, words = whole_number(request, "page") or 1, request.GET.get("find", "")
    page = found(artifacts.one_of_trial(request.user, ulid, index, name, attempt, number, words))
    if page.log is not None:
        return tab(request, "artifacts", page, template="artifact", **logparts.of(page.log, page.artifact.attempt))
    return tab(request, "artifacts", page, template="artifact", code=diffparts.code(page.preview))
