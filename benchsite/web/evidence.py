"""How evidence leaves the site: a trial's tabs, and bytes that never run in a reader's browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import reverse
from django.utils.http import content_disposition_header

from benchsite.readings.artifact import Raw
from benchsite.readings.trialhead import Head

from .conditional import private
from .links import crumbs_of_run
from .rendering import render

SANDBOX = "sandbox; default-src 'none'"
TABS = (
    ("overview", "Overview", "trial"),
    ("transcript", "Transcript", "trial_transcript"),
    ("changes", "Changes", "trial_changes"),
    ("artifacts", "Artifacts", "trial_artifacts"),
    ("workspace", "Workspace", "trial_workspace"),
)


def tab(request: HttpRequest, name: str, page: Any, *, template: str = "", **more: Any) -> HttpResponse:
    """Render one tab of a trial under the head that all tabs share."""
    head: Head = page.head
    trial = head.trial
    trail = crumbs_of_run(
        head.run,
        (str(trial.scenario), reverse("run_scenario", args=[head.ulid, trial.scenario.slug])),
        (f"Trial {trial.index}", None),
    )
    context = {"page": page, "head": head, "tabs": _tabs(head, name), "here": name, "crumbs": trail, **more}
    return private(render(request, f"trial/{template or name}.html", context))


def whole_number(request: HttpRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None


def attachment(thing: Raw) -> HttpResponseBase:
    return _send(thing, inline=False)


def raw(request: HttpRequest, thing: Raw) -> HttpResponseBase:
    """Send bytes: allow-listed images and plain text may be shown, all else is only saved."""
    return _send(thing, inline=thing.inline and request.GET.get("save") is None)


def sent(chunks: Iterator[bytes], name: str) -> HttpResponseBase:
    """Send what is made while it is sent: only to be saved."""
    response = StreamingHttpResponse(chunks, content_type="application/octet-stream")
    return _guarded(response, name, inline=False)


def _send(thing: Raw, *, inline: bool) -> HttpResponseBase:
    response = FileResponse(thing.file, content_type=thing.media if inline else "application/octet-stream")
    response["Content-Length"] = str(thing.size)
    return _guarded(response, thing.name, inline=inline)


def _guarded(response: StreamingHttpResponse, name: str, *, inline: bool) -> HttpResponseBase:
    response["Content-Disposition"] = content_disposition_header(not inline, _safe_name(name))
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = SANDBOX
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    response["Cache-Control"] = "private, no-cache"
    return response


def _safe_name(name: str) -> str:
    """Names come from outside: controls, bidi marks and bytes that are no text become underscores."""
    return "".join(char if char.isprintable() else "_" for char in name)[-150:] or "file"


def _tabs(head: Head, here: str) -> list[dict[str, Any]]:
    counts = {"changes": head.changed_paths, "artifacts": head.artifacts}
    notes = {"workspace": "kept" if head.trial.kept else ""}
    return [
        {
            "name": label,
            "url": reverse(route, args=[head.ulid, head.index]),
            "here": key == here,
            "count": counts.get(key),
            "note": notes.get(key, ""),
        }
        for key, label, route in TABS
    ]
