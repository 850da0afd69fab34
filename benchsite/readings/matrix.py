"""Scenario x cell: what happened where. Squares are small tuples: a page may show thousands."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from runner.statistics import POLICIES

from .counts import SUBJECT_FAULTS, Counts, Slot, total
from .leaderboard import MeasureFacts
from .question import Question
from .subjects import Axes, CellFacts
from .words import HUGE, NONE, decimals, fixed, natural, ratio

ROWS = 200
SORTS = ("name", "rate", "spread")
LARGE = 1_000
"""Squares."""
NEW = tuple.__new__
"""Makes a named tuple in half the time that its own function takes."""


class Square(NamedTuple):
    """`value` is what colours it (0 to 1, None: nothing counted), `text` what it shows."""

    value: float | None
    text: str
    k: float | None
    n: int
    planned: int
    errors: int
    excluded: int


@dataclass(frozen=True)
class Row:
    """`k` of `n` over all its squares, where these follow the counting policy."""

    slug: str
    name: str
    squares: tuple[Square | None, ...]
    k: int
    n: int
    value: float | None
    spread: float | None
    cases: int = 1
    key: str | None = None
    """The case this row is of; None where it is of a whole scenario."""

    @property
    def differs(self) -> bool:
        return bool(self.spread)


@dataclass(frozen=True)
class Unfolded:
    """The cases of the scenario that the reader opened."""

    slug: str
    rows: tuple[Row, ...]
    first: int
    total: int

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1


@dataclass(frozen=True)
class Matrix:
    """`heads` are the grouped axis headers: for each varying axis, (value, columns it spans)."""

    measure: MeasureFacts
    cells: tuple[CellFacts, ...]
    heads: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    rows: tuple[Row, ...]
    columns: tuple[Counts, ...]
    all: Counts
    total_rows: int
    first: int
    sort: str
    places: int = 0
    by_policy: bool = True
    """Whether squares follow the counting policy; a measure that is no boolean headline counts scored trials."""
    left_out: int = 0
    """Rows in which no two cells differ, where the reader wants only those that do."""
    open: Unfolded | None = None
    sums: tuple[float | None, ...] = ()
    """The pooled figure of each column, for a measure whose squares are not counted by policy."""

    totals: tuple[int, ...] = ()
    """How many trials each of these is over."""

    @property
    def large(self) -> bool:
        """With a second link in each square the page would be a third heavier."""
        return len(self.rows) * len(self.cells) > LARGE

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1

    @property
    def next(self) -> int | None:
        return self.last + 1 if self.last < self.total_rows else None


class TallyRow(NamedTuple):
    """One measure over the scored trials of a case in a cell; `figure` is reduced as the measure declares."""

    cell: int
    case: int
    n: int
    sum: float | None
    figure: float | None
    shares: Mapping[str, int]


class Values:
    """Figures of one measure by (cell, case), taken from tallies."""

    def __init__(self, measure: MeasureFacts, tallies: Sequence[TallyRow]) -> None:
        self.measure = measure
        self.rows = {row[:2]: row for row in tallies}
        self.places = decimals([row[4] for row in tallies])
        self.numbers = measure.type != "category" and not measure.rate
        self.format = f",.{self.places}f"

    def of(self, cell: int, cases: Sequence[int]) -> list[TallyRow]:
        return [row for case in cases if (row := self.rows.get((cell, case)))]

    def shares(self, cell: int, cases: Sequence[int]) -> Counter[str]:
        """How often each category came."""
        counted: Counter[str] = Counter()
        for row in self.of(cell, cases):
            for value, many in row.shares.items():  # by hand: Counter.update is slow on mappings
                counted[value] += many
        return counted

    def share(self, cell: int, cases: Sequence[int]) -> tuple[str, int] | None:
        """The most frequent category and how often it came."""
        counted = self.shares(cell, cases)
        return counted.most_common(1)[0] if counted else None


@dataclass(frozen=True)
class Squares:
    """What squares are made of: slots by (scenario, cell), the cells in their order, and how a square reads."""

    grid: Mapping[tuple[int, int], list[Slot]]
    cells: Sequence[CellFacts]
    policy: str
    values: Values | None
    known: dict[tuple[Any, ...], Square] = field(default_factory=dict)

    def row(self, mine: Iterable[Sequence[Slot]]) -> tuple[Square | None, ...]:
        """Make a row's squares; of thousands made of one slot most are alike, and their states were read once (see
        counts)."""
        known, values, made = self.known, self.values, []
        for slots in mine:
            if len(slots) != 1:
                made.append(square(slots, self.policy, values) if slots else None)
                continue
            cell, _, case, planned, states, faults, _, _, _, _, _, _ = slots[0]
            key = (planned, id(states), id(faults))
            one = known.get(key)
            if one is None:
                one = known[key] = square(slots, self.policy, None)
            if values is not None:
                row = values.rows.get((cell, case))
                if row is not None and values.numbers:  # as _figure has it, which makes lists first
                    _, _, n, _, figure, _ = row
                    usual = figure is not None and -HUGE < figure < HUGE  # `fixed` knows the others
                    text = format(figure, values.format) if usual else fixed(figure, values.places)
                    one = NEW(Square, (figure, text, figure, n, planned, one[5], one[6]))
                else:
                    one = self._figured(slots, key, one, row)
            made.append(one)
        return tuple(made)

    def _figured(self, slots: Sequence[Slot], key: tuple[Any, ...], one: Square, row: TallyRow | None) -> Square:
        """A square of rates or categories, most of which are alike too."""
        assert self.values is not None
        if row is None:
            return _figure(slots, one.planned, one.errors, one.excluded, self.values)
        alike = (*key, row.n, row.sum, id(row.shares))
        found = self.known.get(alike)
        if found is None:
            found = self.known[alike] = _figure(slots, one.planned, one.errors, one.excluded, self.values)
        return found


def matrix(
    measure: MeasureFacts,
    axes: Axes,
    cells: Sequence[CellFacts],
    scenarios: Mapping[int, tuple[str, str]],
    slots: Sequence[Slot],
    by_cell: Mapping[int, Counts],
    values: Values | None,
    asked: Question,
    case_keys: Callable[[int], dict[int, str]],
) -> Matrix:
    """`cells`: those the reader wants, in order. `case_keys` gives a scenario's cases; asked only to unfold one."""
    made = Squares(_grid(slots, cells), cells, asked.policy, values)
    rows = [_row(pk, slug, name, made) for pk, (slug, name) in scenarios.items()]
    columns = tuple(by_cell.get(cell.id, Counts()) for cell in cells)
    kept = [row for row in rows if row.differs] if asked.differ else rows
    kept.sort(key=_sorting(asked.sort))
    return Matrix(
        measure=measure,
        cells=tuple(cells),
        heads=heads(axes, cells),
        rows=tuple(kept[asked.first - 1 : asked.first - 1 + ROWS]),
        columns=columns,
        all=total(columns),
        total_rows=len(kept),
        first=asked.first,
        sort=asked.sort,
        places=values.places if values else 0,
        by_policy=values is None,
        left_out=len(rows) - len(kept),
        open=_unfolded(asked, scenarios, made, case_keys) if asked.open else None,
    )


