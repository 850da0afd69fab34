"""The front page and the two lists: benches with where they stand, and runs as they came in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Max, Q

from benchsite.benches.models import Bench, Measure
from benchsite.curation.models import Tag
from benchsite.runs.models import Run, Standing

from . import typed
from .alive import silent_since
from .counts import DEFAULT_POLICY
from .leaderboard import LOW, MeasureFacts, measures_of, ordering
from .subjects import axis_order

BENCHES = 100
RECENT = 12
PAGE = 50


@dataclass(frozen=True)
class Coverage:
    """A run's trials as parts of what was planned, for the bar and its words."""

    planned: int
    scored: int
    excluded: int
    errors: int
    live: int

    @property
    def share(self) -> float | None:
        return self.scored / self.planned if self.planned else None

    @property
    def rest(self) -> int:
        return self.planned - self.scored - self.excluded - self.errors - self.live


def coverage(counts: dict[str, int]) -> Coverage:
    return Coverage(
        planned=counts.get("planned", 0),
        scored=counts.get("scored", 0),
        excluded=counts.get("excluded", 0),
        errors=counts.get("run_error", 0) + counts.get("eval_error", 0),
        live=counts.get("running", 0) + counts.get("queued", 0),
    )


@dataclass(frozen=True)
class Best:
    """Who leads a run's headline; `level` others are as good. `n` of `planned` trials counted, `partial` where few."""

    title: str
    measure: MeasureFacts
    macro: float
    lo: float | None
    hi: float | None
    level: int
    n: int
    planned: int
    partial: bool
    key10: str
    """Of its cell in the run."""


class Activity(NamedTuple):
    """How many of a bench's runs the reader sees, the last that counts, and the last that counts and has ended."""

    many: int
    last: int | None
    ended: int | None

    @property
    def latest(self) -> int:
        return self.ended or self.last or 0


NOTHING = Activity(0, None, None)


@dataclass(frozen=True)
class BenchLine:
    bench: Bench
    runs: int
    latest: Run | None
    coverage: Coverage | None
    best: Best | None


@dataclass(frozen=True)
class RunLine:
    run: Run
    coverage: Coverage

    @property
    def silent(self) -> datetime | None:
        return silent_since(self.run)


@dataclass(frozen=True)
class HomePage:
    benches: tuple[BenchLine, ...]
    bench_total: int
    recent: tuple[RunLine, ...]
    running: int
    waiting: int


@dataclass(frozen=True)
class BenchesPage:
    benches: tuple[BenchLine, ...]
    total: int
    next: int | None


@dataclass(frozen=True)
class RunsPage:
    rows: tuple[RunLine, ...]
    total: int
    next: int | None
    state: str
    verdict: str
    tag: str
    bench: str

    @property
    def filters(self) -> str:
        """Say by what the list is filtered."""
        asked = {"state": self.state, "verdict": self.verdict, "tag": self.tag, "bench": self.bench}
        return ", ".join(f"the {name} “{value}”" for name, value in asked.items() if value)


def home_page(benches: Any, runs: Any) -> HomePage:
    """`benches` and `runs`: those the reader may see."""
    lines = bench_lines(benches, runs, 0, BENCHES)
    flags = runs.aggregate(
        running=Count("pk", filter=Q(state=Run.State.RUNNING)),
        waiting=Count("pk", filter=Q(verdict=Run.Verdict.SUBMITTED)),
    )
    recent = run_lines(runs.select_related("bench", "by").order_by("-id")[:RECENT])
    total = len(lines) if len(lines) < BENCHES else benches.count()
    return HomePage(lines, total, recent, flags["running"], flags["waiting"])


def benches_page(benches: Any, runs: Any, start: int) -> BenchesPage:
    total = benches.count()
    lines = bench_lines(benches, runs, start, PAGE)
    return BenchesPage(lines, total, start + PAGE if start + PAGE < total else None)


