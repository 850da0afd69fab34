"""Cells as readers tell them apart: by the axes that vary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from benchsite.diffs.dangers import steady

FIRST = ("agent", "model")
"""Axes that stand first wherever axes are listed; the others follow by name."""


@dataclass(frozen=True)
class CellFacts:
    """A cell of a run. `shown` are the values of the axes that vary within the run, in the order of `axes`."""

    id: int
    key10: str
    name: str
    axes: tuple[tuple[str, str], ...]
    shown: tuple[tuple[str, str], ...]
    agent_version: str
    isolation: str
    stopped: str
    ordinal: int

    @cached_property
    def title(self) -> str:
        return steady(" · ".join(value for _, value in self.shown or self.axes) or self.name)


@dataclass(frozen=True)
class Axes:
    """The axes of a run: those that vary, with their values in order, and those held constant."""

    varying: tuple[tuple[str, tuple[str, ...]], ...]
    constant: tuple[tuple[str, str], ...]


def axis_order(name: str) -> tuple[int, str]:
    return (FIRST.index(name) if name in FIRST else len(FIRST), name)


def axes_of(cells: Sequence[dict[str, str]]) -> Axes:
    names = sorted({name for axes in cells for name in axes}, key=axis_order)
    values = {name: tuple(dict.fromkeys(axes[name] for axes in cells if name in axes)) for name in names}
    varying = tuple((name, values[name]) for name in names if len(values[name]) > 1)
    return Axes(varying, tuple((name, values[name][0]) for name in names if len(values[name]) == 1))


def cells_of(rows: Sequence[Any]) -> tuple[Axes, list[CellFacts]]:
    """Take Cell rows (with their subject) and order them so that equal values of the first axis stand together."""
    axes = axes_of([row.subject.axes for row in rows])
    places = {name: {value: place for place, value in enumerate(values)} for name, values in axes.varying}
    facts = [_cell(row, axes) for row in rows]
    return axes, sorted(facts, key=lambda cell: ([places[name][value] for name, value in cell.shown], cell.ordinal))


def _cell(row: Any, axes: Axes) -> CellFacts:
    own = row.subject.axes
    return CellFacts(
        id=row.id,
        key10=row.key10,
        name=row.name,
        axes=tuple((name, own[name]) for name in sorted(own, key=axis_order)),
        shown=tuple((name, own[name]) for name, _ in axes.varying if name in own),
        agent_version=row.agent_version,
        isolation=row.isolation,
        stopped=row.stopped,
        ordinal=row.ordinal,
    )
