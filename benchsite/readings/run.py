"""One run whole: who leads, what was left out, where it differs, and where the numbers come from."""

from __future__ import annotations

from dataclasses import dataclass

from benchsite.curation.models import Decision
from benchsite.runs.models import Run, Standing

from .beside import beside
from .breakdown import Breakdown, breakdown
from .counts import DEFAULT_POLICY, Counts
from .coverage import Coverage, coverage
from .leaderboard import Board, MeasureFacts, Verdict, board, verdict
from .loaded import Loaded
from .matrix import Matrix, matrix
from .notices import Notice, notices
from .provenance import Fact, provenance
from .subjects import Axes


@dataclass(frozen=True)
class Question:
    """What the address asks: counting policy, measure, order and first row of the matrix, all panels or the first."""

    policy: str = DEFAULT_POLICY
    measure: str = ""
    sort: str = "name"
    first: int = 1
    every: bool = False


@dataclass(frozen=True)
class RunPage:
    run: Run
    asked: Question
    axes: Axes
    counts: Counts
    measures: tuple[MeasureFacts, ...]
    measure: MeasureFacts | None
    verdict: Verdict | None
    notices: tuple[Notice, ...]
    board: Board | None
    matrix: Matrix | None
    breakdown: Breakdown | None
    coverage: Coverage
    facts: tuple[Fact, ...]
    hashes: tuple[Fact, ...]

    @property
    def counted(self) -> int:
        return self.counts.scored


def run_page(run: Run, asked: Question) -> RunPage:
    loaded = Loaded(run)
    measure = _measure(loaded, asked.measure)
    table = _board(loaded, measure, asked.policy) if measure and measure.pooled else None
    grid = _matrix(loaded, measure, asked) if measure else None
    aside = beside(run)
    facts, hashes = provenance(run, loaded.manifest)
    return RunPage(
        run=run,
        asked=asked,
        axes=loaded.axes,
        counts=loaded.total,
        measures=tuple(loaded.measures),
        measure=measure,
        verdict=verdict(table) if table else None,
        notices=tuple(notices(loaded, table, decided(run), aside.flags)),
        board=table,
        matrix=grid,
        breakdown=breakdown(table, grid, every=asked.every) if table and grid else None,
        coverage=coverage(aside.sums, loaded.measures, loaded.total),
        facts=facts,
        hashes=hashes,
    )


def _measure(loaded: Loaded, key: str) -> MeasureFacts | None:
    return next((measure for measure in loaded.measures if measure.key == key), loaded.headline)


def _board(loaded: Loaded, measure: MeasureFacts, policy: str) -> Board:
    standings = list(Standing.objects.filter(run=loaded.run, measure=measure.id, policy=policy))
    return board(measure, policy, standings, loaded.cell_by_id, loaded.by_cell)


def _matrix(loaded: Loaded, measure: MeasureFacts, asked: Question) -> Matrix | None:
    if measure.type == "text":
        return None
    values = None if measure.headline and measure.rate else loaded.values_of(measure)
    return matrix(
        measure,
        asked.policy,
        loaded.axes,
        loaded.cells,
        loaded.scenarios,
        loaded.slots,
        loaded.by_cell,
        values,
        sort=asked.sort,
        first=asked.first,
    )


def decided(run: Run) -> str:
    """The reason of the newest decision on the run itself, where it is one against it."""
    if run.verdict in (Run.Verdict.SUBMITTED, Run.Verdict.ACCEPTED):
        return ""
    newest = Decision.objects.filter(run=run.ulid, trial=None).order_by("-id").values_list("reason", flat=True)
    return newest.first() or ""
