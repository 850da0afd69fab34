"""What an address asks of the curators' page, and how its lists go on: by the last row shown, in any order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from django.db.models import Q

from benchsite.runs.models import Run

LIMIT = 50
SHOWN = ("runs", "files", "decisions", "releases")
ANY = "any"
VERDICTS = (*Run.Verdict.values, ANY)
SORTS = {
    "runs": {
        "oldest": ("pk",),
        "newest": ("-pk",),
        "bench": ("bench__owner", "bench__name", "pk"),
        "size": ("-planned", "-pk"),
    },
    "files": {"newest": ("-pk",), "oldest": ("pk",), "size": ("-size", "-pk")},
    "decisions": {"newest": ("-pk",), "oldest": ("pk",)},
    "releases": {"newest": ("-pk",), "oldest": ("pk",)},
}
"""The first of each is what one sees unasked: who waits longest stands first, and what was decided last."""


R = TypeVar("R")


@dataclass(frozen=True)
class Asked:
    """In the order an address has it. `verdict` narrows runs, `run` is a ULID, `by` an account's name."""

    show: str = "runs"
    verdict: str = ""
    bench: str = ""
    by: str = ""
    run: str = ""
    sort: str = ""
    after: int = 0

    def query(self, **changed: Any) -> str:
        """The canonical query: fixed order, defaults left out."""
        found = vars(replace(self, **changed))
        plain = {("show", "runs"), ("sort", next(iter(SORTS[found["show"]])))}
        return urlencode([pair for pair in found.items() if pair[1] and pair not in plain], safe="/")

    @property
    def order(self) -> tuple[str, ...]:
        sorts = SORTS[self.show]
        return sorts[self.sort or next(iter(sorts))]

    @property
    def verdicts(self) -> str:
        """Which runs are shown: those that wait, unless one run is asked for or a verdict."""
        return self.verdict or (ANY if self.run else Run.Verdict.SUBMITTED)

    @property
    def filters(self) -> str:
        """Say in words by what the list is narrowed."""
        named = {"bench": self.bench, "sender" if self.show == "runs" else "curator": self.by, "run": self.run}
        return ", ".join(f"the {name} “{value}”" for name, value in named.items() if value)

    def part(self, rows: Any, of: Any) -> tuple[list[Any], int | None]:
        """Give a page of `rows` and the last row's key where more follow; `of` is where that row is looked up."""
        found = list(self._onward(rows, of).order_by(*self.order)[: LIMIT + 1])
        return found[:LIMIT], found[LIMIT - 1].pk if len(found) > LIMIT else None

    def _onward(self, rows: Any, of: Any) -> Any:
        names = [column.lstrip("-") for column in self.order]
        last = of.filter(pk=self.after).values_list(*names).first() if self.after else None
        if last is None:
            return rows
        condition, alike = Q(), Q()
        for column, name, value in zip(self.order, names, last, strict=True):
            condition |= alike & Q(**{f"{name}__{'lt' if column.startswith('-') else 'gt'}": value})
            alike &= Q(**{name: value})
        return rows.filter(condition)


@dataclass(frozen=True)
class Page(Generic[R]):
    """Rows of one of the lists; `next` is what `after` is to be for those that follow."""

    asked: Asked
    rows: tuple[R, ...]
    total: int
    next: int | None
    limit: int = LIMIT

    @property
    def open(self) -> int:
        """How many of the rows shown can be ticked: a decision that another followed stands as it is."""
        return sum(not getattr(row, "kept", "") for row in self.rows)
