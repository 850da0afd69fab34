"""What an operator reads: a fact, and where something is wrong a sentence that says so and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Fact:
    """`value` is for programs, `shown` for people. `wrong` is empty where all is well; `docs` names a heading of the
    operators' documentation, `href` a page that shows what is meant."""

    key: str
    name: str
    value: Any
    shown: str
    wrong: str = ""
    docs: str = ""
    href: str = ""


@dataclass(frozen=True)
class Part:
    key: str
    title: str
    facts: tuple[Fact, ...]

    @property
    def wrong(self) -> Iterator[Fact]:
        return (fact for fact in self.facts if fact.wrong)


@dataclass(frozen=True)
class Failure:
    """Something that went wrong lately: an error of the site, or a job. `mark` finds it in the log."""

    at: str
    what: str
    where: str
    mark: str = ""

    @property
    def moment(self) -> datetime | None:
        """When it was; None where a line of the file is no longer whole."""
        try:
            return datetime.fromisoformat(self.at)
        except ValueError:
            return None
