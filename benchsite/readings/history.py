"""One scenario across a bench's runs: how hard it is, how steady, who passes it, and when it became another one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, OuterRef

from benchsite.benches.models import Bench, Measure, ScenarioVersion
from benchsite.benches.models import Scenario as ScenarioRow
from benchsite.runs.models import Cell, Run, Slot
from runner.statistics.spread import Spread, spread

from .counts import Counts, read_slots
from .counts import Slot as SlotFacts
from .flaky import UNTRIED, Pairs, Steadiness, Wanted, pairs, steadiness
from .subjects import CellFacts, cells_of
from .words import percent

RUNS = 30
COLUMNS = 8
"""So many runs stand beside each other in the table of who passes."""
HARD, EASY = 0.25, 0.9


@dataclass(frozen=True)
class Past:
    """`changed`: the scenario reads otherwise than in the run before, so that such figures are not comparable."""

    run: Run
    counts: Counts
    interval: tuple[float, float] | None
    fingerprint: str
    changed: bool


@dataclass(frozen=True)
class Passer:
    """A subject over the runs in which the scenario reads as it does now; `by_run` holds its counts in each."""

    cell: CellFacts
    counts: Counts
    by_run: tuple[tuple[Run, str, Counts] | None, ...]
    mixed: int
    repeated: int


@dataclass(frozen=True)
class HistoryPage:
    bench: Bench
    slug: str
    name: str
    doc: str
    rate: bool
    """Whether the newest run's headline is a boolean: else nothing is solved, and figures stand on the runs' pages."""
    past: tuple[Past, ...]
    total: int
    older: str = ""
    """The last run shown, where there are older ones."""
    alike: int = 0
    """How many of the newest runs have the scenario as it reads now: all but the history is told of them."""
    now: Counts = field(default_factory=Counts)
    runs: tuple[Run, ...] = ()
    passers: tuple[Passer, ...] = ()
    steadiness: Steadiness = UNTRIED
    pairs: Pairs | None = None
    """The cells and cases that the steadiness counts, where they are asked for."""
    cost: Spread | None = None
    seconds: Spread | None = None
    scale: tuple[float, float] = (0.0, 1.0)

    @property
    def difficulty(self) -> str:
        """Say how hard it is, over all cells of the runs in which it reads as now."""
        rate = self.now.rate()
        if rate is None:
            return ""
        word = "Hard" if rate < HARD else "Easy" if rate >= EASY else "Of middling difficulty"
        if rate == 0:
            word = "Never solved"
        elif rate == 1:
            word = "Always solved"
        return f"{word}: {percent(rate)} of the counted trials solved it."

    @property
    def changes(self) -> int:
        return sum(past.changed for past in self.past)


def history_page(
    bench: Bench, slug: str, seen: Any, before: str = "", wanted: Wanted | None = None
) -> HistoryPage | None:
    """`seen`: the runs the reader may see; told is of accepted ones, the newest first. `before` names the run whose
    elders the history shows; all else is told of the newest. `wanted` asks for cells and cases that were tried more
    than once. None where no run that is seen has such a scenario."""
    brought = Exists(seen.filter(version__scenario_versions__scenario=OuterRef("pk")))
    scenario = ScenarioRow.objects.filter(brought, bench=bench, slug=slug).first()
    if scenario is None:
        return None
    runs = seen.counted()
    versions = {row.version_id: row for row in ScenarioVersion.objects.filter(scenario=scenario)}
    having = runs.filter(version__in=versions).select_related("version", "bench").order_by("-id")
    newest = list(having[: RUNS + 1])
    shown = list(having.filter(pk__lt=_place(runs, before))[: RUNS + 1]) if before else newest
    slots = _slots([*newest[:RUNS], *shown[:RUNS]], scenario)
    now = versions[newest[0].version_id].fingerprint if newest else ""
    doc = versions[newest[0].version_id].doc if newest else ""
    alike = _once([run for run in newest[:RUNS] if versions[run.version_id].fingerprint == now])
    cells = list(Cell.objects.filter(run__in=alike).select_related("subject").order_by("-run", "ordinal"))
    kept = [slot for run in alike for slot in slots[run.pk]]
    by_id = {cell.id: cell for cell in cells_of(cells)[1]}
    passers = _passers(alike, cells, by_id, slots)
    return HistoryPage(
        bench=bench,
        slug=slug,
        name=scenario.name,
        doc=doc,
        rate=bool(newest) and Measure.objects.filter(version=newest[0].version_id, headline=True, type="bool").exists(),
        past=_past(shown, versions, slots),
        total=len(newest) if len(newest) <= RUNS else having.count(),
        older=shown[RUNS - 1].ulid if len(shown) > RUNS else "",
        alike=len(alike),
        now=_sum(kept),
        runs=tuple(alike[:COLUMNS]),
        passers=passers,
        steadiness=steadiness(kept),
        pairs=pairs(wanted, alike, by_id, slots) if wanted and wanted.tried else None,
        cost=_spent(kept, "cost"),
        seconds=_spent(kept, "seconds"),
    )


def _place(runs: Any, ulid: str) -> int:
    place: int | None = runs.filter(ulid=ulid).values_list("pk", flat=True).first()
    return place or 0


def _once(runs: list[Run]) -> list[Run]:
    """Of runs that grade the same work, take the newest: no trial is counted twice."""
    works: dict[str, Run] = {}
    for run in runs:
        works.setdefault(run.regrades or run.ulid, run)
    return list(works.values())


def _slots(runs: list[Run], scenario: Any) -> dict[int, list[SlotFacts]]:
    found: dict[int, list[SlotFacts]] = defaultdict(list)
    for slot, (run,) in read_slots(Slot.objects.filter(run__in=runs, scenario=scenario), "run_id"):
        found[run].append(slot)
    return found


def _past(runs: list[Run], versions: dict[int, ScenarioVersion], slots: dict[int, list[SlotFacts]]) -> tuple[Past, ...]:
    prints = [versions[run.version_id].fingerprint for run in runs]
    made = []
    for run, own, before in zip(runs[:RUNS], prints, [*prints[1:], *prints[-1:]], strict=False):
        counts = _sum(slots[run.pk])
        made.append(Past(run, counts, counts.interval(), own, own != before))
    return tuple(made)


def _sum(slots: Iterable[SlotFacts]) -> Counts:
    counts = Counts()
    for slot in slots:
        counts.add(slot)
    return counts


def _passers(
    runs: Sequence[Run], cells: Sequence[Any], by_id: dict[int, CellFacts], slots: dict[int, list[SlotFacts]]
) -> tuple[Passer, ...]:
    """Pool each subject over its cells, one a run; the best first."""
    of_subject: dict[int, list[Any]] = defaultdict(list)
    for cell in cells:
        of_subject[cell.subject_id].append(cell)
    by_cell: dict[int, list[SlotFacts]] = defaultdict(list)
    for run in runs:
        for slot in slots[run.pk]:
            by_cell[slot.cell].append(slot)
    made = [_passer(by_id[mine[0].pk], mine, runs, by_cell) for mine in of_subject.values()]
    made.sort(key=lambda one: (one.counts.rate() is None, -(one.counts.rate() or 0.0), one.cell.title))
    return tuple(made)


def _passer(cell: CellFacts, mine: list[Any], runs: Sequence[Run], by_cell: dict[int, list[SlotFacts]]) -> Passer:
    own = [slot for one in mine for slot in by_cell[one.pk]]
    of_run = {one.run_id: one for one in mine}
    steady = steadiness(own)
    columns = (
        (run, of_run[run.pk].key10, _sum(by_cell[of_run[run.pk].pk])) if run.pk in of_run else None
        for run in runs[:COLUMNS]
    )
    return Passer(cell, _sum(own), tuple(columns), steady.mixed, steady.repeated)


def _spent(slots: Iterable[SlotFacts], what: str) -> Spread | None:
    """Spread the means of cases in cells: what a trial here takes, depending on who tries."""
    means = []
    for slot in slots:
        known = getattr(slot, f"{what}_n")  # what other trials took is unknown, which is not nothing
        if known:
            means.append(getattr(slot, what) / known)
    return spread(means)
