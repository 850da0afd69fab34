"""One run whole: who leads, what was left out, where it differs, and where the numbers come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchsite.runs.models import Run, Standing

from .beside import Beside, Written, beside
from .breakdown import Breakdown, breakdown
from .counts import Counts, Slot
from .coverage import Coverage, coverage
from .distributions import Distributions, categories_of, distributions, spreads_of
from .frontier import Frontier, frontier
from .leaderboard import Board, MeasureFacts, Place, Verdict, board, verdict
from .loaded import Loaded
from .matrix import Matrix, Values, matrix
from .notices import Asked, Notice, notices
from .progress import Progress, progress
from .provenance import Fact, provenance
from .question import Question
from .reasons import Failures, failures
from .subjects import Axes, CellFacts

__all__ = ["Question", "RunPage", "run_page"]


@dataclass(frozen=True)
class RunPage:
    """`cells`: those the reader wants. `places` are the board's rows as they are shown, `board` has all of them."""

    run: Run
    asked: Question
    axes: Axes
    cells: tuple[CellFacts, ...]
    all_cells: int
    counts: Counts
    measures: tuple[MeasureFacts, ...]
    measure: MeasureFacts | None
    verdict: Verdict | None
    notices: tuple[Notice, ...]
    board: Board | None
    places: tuple[Place, ...]
    matrix: Matrix | None
    breakdown: Breakdown | None
    distributions: Distributions
    frontier: Frontier | None
    failures: Failures
    flags: dict[str, int]
    coverage: Coverage
    progress: Progress | None
    tags: tuple[str, ...]
    notes: tuple[Written, ...]
    facts: tuple[Fact, ...]
    hashes: tuple[Fact, ...]

    @property
    def live(self) -> bool:
        return self.run.state == Run.State.RUNNING

    @property
    def runner_up(self) -> Place | None:
        """Whom the leader is best compared with: pairs tell two apart where intervals side by side do not."""
        others = self.board.places[1:] if self.board and self.verdict and self.verdict.place else ()
        return next((place for place in others if place.macro is not None), None)

    @property
    def narrowed(self) -> bool:
        return len(self.cells) < self.all_cells


def run_page(run: Run, asked: Question) -> RunPage | None:
    """Answer, or None where the address names an axis, a value, a scenario or a measure that the run does not have."""
    loaded = Loaded(run, with_before=True, with_cases=bool(asked.open))
    if asked.unknown(_values(loaded.cells)) or (asked.open and asked.open not in dict(loaded.scenarios.values())):
        return None
    if asked.measure and asked.measure not in {measure.key for measure in loaded.measures}:
        return None
    return _Page(loaded, asked, beside(run)).made()


def _values(cells: Sequence[CellFacts]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for cell in cells:
        for axis, value in cell.axes:
            found.setdefault(axis, set()).add(value)
    return found


class _Page:
    """What the parts of one page share, made in their order."""

    def __init__(self, loaded: Loaded, asked: Question, aside: Beside) -> None:
        self.loaded, self.asked, self.aside = loaded, asked, aside
        self.cells = [cell for cell in loaded.cells if asked.fits(cell)]
        self.measure = next((m for m in loaded.measures if m.key == asked.measure), loaded.headline)
        self.values = self._values()
        self.board = self._board()
        self.places = self._places()

    def made(self) -> RunPage:
        loaded, asked, board, measure = self.loaded, self.asked, self.board, self.measure
        run = loaded.run
        cover = coverage(self.aside.gaps, loaded.measures, loaded.total)
        spread = self._distributions()
        grid = self._matrix()
        facts, hashes = provenance(run, loaded.manifest)
        return RunPage(
            run=run,
            asked=asked,
            axes=loaded.axes,
            cells=tuple(self.cells),
            all_cells=len(loaded.cells),
            counts=loaded.total,
            measures=tuple(loaded.measures),
            measure=measure,
            verdict=verdict(board) if board else None,
            notices=tuple(notices(Asked(loaded, board, cover, self.aside.flags, spread.far, self.aside))),
            board=board,
            places=self.places,
            matrix=grid,
            breakdown=self._breakdown(grid),
            distributions=spread,
            frontier=frontier(board, self.places, self._slots(), asked.x) if board else None,
            failures=failures(self.aside.reasons, fixed=self.fixed),
            flags=self.aside.flags,
            coverage=cover,
            progress=progress(loaded, fixed=self.asked.fixed),
            tags=tuple(self.aside.tags),
            notes=tuple(self.aside.notes),
            facts=facts,
            hashes=hashes,
        )

    @property
    def fixed(self) -> bool:
        """Rows of a run that goes on stand in the manifest's order: a figure that changes moves no row."""
        return self.loaded.run.state == Run.State.RUNNING or self.asked.fixed

    def _values(self) -> Values | None:
        measure = self.measure
        if measure is None or measure.type == "text" or (measure.headline and measure.rate):
            return None
        return self.loaded.values_of(measure)

    def _slots(self) -> list[Slot]:
        wanted = {cell.id for cell in self.cells}
        return [slot for slot in self.loaded.slots if slot.cell in wanted]

    def _board(self) -> Board | None:
        measure, loaded, policy = self.measure, self.loaded, self.asked.policy
        if measure is None or not measure.pooled:
            return None
        standings = list(Standing.objects.filter(run=loaded.run, measure=measure.id).values_list(named=True))
        return board(measure, policy, standings, loaded.cell_by_id, loaded.by_cell, fixed=self.fixed)

    def _places(self) -> tuple[Place, ...]:
        if self.board is None:
            return ()
        places = [place for place in self.board.places if self.asked.fits(place.cell)]
        return tuple(sorted(places, key=lambda place: place.cell.ordinal) if self.fixed else places)

    def _ordered(self) -> list[CellFacts]:
        return [place.cell for place in self.places] or self.cells

    def _matrix(self) -> Matrix | None:
        measure, loaded = self.measure, self.loaded
        if measure is None or measure.type == "text":
            return None
        keys = loaded.case_keys
        grid = matrix(
            measure,
            loaded.axes,
            self.cells,
            loaded.scenarios,
            loaded.slots,
            loaded.by_cell,
            self.values,
            self.asked,
            lambda _: keys,
        )
        places = {place.cell.id: place for place in self.places}
        pooled = [places.get(cell.id) for cell in self.cells] if self.board else []
        threes = [place.three or {} if place else {} for place in pooled]  # as its squares, whatever the policy
        sums = tuple(three.get("scored") for three in threes)
        return replace(grid, sums=sums, totals=tuple(three.get("n", 0) for three in threes))

    def _breakdown(self, grid: Matrix | None) -> Breakdown | None:
        if self.board is None or grid is None:
            return None
        every = self.asked.panels == "all"
        return breakdown(self.board, self._ordered(), grid, every=every, fixed=self.fixed)

    def _distributions(self) -> Distributions:
        loaded, cells, kinds = self.loaded, self._ordered(), None
        if self.measure is not None and self.measure.type == "category":
            kinds = categories_of(self.measure, self.values, cells, sorted({slot.case for slot in loaded.slots}))
        every = self.asked.panels == "all"
        return distributions(spreads_of(loaded.run), loaded.measures, cells, kinds, every=every)
