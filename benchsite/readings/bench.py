"""A bench: what it measures, who leads, its runs and its scenarios."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import F

from benchsite.artifacts.store import read_blob
from benchsite.benches.models import Bench, ScenarioVersion, Version
from benchsite.runs.models import Cell, Run, Slot, Standing
from runner.errors import RunnerError

from .counts import DEFAULT_POLICY, UNDONE, Counts, by_cell, slots_of_several, summed
from .counts import Slot as SlotFacts
from .home import RunLine, run_lines
from .leaderboard import LOW, Board, MeasureFacts, board, headline_of, measures_of
from .subjects import Axes, cells_of
from .trend import RUNS as TREND
from .trend import Trend, trend, versions_of
from .words import listed, natural
from .works import each_work_once, newest_work_first

README_LIMIT = 256 << 10
RUNS = 50


@dataclass(frozen=True)
class ScenarioLine:
    slug: str
    name: str
    doc: str
    counts: Counts


@dataclass(frozen=True)
class BenchPage:
    """`version` is the newest accepted run's (else the newest); `board` has each subject's latest complete run."""

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
    trend: Trend | None = None
    split: str = ""
    every: bool = False
    versions_seen: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """The agent versions of subjects that ran in more than one, by the cell's id."""

    @property
    def passed_over(self) -> bool:
        """Whether no row shows the latest run: much of it was not tried, and all of an older one was."""
        shown = {place.run for place in self.board.places} if self.board else set()
        return bool(shown and self.latest and self.latest.ulid not in shown)

    @property
    def mixed(self) -> list[tuple[str, str]]:
        """Name the leaderboard's subjects that ran in several versions, with these."""
        lines = self.trend.lines if self.trend else ()
        seen = ((line.cell.title, self.versions_seen.get(line.cell.id)) for line in lines)
        return [(title, listed(list(versions), 5)) for title, versions in seen if versions]


def bench_page(
    bench: Bench, runs: Any, policy: str = DEFAULT_POLICY, *, split: str = "", every: bool = False
) -> BenchPage:
    """`runs`: the bench's runs that the reader may see. `split="version"` parts subjects by their agent's version."""
    newest = list(runs.select_related("version", "by").order_by("-id")[:RUNS])
    for run in newest:
        run.bench = bench
    ordered = newest_work_first(newest)
    latest = _latest(ordered, runs)
    version = latest.version if latest else (newest[0].version if newest else None)
    measures = measures_of(list(version.measures.all())) if version else []
    cohort = _cohort(latest, ordered) if latest else []
    headline = headline_of(measures)
    tried = _cells(cohort) if headline and headline.pooled else []
    told = _telling(cohort, tried, split)
    slots = slots_of_several(Slot.objects.filter(run__in=told))
    others = {cell.pk for cell in tried if latest and cell.run_id != latest.pk}
    accepted = each_work_once([run for run in ordered if run.verdict == Run.Verdict.ACCEPTED])[:TREND]
    standings = _standings([*told, *accepted], headline)
    counts = by_cell(slots)
    cells = _newest_cells(told, tried, split, counts) if standings else []
    axes, table = _board(told, cells, headline, policy, counts, standings)
    followed = [row for row in standings if row.policy == policy]
    over = _trend(accepted, headline, followed, cells, table, every=every)
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
        scenarios=_scenarios(version, [slot for slot in slots if slot.cell not in others]),
        trend=over,
        split=split,
        every=every,
        versions_seen=versions_of(over.lines) if over else {},
    )


def _standings(runs: list[Run], headline: MeasureFacts | None) -> list[Any]:
    """Those of the headline in all these runs under every policy, for leaderboard and trend alike."""
    if headline is None or not headline.pooled or not runs:
        return []
    of = Standing.objects.filter(run__in=runs, measure__key=headline.key)
    cell = {"subject": F("cell__subject"), "key10": F("cell__key10"), "agent_version": F("cell__agent_version")}
    return list(of.annotate(**cell).values_list(named=True))


