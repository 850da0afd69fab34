"""What a reader may ask of a diff. All of it lives in the query, in a fixed order, defaults left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from .rows import Line

CHOICES: dict[str, tuple[str, ...]] = {
    "view": ("split", "unified"),
    "space": ("keep", "eol", "all"),
    "context": ("3", "10", "all"),
    "wrap": ("on", "off"),
    "json": ("kept", "pretty"),
    "moved": ("on", "off"),
    "files": ("all", "failed"),
    "stage": ("agent", "evaluation"),
}
"""The first of each is the default."""


@dataclass(frozen=True)
class Options:
    view: str = "split"
    space: str = "keep"
    context: str = "3"
    wrap: str = "on"
    json: str = "kept"
    moved: str = "on"
    files: str = "all"
    stage: str = "agent"
    start: Line | None = None
    """The line to begin with; a place in a file, no choice about how files are shown."""

    @property
    def lines(self) -> int | None:
        """How many unchanged lines stand around a change; None is all."""
        return None if self.context == "all" else int(self.context)

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Options:
        """Read a query; a value nobody offers falls back to the default, so that old links keep working."""
        asked = {name: query.get(name, "") for name in CHOICES}
        chosen = {name: asked[name] if asked[name] in CHOICES[name] else CHOICES[name][0] for name in CHOICES}
        return cls(**chosen, start=read_line(query.get("from", "")))

    def query(self, **changes: str) -> str:
        """Give the canonical query of these options with `changes` made, without the leading "?"."""
        new = replace(self, **changes)
        pairs = [(name, getattr(new, name)) for name in CHOICES]
        return urlencode([(name, value) for name, value in pairs if value != CHOICES[name][0]])


def read_line(text: str) -> Line | None:
    """Read a line's name: its side, L or R, and its number."""
    found = re.fullmatch(r"([LR])([1-9][0-9]{0,7})", text, re.ASCII)
    return ("L" if found[1] == "L" else "R", int(found[2])) if found else None
