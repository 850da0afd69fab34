"""What a reader may ask of a diff. All of it lives in the query, in a fixed order, defaults left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from urllib.parse import urlencode

CHOICES: dict[str, tuple[str, ...]] = {
    "view": ("split", "unified"),
    "space": ("keep", "eol", "all"),
    "context": ("3", "10", "all"),
    "wrap": ("on", "off"),
    "stage": ("agent", "evaluation"),
}
"""The first of each is the default."""


@dataclass(frozen=True)
class Options:
    view: str = "split"
    space: str = "keep"
    context: str = "3"
    wrap: str = "on"
    stage: str = "agent"

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Options:
        """Read a query; a value nobody offers falls back to the default, so that old links keep working."""
        asked = {name: query.get(name, "") for name in CHOICES}
        return cls(**{name: asked[name] if asked[name] in CHOICES[name] else CHOICES[name][0] for name in CHOICES})

    def query(self, **changes: str) -> str:
        """Give the canonical query of these options with `changes` made, without the leading "?"."""
        new = replace(self, **changes)
        pairs = [(field.name, getattr(new, field.name)) for field in fields(new)]
        return urlencode([(name, value) for name, value in pairs if value != CHOICES[name][0]])
