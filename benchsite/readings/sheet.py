"""A table as plain values: a page shows them rounded, its CSV and JSON twins give them whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .subjects import CellFacts


@dataclass(frozen=True)
class Sheet:
    """`name` is the file's; missing values are None, never 0."""

    name: str
    columns: tuple[str, ...]
    rows: Iterable[Iterable[Any]]
    about: dict[str, Any] = field(default_factory=dict)
    """What the figures rest on, told in JSON: run, policy, measure."""


def path_text(path: str) -> str:
    """A path's bytes that are no UTF-8 as escapes: neither CSV nor JSON could hold them."""
    return path.encode("utf-8", "backslashreplace").decode()


class Axis:
    """The columns that name a cell: the axes that vary, then its id."""

    def __init__(self, cells: Iterable[CellFacts]) -> None:
        self.names = tuple(dict.fromkeys(name for cell in cells for name, _ in cell.shown))
        self.columns = (*self.names, "cell")

    def of(self, cell: CellFacts) -> Iterator[Any]:
        values = dict(cell.axes)
        yield from (values.get(name) for name in self.names)
        yield cell.name