def _grid(slots: Sequence[Slot], cells: Sequence[CellFacts]) -> dict[tuple[int, int], list[Slot]]:
    wanted = {cell.id for cell in cells}
    grid: dict[tuple[int, int], list[Slot]] = defaultdict(list)
    for slot in slots:
        if slot.cell in wanted:
            grid[slot.scenario, slot.cell].append(slot)
    return grid


def _unfolded(
    asked: Question,
    scenarios: Mapping[int, tuple[str, str]],
    made: Squares,
    case_keys: Callable[[int], dict[int, str]],
) -> Unfolded | None:
    """One row a case of the opened scenario, by name, a page of them at a time."""
    pk = next((pk for pk, (slug, _) in scenarios.items() if slug == asked.open), None)
    if pk is None:
        return None
    by_case: dict[int, dict[tuple[int, int], list[Slot]]] = defaultdict(lambda: defaultdict(list))
    for cell in made.cells:
        for slot in made.grid.get((pk, cell.id), []):
            by_case[slot.case][pk, cell.id].append(slot)
    keys = case_keys(pk)
    ordered = sorted(by_case, key=lambda case: natural(keys.get(case, "")))
    shown = ordered[asked.case - 1 : asked.case - 1 + ROWS]
    rows = [_row(pk, asked.open, keys.get(case, ""), replace(made, grid=by_case[case])) for case in shown]
    named = tuple(replace(row, key=row.name) for row in rows)
    return Unfolded(asked.open, named, asked.case, len(ordered))


