"""The address to copy: absolute, and of the query only what pages know, in a fixed order, defaults left out."""

from __future__ import annotations

from dataclasses import fields
from urllib.parse import urlencode

from django.http import HttpRequest

from benchsite.diffs.options import CHOICES
from benchsite.readings.counts import DEFAULT_POLICY
from benchsite.readings.trials import Filters

NAMES = (
    "of", "q", "bench", *(field.name for field in fields(Filters)), "verdict", "before", "tried", "subject", "start",
    "policy", "measure", "show", "side", "sort", "first", "want", "split", "panels", "c", "what", "same", "nearest",
    "f", "in", "attempt", "page", "role", "at", "find", *CHOICES, "from",
)  # fmt: skip
"""Parts of pages and ways to send bytes are not among them: they are no places one comes back to."""
DEFAULTS = {"policy": DEFAULT_POLICY, **{name: choices[0] for name, choices in CHOICES.items()}}
EMPTY = ("case", "why")
"""Empty, these still say something."""


def permalink(request: HttpRequest) -> str:
    asked = request.GET
    pairs = [
        (name, value)
        for name in dict.fromkeys(NAMES)
        for value in (asked.getlist(name) if name == "of" else [asked[name]] if name in asked else [])
        if value != DEFAULTS.get(name, "") or name in EMPTY
    ]
    query = f"?{urlencode(pairs, safe=':/,')}" if pairs else ""
    return request.build_absolute_uri(request.path) + query
