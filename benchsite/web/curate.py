"""The curators' page: what waits, what is held back, what was decided; and decisions taken there, with a reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from benchsite.accounts.access import is_curator
from benchsite.readings.curate import decisions, files, runs
from benchsite.readings.curate.asked import SHOWN, SORTS, VERDICTS, Asked
from benchsite.readings.curate.waiting import waiting

from . import asked, deciding, twins
from .conditional import private
from .rendering import render

PAGES: dict[str, Callable[[Asked], Any]] = {
    "runs": runs.runs_page,
    "files": files.files_page,
    "decisions": decisions.decisions_page,
    "releases": decisions.releases_page,
}
SHEETS: dict[str, Callable[[Any], Any]] = {
    "runs": runs.sheet,
    "files": files.sheet,
    "decisions": decisions.sheet,
    "releases": decisions.files_sheet,
}


@require_http_methods(["GET", "HEAD", "POST"])
def curate(request: HttpRequest) -> HttpResponse:
    """Show one of the lists; a form on it comes back here, and what could not be decided is said above it."""
    _curators_only(request)
    question, problem = _question(request), ""
    if request.method == "POST":
        problem = deciding.decide(request)
        if not problem:
            return redirect(_here(request, question))
    page = PAGES[question.show](question)
    context = {
        "page": page,
        "asked": question,
        "waiting": waiting(request.user),
        "problem": problem,
        "ticked": request.POST.getlist("of") if problem else [],
        "every": not problem and request.GET.get("tick") == "all",
        "reason": request.POST.get("reason", "") if problem else "",
        "trials": request.POST.get("trials", "") if problem else request.GET.get("trial", ""),
        "sorts": list(SORTS[question.show]),
        "verdicts": VERDICTS,
        "link": request.build_absolute_uri(_here(request, question)),
        "crumbs": [("Curation", None)],
    }
    return private(render(request, f"curate/{question.show}.html", context, status=422 if problem else 200))


def _here(request: HttpRequest, question: Asked) -> str:
    """The list's own address, without what was only asked for once: that all of it be ticked."""
    query = question.query()
    return f"{request.path}?{query}" if query else request.path


@require_safe
def curate_table(request: HttpRequest, table: str, kind: str) -> HttpResponse:
    _curators_only(request)
    sheet = twins.named(SHEETS, table)
    return private(twins.sent(sheet(PAGES[table](_question(request, table))), kind))


def _curators_only(request: HttpRequest) -> None:
    """Whoever decides nothing is not told that there is such a page."""
    if not is_curator(request.user):
        raise Http404


def _question(request: HttpRequest, show: str = "") -> Asked:
    query = request.GET
    show = show or asked.choice(query, "show", SHOWN, "runs")
    plain = {field.name: query.get(field.name, "") for field in fields(Asked) if field.type == "str"}
    sort = asked.choice(query, "sort", ("", *SORTS[show]), "")
    verdict = asked.choice(query, "verdict", ("", *VERDICTS), "")
    return Asked(**{**plain, "show": show, "sort": sort, "verdict": verdict, "after": asked.whole(request, "after", 0)})
