"""What every page's frame needs: release, style sheets, and which part of the site the reader is in."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from benchsite.readings.curate.waiting import waiting

from .permalink import permalink

SHEETS = (
    "tokens", "base", "layout", "sections", "components", "tables", "blocks", "forms", "code", "charts", "matrix",
    "pages", "evidence", "search",
)  # fmt: skip
"""In this order; `tokens` states the order of the layers."""
PLACES = {"home": "benches", "benches": "benches", "bench": "benches", "bench_scenario": "benches", "runs": "runs"}


def _release() -> str:
    try:
        return version("benchsite")
    except PackageNotFoundError:
        return "unreleased"


RELEASE = _release()


def site(request: HttpRequest) -> dict[str, Any]:
    name = request.resolver_match.url_name if request.resolver_match else ""
    sheets = [f"css/{sheet}.css" for sheet in SHEETS]
    # not "site": Django's login view puts the host's name there
    link = SimpleLazyObject(lambda: permalink(request))  # a page whose query only it understands gives its own
    frame = {"release": RELEASE, "sheets": sheets, "here": _place(name or "")}
    # an error page may be shown before anybody is known
    curating = SimpleLazyObject(lambda: waiting(getattr(request, "user", None)))
    return {"frame": frame, "link": link, "curating": curating}


def _place(name: str) -> str:
    if name.startswith(("run", "trial")):
        return "runs"
    if name.startswith("docs"):
        return "docs"
    return PLACES.get(name, name)
