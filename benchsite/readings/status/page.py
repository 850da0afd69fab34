"""How this site is, for whoever runs it: facts by part, what is wrong first, and the last errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import stored, work
from .facts import Fact, Failure, Part


@dataclass(frozen=True)
class Page:
    parts: tuple[Part, ...]
    failures: tuple[Failure, ...]
    asked: bool
    """Whether workers were asked to answer."""

    @property
    def wrong(self) -> list[Fact]:
        return [fact for part in self.parts for fact in part.wrong]


def status_page(version: str, *, ask: bool) -> Page:
    made = {**work.every(ask=ask), **stored.every(version)}
    parts = tuple(Part(key, title, tuple(facts)) for key, (title, facts) in made.items())
    return Page(parts, work.failures(), ask)


def as_data(page: Page) -> dict[str, Any]:
    """The page for programs: unrounded values, and the sentences of what is wrong by the key of their fact."""
    return {
        "status": "attention" if page.wrong else "ok",
        **{part.key: {fact.key: fact.value for fact in part.facts} for part in page.parts},
        "wrong": {fact.key: fact.wrong for fact in page.wrong},
        "failures": [vars(one) for one in page.failures],
    }
