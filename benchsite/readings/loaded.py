"""A run's parts, each read once a page and shared by the questions asked of it."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from benchsite.artifacts.store import read_blob
from benchsite.benches.models import Scenario
from benchsite.flows import clean
from benchsite.runs.models import Run, Tally
from runner.errors import RunnerError

from .counts import Counts, Slot, read_slots, total
from .leaderboard import MeasureFacts, headline_of, measures_of
from .matrix import TallyRow, Values
from .subjects import Axes, CellFacts, cells_of
from .words import natural

MANIFEST_LIMIT = 64 << 20


@dataclass
class Loaded:
    """Lazily read; each property below costs at most one query."""

    run: Run

    @cached_property
    def _cells(self) -> tuple[Axes, list[CellFacts]]:
        return cells_of(list(self.run.cells.select_related("subject")))

    @property
    def axes(self) -> Axes:
        return self._cells[0]

    @property
    def cells(self) -> list[CellFacts]:
        return self._cells[1]

    @cached_property
    def cell_by_id(self) -> dict[int, CellFacts]:
        return {cell.id: cell for cell in self.cells}

    def cell(self, key10: str) -> CellFacts | None:
        return next((cell for cell in self.cells if cell.key10 == key10), None)

    @cached_property
    def measures(self) -> list[MeasureFacts]:
        return measures_of(list(self.run.version.measures.all()))

    @property
    def headline(self) -> MeasureFacts | None:
        return headline_of(self.measures)

    @cached_property
    def scenarios(self) -> dict[int, tuple[str, str]]:
        """Slug and name of the version's scenarios by key, in the natural order of their slugs."""
        rows = Scenario.objects.filter(versions__version=self.run.version_id).values_list("pk", "slug", "name")
        return {pk: (slug, name) for pk, slug, name in sorted(rows, key=lambda row: natural(row[1]))}

    @cached_property
    def slots(self) -> list[Slot]:
        return read_slots(self.run.slots)

    @cached_property
    def by_cell(self) -> dict[int, Counts]:
        counts: dict[int, Counts] = defaultdict(Counts)
        for slot in self.slots:
            counts[slot.cell].add(slot)
        return counts

    @cached_property
    def total(self) -> Counts:
        return total(self.by_cell.values())

    def values_of(self, measure: MeasureFacts) -> Values:
        """Figures of any measure from tallies. The boolean headline is counted from slots instead, with its policy."""
        rows = Tally.objects.filter(run=self.run, measure=measure.id)
        names = ("cell_id", "case_id", "n", "sum", "min", "median", "max", "shares")
        return Values(measure, [_figure(measure.reducer, *row) for row in rows.values_list(*names)])

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The manifest as plain data, for what pages only show; empty when its blob is gone."""
        try:
            found: dict[str, Any] = json.loads(read_blob(self.run.manifest, MANIFEST_LIMIT))
        except (RunnerError, ValueError):
            return {}
        # the blob has the text as it came; rows are many, only numbers, and shown by nobody
        return {key: clean.tree(value) for key, value in found.items() if key not in ("rows", "order")}


def _figure(
    reducer: str,
    cell: int,
    case: int,
    n: int,
    summed: float | None,
    least: float | None,
    median: float | None,
    most: float | None,
    shares: dict[str, int],
) -> TallyRow:
    mean = summed / n if summed is not None and n else None
    figure = {"median": median, "min": least, "max": most, "sum": summed}.get(reducer, mean)
    return TallyRow(cell, case, n, summed, figure, shares)
