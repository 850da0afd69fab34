"""Pages that ask nothing of the database: documentation and the legend of marks."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from benchsite.readings.words import STATE_WORDS

from .conditional import private
from .rendering import render

FOLDER = Path(settings.BASE_DIR) / "docs"
LINK = re.compile(r"\]\(([a-z][a-z0-9-]*)\.md\)")
"""A page names another by its file, so that both ways of reading it, here and in the repository, lead there."""


@require_safe
def docs(request: HttpRequest, page: str = "") -> HttpResponse:
    pages = {file.stem: title(file) for file in sorted(FOLDER.glob("*.md"))}
    if page and page not in pages:
        raise Http404
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8") if page else ""
    text = LINK.sub(r"](/docs/\1/)", text)
    crumbs = [("Docs", "/docs/"), (pages[page], None)] if page else [("Docs", None)]
    return private(render(request, "docs.html", {"pages": pages, "here": page, "text": text, "crumbs": crumbs}))


def title(file: Path) -> str:
    """The first heading of a page of documentation."""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            return line[2:].strip()
    return file.stem


MEANINGS = {
    "solved": "scored, and the boolean headline is true",
    "unsolved": "scored, and the boolean headline is false: a finding, never an error",
    "measured": "scored, and the headline is no boolean",
    "run_error": "the trial broke before its result was known: no claim about the subject",
    "eval_error": "the scenario broke while it evaluated",
    "excluded": "a guard found that the scenario did not hold",
    "withdrawn": "a curator took it out, with a reason",
    "running": "under way",
    "queued": "planned, not yet begun",
    "cancelled": "stopped by whoever ran it",
    "skipped": "left out on purpose, with a reason",
    "not_run": "the run ended before its turn",
}


@require_safe
def styleguide(request: HttpRequest) -> HttpResponse:
    """The legend is for everyone; the parts below it are for whoever works on the pages."""
    states = [(state, STATE_WORDS[state], MEANINGS[state]) for state in MEANINGS]
    context = {"states": states, "parts": settings.DEBUG, "steps": range(7), "crumbs": [("Legend of marks", None)]}
    return private(render(request, "styleguide.html", context))