def _trend(
    runs: list[Run],
    headline: MeasureFacts | None,
    standings: list[Any],
    cells: list[Cell],
    table: Board | None,
    *,
    every: bool,
) -> Trend | None:
    if headline is None or table is None:
        return None
    subject_of = {cell.pk: cell.subject_id for cell in cells}
    subjects = {subject_of[place.cell.id]: place.cell for place in reversed(table.places)}
    ordered = list(reversed(subjects.items()))
    return trend(runs, headline, standings, ordered, every=every)


def _latest(newest: list[Run], runs: Any) -> Run | None:
    """The newest run that counts; past the list only where none on it does."""
    accepted = next((run for run in newest if run.verdict == Run.Verdict.ACCEPTED), None)
    if accepted is not None or len(newest) < RUNS:
        return accepted
    older: Run | None = runs.counted().select_related("version").order_by("-id").first()
    return older


def _cohort(latest: Run, newest: list[Run]) -> list[Run]:
    """Accepted runs that may stand in one table with the latest: the same definition under the same conditions.

    Of each subject the newest work is shown, so that no trial is counted twice where a run was graded again."""
    same = [run for run in newest if run.verdict == Run.Verdict.ACCEPTED and run.cohort == latest.cohort]
    return same or [latest]


def _cells(runs: list[Run]) -> list[Cell]:
    return list(Cell.objects.filter(run__in=runs).select_related("subject").order_by("ordinal"))


def _subject(cell: Cell, split: str) -> tuple[int, str]:
    return cell.subject_id, cell.agent_version if split else ""


def _telling(cohort: list[Run], cells: list[Cell], split: str) -> list[Run]:
    """Leave out the runs of which nothing is shown: a newer one tried each of their subjects to the end."""
    subjects: dict[int, set[tuple[int, str]]] = defaultdict(set)
    for cell in cells:
        subjects[cell.run_id].add(_subject(cell, split))
    kept, settled = cohort[:1], set()
    for run in cohort:
        if run not in kept and not subjects[run.pk] <= settled:
            kept.append(run)
        if not any(run.counts.get(state) for state in UNDONE):
            settled |= subjects[run.pk]
    return kept


def _board(
    runs: list[Run],
    cells: list[Cell],
    headline: MeasureFacts | None,
    policy: str,
    counts: dict[int, Counts],
    standings: list[Any],
) -> tuple[Axes | None, Board | None]:
    if headline is None or not headline.pooled or not runs:
        return None, None
    axes, facts = cells_of(cells)
    by_id = {cell.id: cell for cell in facts}
    of = {cell.run_id for cell in cells}
    mine = [row for row in standings if row.cell_id in by_id]
    table = board(headline, policy, mine, by_id, counts, one_run=len(of) <= 1)
    return axes, _named(table, {cell.pk: cell.run_id for cell in cells}, {run.pk: run for run in runs})


def _newest_cells(runs: list[Run], cells: list[Cell], split: str, counts: dict[int, Counts]) -> list[Cell]:
    """Each subject's newest cell; one of a run under way or broken off hides none that was tried as planned."""
    seen: dict[tuple[int, str], Cell] = {}
    places = {run.pk: place for place, run in enumerate(runs)}

    def order(cell: Cell) -> tuple[bool, int]:
        of = counts.get(cell.pk, Counts())
        return of.undone > (1 - LOW) * of.planned, places[cell.run_id]

    for cell in sorted([cell for cell in cells if cell.run_id in places], key=order):
        seen.setdefault(_subject(cell, split), cell)
    return list(seen.values())


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


def _scenarios(version: Version | None, slots: list[SlotFacts]) -> tuple[ScenarioLine, ...]:
    if version is None:
        return ()
    counts = summed(slots, "scenario")
    rows = ScenarioVersion.objects.filter(version=version).select_related("scenario")
    lines = [ScenarioLine(r.scenario.slug, r.scenario.name, r.doc, counts[r.scenario_id]) for r in rows]
    return tuple(sorted(lines, key=lambda line: natural(line.slug)))