def _sorting(sort: str) -> Callable[[Row], Any]:
    if sort == "rate":
        return lambda row: (row.value is None, row.value if row.value is not None else 0.0, natural(row.slug))
    if sort == "spread":
        return lambda row: (row.spread is None, -(row.spread or 0.0), natural(row.slug))
    return lambda row: natural(row.slug)


def _row(pk: int, slug: str, name: str, made: Squares) -> Row:
    mine = [made.grid.get((pk, cell.id), _NO_SLOTS) for cell in made.cells]
    squares = made.row(mine)
    seen = [one.value for one in squares if one and one.value is not None]
    spread = max(seen) - min(seen) if len(seen) > 1 else None
    cases = max(map(len, mine), default=0)
    if made.values is not None:
        return Row(slug, name, squares, 0, 0, sum(seen) / len(seen) if seen else None, spread, cases)
    k, n = sum([int(one.k or 0) for one in squares if one]), sum([one.n for one in squares if one])
    return Row(slug, name, squares, k, n, k / n if n else None, spread, cases)


_NO_SLOTS: list[Slot] = []


def square(slots: Sequence[Slot], policy: str, values: Values | None) -> Square:
    """Count by hand: a page shows thousands of squares, most of them of one slot."""
    fails = POLICIES[policy].errors_fail
    k = n = planned = errors = excluded = 0
    for slot in slots:
        states = slot.states
        solved = states.get("solved", 0)
        planned += slot.planned
        k += solved
        errors += states.get("run_error", 0) + states.get("eval_error", 0)
        excluded += states.get("excluded", 0)
        if fails:
            n += states.get("scored", 0) + sum(slot.faults.get(code, 0) for code in SUBJECT_FAULTS)
        else:
            n += solved + states.get("unsolved", 0)
    if values is not None:
        return _figure(slots, planned, errors, excluded, values)
    return Square(k / n if n else None, f"{k}/{n}" if n else NONE, k, n, planned, errors, excluded)


def _figure(slots: Sequence[Slot], planned: int, errors: int, excluded: int, values: Values) -> Square:
    cell, cases = slots[0].cell, [slot.case for slot in slots]
    rows = values.of(cell, cases)
    if len(rows) == 1 and values.numbers:
        only = rows[0]
        return Square(only.figure, fixed(only.figure, values.places), only.figure, only.n, planned, errors, excluded)
    n = sum([row.n for row in rows])
    if values.measure.type == "category":
        top = values.share(cell, cases)
        text = f"{top[0]} {top[1]}/{n}" if top else NONE
        return Square(top[1] / n if top and n else None, text, None, n, planned, errors, excluded)
    if values.measure.rate:
        k = sum([row.sum or 0 for row in rows])
        return Square(k / n if n else None, ratio(k, n), k, n, planned, errors, excluded)
    known = [row.figure for row in rows if row.figure is not None]
    mean = sum(known) / len(known) if known else None  # over the cases, as a pooled figure is
    return Square(mean, fixed(mean, values.places), mean, n, planned, errors, excluded)


def heads(axes: Axes, cells: Sequence[CellFacts]) -> tuple[tuple[str, tuple[tuple[str, int], ...]], ...]:
    """Group equal neighbours per axis; a deeper axis starts anew wherever a higher one does."""
    if not axes.varying:
        return (("", tuple((cell.title, 1) for cell in cells)),)
    levels = []
    for depth, (axis, _) in enumerate(axes.varying):
        spans: list[tuple[str, int]] = []
        before: tuple[tuple[str, str], ...] | None = None
        for cell in cells:
            head = cell.shown[: depth + 1]
            if head == before:
                spans[-1] = (spans[-1][0], spans[-1][1] + 1)
            else:
                spans.append((dict(cell.shown).get(axis, NONE), 1))
            before = head
        levels.append((axis, tuple(spans)))
    return tuple(levels)
