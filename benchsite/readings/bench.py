"""A bench: what it measures, who leads, its runs and its scenarios."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

from benchsite.artifacts.store import read_blob
from benchsite.benches.models import Bench, ScenarioVersion, Version
from benchsite.runs.models import Cell, Run, Slot, Standing
from runner.errors import RunnerError

from .counts import DEFAULT_POLICY, SLOT_FIELDS, Counts
from .counts import Slot as SlotFacts
from .home import RunLine, run_lines
from .leaderboard import Board, MeasureFacts, board, headline_of, measures_of
from .subjects import Axes, CellFacts, cells_of
from .words import natural

README_LIMIT = 256 << 10
RUNS = 50
POOLED = 50


@dataclass(frozen=True)
class ScenarioLine:
    slug: str
    name: str
    doc: str
    counts: Counts


@dataclass(frozen=True)
class BenchPage:
    """`version` is the newest accepted run's (else the newest); `board` takes each subject from its latest run."""

    bench: Bench
    version: Version | None
    versions: int
    readme: str
    readme_note: str
    measures: tuple[MeasureFacts, ...]
    axes: Axes | None
    policy: str
    board: Board | None
    latest: Run | None
    pooled: int
    runs: tuple[RunLine, ...]
    run_total: int
    scenarios: tuple[ScenarioLine, ...]


def bench_page(bench: Bench, runs: Any, policy: str = DEFAULT_POLICY) -> BenchPage:
    """`runs`: the bench's runs that the reader may see."""
    newest = list(runs.select_related("version", "by").order_by("-id")[:RUNS])
    for run in newest:
        run.bench = bench
    latest = _latest(newest, runs)
    version = latest.version if latest else (newest[0].version if newest else None)
    measures = measures_of(list(version.measures.all())) if version else []
    cohort = _cohort(latest, runs) if latest else []
    axes, table = _board(cohort, headline_of(measures), policy)
    readme, note = _readme(version)
    return BenchPage(
        bench=bench,
        version=version,
        versions=len({run.version_id for run in newest}),
        readme=readme,
        readme_note=note,
        measures=tuple(measures),
        axes=axes,
        policy=policy,
        board=table,
        latest=latest,
        pooled=len({place.run for place in table.places}) if table else 0,
        runs=run_lines(newest),
        run_total=len(newest) if len(newest) < RUNS else runs.count(),
        scenarios=_scenarios(version, latest),
    )


def _latest(newest: list[Run], runs: Any) -> Run | None:
    accepted = (run for run in newest if run.verdict == Run.Verdict.ACCEPTED)
    found: Run | None = next(accepted, None)
    return found or (runs.counted().select_related("version").order_by("-id").first() if len(newest) == RUNS else None)


def _cohort(latest: Run, runs: Any) -> list[Run]:
    """Accepted runs that may stand in one table with the latest: the same definition under the same conditions."""
    return list(runs.counted().filter(cohort=latest.cohort).order_by("-id")[:POOLED])


def _board(runs: list[Run], headline: MeasureFacts | None, policy: str) -> tuple[Axes | None, Board | None]:
    if headline is None or not headline.pooled or not runs:
        return None, None
    cells = _newest_cells(runs)
    axes, facts = cells_of(cells)
    by_id = {cell.id: cell for cell in facts}
    of = {cell.run_id for cell in cells}
    standings = list(Standing.objects.filter(run__in=of, cell__in=by_id, policy=policy, measure__key=headline.key))
    table = board(headline, policy, standings, by_id, _counts(of, by_id), one_run=len(of) == 1)
    return axes, _named(table, {cell.pk: cell.run_id for cell in cells}, {run.pk: run for run in runs})


def _newest_cells(runs: list[Run]) -> list[Cell]:
    seen: dict[int, Cell] = {}
    for cell in Cell.objects.filter(run__in=runs).select_related("subject").order_by("-run", "ordinal"):
        seen.setdefault(cell.subject_id, cell)
    return list(seen.values())


def _counts(runs: set[int], cells: dict[int, CellFacts]) -> dict[int, Counts]:
    counts: dict[int, Counts] = defaultdict(Counts)
    for row in Slot.objects.filter(run__in=runs, cell__in=cells).values_list(*SLOT_FIELDS):
        counts[row[0]].add(SlotFacts(*row))
    return counts


def _named(table: Board, run_of: dict[int, int], runs: dict[int, Run]) -> Board:
    """Say on each place which run it comes from."""
    of = {cell: runs[run] for cell, run in run_of.items()}
    places = (replace(place, run=of[place.cell.id].ulid, label=of[place.cell.id].label) for place in table.places)
    return replace(table, places=tuple(places))


def _readme(version: Version | None) -> tuple[str, str]:
    if version is None or not version.readme:
        return "", ""
    try:
        return read_blob(version.readme, README_LIMIT).decode("utf-8", "replace"), ""
    except RunnerError as error:
        return "", str(error)


def _scenarios(version: Version | None, latest: Run | None) -> tuple[ScenarioLine, ...]:
    if version is None:
        return ()
    counts: dict[int, Counts] = defaultdict(Counts)
    if latest:
        for row in latest.slots.values_list(*SLOT_FIELDS):
            counts[row[1]].add(SlotFacts(*row))
    rows = ScenarioVersion.objects.filter(version=version).select_related("scenario")
    lines = [ScenarioLine(r.scenario.slug, r.scenario.name, r.doc, counts[r.scenario_id]) for r in rows]
    return tuple(sorted(lines, key=lambda line: natural(line.slug)))
