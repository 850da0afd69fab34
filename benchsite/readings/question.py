"""What an address asks of a run's page. Every state of the page is one of these, and each has one address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from .counts import DEFAULT_POLICY
from .subjects import CellFacts

SPENT = ("cost", "seconds", "tokens")
"""What a trial takes beside what it measures: an axis of the frontier, and distributions of their own."""


@dataclass(frozen=True)
class Question:
    """In the order an address has it. `where` narrows the cells ("axis:value"), `open` unfolds a scenario's cases."""

    policy: str = DEFAULT_POLICY
    measure: str = ""
    where: tuple[str, ...] = ()
    split: str = ""
    sort: str = "name"
    differ: bool = False
    turn: bool = False
    lead: str = ""
    """"versus": of a large matrix each square with a miss leads to what a solved trial did otherwise."""
    open: str = ""
    case: int = 1
    first: int = 1
    panels: str = ""
    x: str = "cost"
    fixed: bool = False
    """Rows stay where they are, although the run may have ended since the page was opened."""

    def query(self, **changed: Any) -> str:
        """The canonical query: fixed order, defaults left out, "?" where nothing is left."""
        asked = replace(self, **changed)
        pairs: list[tuple[str, Any]] = []
        for name, value in vars(asked).items():
            if name == "where":
                pairs += [("where", one) for one in sorted(set(value))]
            elif value != getattr(PLAIN, name):
                pairs.append((name, 1 if value is True else value))
        return f"?{urlencode(pairs, safe=':/')}"

    @property
    def chosen(self) -> dict[str, set[str]]:
        """The wanted values by axis."""
        found: dict[str, set[str]] = {}
        for one in self.where:
            axis, _, value = one.partition(":")
            found.setdefault(axis, set()).add(value)
        return found

    def fits(self, cell: CellFacts) -> bool:
        values = dict(cell.axes)
        return all(values.get(axis) in wanted for axis, wanted in self.chosen.items())

    def unknown(self, axes: Mapping[str, Sequence[str]]) -> bool:
        """Whether it names an axis or a value that the run does not have: an odd address is a 404."""
        return any(value not in axes.get(axis, ()) for axis, wanted in self.chosen.items() for value in wanted)

    def hidden(self, *without: str) -> Iterator[tuple[str, str]]:
        """The pairs a form must carry along, all but those it sets itself."""
        for name, value in vars(self).items():
            if name not in ("where", *without) and value != getattr(PLAIN, name):
                yield name, "1" if value is True else str(value)

    @property
    def hidden_for_cells(self) -> list[tuple[str, str]]:
        return list(self.hidden("first", "case"))


PLAIN = Question()
