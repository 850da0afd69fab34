"""One cell of a run: its values, what was really applied, and how it did scenario by scenario."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchsite.runs.models import Run, Standing, Tally, Trial
from runner.statistics.counted import spent
from runner.statistics.solving import Case, Solving, solving

from .counts import DEFAULT_POLICY, Counts
from .leaderboard import Board, MeasureFacts, Place, board
from .loaded import Loaded
from .matrix import Square, square
from .scenario import scale_of_squares
from .shapes import Shape, shapes_of
from .strips import NO_STRIP, Strip, strips
from .subjects import CellFacts


@dataclass(frozen=True)
class ScenarioLine:
    slug: str
    name: str
    square: Square | None
    lo: float | None
    hi: float | None
    counts: Counts
    strip: Strip


@dataclass(frozen=True)
class MeasureLine:
    """One measure over the cell's scored trials; `shares` for categories, the figure and range for numbers."""

    measure: MeasureFacts
    place: Place | None
    n: int
    invalid: int
    missing: int
    least: float | None
    most: float | None
    shares: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class CellPage:
    run: Run
    cell: CellFacts
    policy: str
    pin: tuple[tuple[str, str], ...]
    pin_text: str
    measure: MeasureFacts | None
    board: Board | None
    place: Place | None
    rank: int
    counts: Counts
    lines: tuple[ScenarioLine, ...]
    scale: tuple[float, float]
    measures: tuple[MeasureLine, ...]
    others: tuple[CellFacts, ...]
    shapes: tuple[Shape, ...] = ()
    solving: Solving | None = None
    """What several tries of the same case say, where the headline is solved or not."""


def cell_page(run: Run, key10: str, policy: str = DEFAULT_POLICY) -> CellPage | None:
    loaded = Loaded(run, only=key10)
    cell = loaded.cell(key10)
    if cell is None:
        return None
    boards = _boards(loaded, policy)
    table = boards.get(loaded.headline.id) if loaded.headline else None
    place, rank = _place(table, cell)
    pin = loaded.pin(cell)
    lines = tuple(_lines(loaded, cell, policy))
    return CellPage(
        run=run,
        cell=cell,
        policy=policy,
        pin=tuple(flat(pin)),
        pin_text=json.dumps(pin, sort_keys=True, separators=(",", ":"), ensure_ascii=False),
        measure=loaded.headline,
        board=table,
        place=place,
        rank=rank,
        counts=loaded.by_cell[cell.id],
        lines=lines,
        scale=scale_of_squares(loaded.headline, [line.square for line in lines]),
        measures=tuple(_measures(loaded, cell, boards)),
        others=tuple(loaded.cells),
        shapes=shapes_of(run, cell, loaded.measures),
        solving=_solving(loaded, policy),
    )


def _solving(loaded: Loaded, policy: str) -> Solving | None:
    headline = loaded.headline
    if headline is None or not headline.rate or headline.objective != "maximize":
        return None
    cases = []
    for slot in loaded.slots:
        counts = Counts()
        counts.add(slot)
        cases.append(Case(slot.scenario, counts.n(policy), counts.k, spent(slot.states, slot.cost, slot.cost_n)))
    return solving(cases)


def _boards(loaded: Loaded, policy: str) -> dict[int, Board]:
    rows: dict[int, list[Any]] = defaultdict(list)
    for row in Standing.objects.filter(run=loaded.run, policy=policy):
        rows[row.measure_id].append(row)
    known = {measure.id: measure for measure in loaded.measures}
    return {pk: board(known[pk], policy, of, loaded.cell_by_id, loaded.by_cell) for pk, of in rows.items()}


def _place(table: Board | None, cell: CellFacts) -> tuple[Place | None, int]:
    for rank, place in enumerate(table.places if table else (), start=1):
        if place.cell.id == cell.id:
            return place, rank
    return None, 0


def _lines(loaded: Loaded, cell: CellFacts, policy: str) -> Iterator[ScenarioLine]:
    headline = loaded.headline
    values = loaded.values_of(headline) if headline and not headline.rate else None
    marks = strips(Trial.objects.filter(run=loaded.run, cell=cell.id), "scenario_id")
    grouped = defaultdict(list)
    for slot in loaded.slots:
        grouped[slot.scenario].append(slot)
    for pk, (slug, name) in loaded.scenarios.items():
        counts = Counts()
        for slot in grouped[pk]:
            counts.add(slot)
        made = square(grouped[pk], policy, values) if grouped[pk] else None
        lo, hi = (counts.interval(policy) if values is None else None) or (None, None)
        yield ScenarioLine(slug, name, made, lo, hi, counts, marks.get(pk, NO_STRIP))


def _measures(loaded: Loaded, cell: CellFacts, boards: dict[int, Board]) -> Iterator[MeasureLine]:
    tallies: dict[int, list[Any]] = defaultdict(list)
    names = ("measure_id", "n", "invalid", "missing", "min", "max", "shares")
    for row in Tally.objects.filter(run=loaded.run, cell=cell.id).values_list(*names, named=True):
        tallies[row.measure_id].append(row)
    for measure in loaded.measures:
        rows = tallies[measure.id]
        shares: Counter[str] = Counter()
        for row in rows:
            shares.update(row.shares)
        yield MeasureLine(
            measure=measure,
            place=_place(boards.get(measure.id), cell)[0],
            n=sum(row.n for row in rows),
            invalid=sum(row.invalid for row in rows),
            missing=sum(row.missing for row in rows),
            least=min((row.min for row in rows if row.min is not None), default=None),
            most=max((row.max for row in rows if row.max is not None), default=None),
            shares=tuple(shares.most_common()),
        )


def flat(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """A pin as (dotted path, value) lines."""
    if isinstance(value, dict) and value:
        for key in sorted(value):
            yield from flat(value[key], f"{prefix}.{key}" if prefix else str(key))
    elif not isinstance(value, dict):
        yield prefix, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
