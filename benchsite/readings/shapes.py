"""The shape of what a cell's trials took and measured: how many had how much. Quartiles hide two humps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import FilteredRelation, Q

from benchsite.runs.models import Run, Spread, Trial
from runner.statistics import histogram, spread
from runner.statistics.spread import Bin

from .distributions import Panel, distributions
from .leaderboard import MeasureFacts
from .question import SPENT
from .subjects import CellFacts
from .wholerows import whole_rows


@dataclass(frozen=True)
class Shape:
    """One quantity's trials by bin, as many in all as the panel's n."""

    panel: Panel
    bins: tuple[Bin, ...]

    @property
    def most(self) -> int:
        return max((each.many for each in self.bins), default=0)


def shapes_of(run: Run, cell: CellFacts, measures: Sequence[MeasureFacts]) -> tuple[Shape, ...]:
    """Give every quantity of the cell that has values, with its figures: those of the rollup, made as it makes them."""
    values = _values(run, cell, measures)
    described = {key: spread(known) for key, known in values.items()}
    rows = [Spread(cell_id=cell.id, key=key, **of._asdict()) for key, of in described.items() if of]
    panels = distributions(rows, measures, [cell], None).panels
    return tuple(Shape(panel, tuple(histogram(values[panel.key]))) for panel in panels)


def _values(run: Run, cell: CellFacts, measures: Sequence[MeasureFacts]) -> dict[str, list[float]]:
    """What trials took counts whatever became of them, what they measured if they were scored. One query for both."""
    keys = {measure.id: measure.key for measure in measures if measure.pooled and not measure.rate}
    seen = FilteredRelation("observations", condition=Q(observations__measure__in=keys))
    rows = Trial.objects.filter(run=run, cell=cell.id, withdrawn=False).annotate(seen=seen)
    names = ("index", "state", "seen__measure_id", "seen__number", "seen__valid", *SPENT)
    values: dict[str, list[float]] = defaultdict(list)
    before = -1
    for index, state, measure, number, valid, *taken in whole_rows(rows.order_by("index").values_list(*names)):
        if index != before:
            before = index
            for key, value in zip(SPENT, taken, strict=True):
                if value is not None:
                    values[key].append(value)
        if valid and number is not None and state == "scored":
            values[keys[measure]].append(number)
    return values