def runs_page(runs: Any, benches: Any, *, state: str, verdict: str, tag: str, bench: str, before: int) -> RunsPage:
    found = runs
    if state:
        found = found.filter(state=state)
    if verdict:
        found = found.filter(verdict=verdict)
    if bench:
        found = found.filter(bench__in=typed.benches(benches, bench))
    if tag:
        found = found.filter(ulid__in=Tag.objects.filter(trial=None, name=tag).values("run"))
    page = found.filter(pk__lt=before) if before else found
    rows = list(page.select_related("bench", "by").order_by("-id")[: PAGE + 1])
    following = rows[PAGE - 1].pk if len(rows) > PAGE else None
    return RunsPage(run_lines(rows[:PAGE]), found.count(), following, state, verdict, tag, bench)


def run_lines(runs: Iterable[Run]) -> tuple[RunLine, ...]:
    return tuple(RunLine(run, coverage(run.counts)) for run in runs)


def bench_lines(benches: Any, runs: Any, start: int, limit: int) -> tuple[BenchLine, ...]:
    """Benches with the latest run that counts and has ended, the most recently active first."""
    counted = Q(verdict=Run.Verdict.ACCEPTED)
    activity = (
        runs.order_by()
        .values("bench")
        .annotate(
            many=Count("pk"),
            last=Max("pk", filter=counted),
            ended=Max("pk", filter=counted & ~Q(state=Run.State.RUNNING)),
        )
    )
    of = {row["bench"]: Activity(row["many"], row["last"], row["ended"]) for row in activity}
    keys = list(benches.order_by("owner", "name").values_list("pk", flat=True))
    keys.sort(key=lambda key: -(of.get(key, NOTHING).last or 0))
    found = benches.in_bulk(keys[start : start + limit])
    rows = [(found[key], of.get(key, NOTHING)) for key in keys[start : start + limit]]
    latest = Run.objects.select_related("version").in_bulk([did.latest for _, did in rows if did.latest])
    leaders = best_of(list(latest.values()))
    return tuple(
        BenchLine(
            bench=bench,
            runs=did.many,
            latest=latest.get(did.latest),
            coverage=coverage(latest[did.latest].counts) if did.latest in latest else None,
            best=leaders.get(did.latest),
        )
        for bench, did in rows
    )


def best_of(runs: Sequence[Run]) -> dict[int, Best]:
    """The leader of each run's headline under the default policy; two queries for all of them."""
    rows = Measure.objects.filter(version__in={run.version_id for run in runs}, headline=True)
    headlines = {row.version_id: measures_of([row])[0] for row in rows}
    wanted = [measure.id for measure in headlines.values() if measure.pooled]
    standings = Standing.objects.filter(run__in=runs, policy=DEFAULT_POLICY, measure__in=wanted, macro__isnull=False)
    by_run: dict[int, list[Any]] = {}
    for row in standings.select_related("cell__subject"):
        by_run.setdefault(row.run_id, []).append(row)
    return {run.pk: _best(headlines[run.version_id], by_run[run.pk]) for run in runs if run.pk in by_run}


def _best(measure: MeasureFacts, rows: list[Any]) -> Best:
    order = ordering(measure, rows)
    rows.sort(key=lambda row: (*order(row), row.cell.ordinal))
    top = rows[0]
    varying = _varying([row.cell.subject.axes for row in rows])
    axes = top.cell.subject.axes
    title = " · ".join(axes[name] for name in sorted(varying, key=axis_order) if name in axes)
    level = sum(order(row) == order(top) for row in rows) - 1
    partial = top.n < LOW * top.planned
    return Best(
        title or top.cell.name, measure, top.macro, top.lo, top.hi, level, top.n, top.planned, partial, top.cell.key10
    )


def _varying(axes: list[dict[str, str]]) -> list[str]:
    if len(axes) == 1:
        return list(axes[0])
    return [name for name in {key for of in axes for key in of} if len({of.get(name) for of in axes}) > 1]
