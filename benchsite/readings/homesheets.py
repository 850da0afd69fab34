"""The lists of benches and runs as plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .home import BenchLine, HomePage, RunLine, RunsPage
from .sheet import Sheet

COUNTS = ("planned", "scored", "excluded", "errors")


def benches_sheet(lines: Sequence[BenchLine], total: int) -> Sheet:
    """`total`: how many there are, of which these are shown."""
    head = ("bench", "title", "visibility", "best", "level", "measure", "figure", "lo", "hi", "runs", "run", "label")
    rows = (_bench(line) for line in lines)
    return Sheet("benches", (*head, "started_at", *COUNTS), rows, {"table": "benches", "total": total})


def _bench(line: BenchLine) -> Iterator[Any]:
    best, run, cover = line.best, line.latest, line.coverage
    yield from (str(line.bench), line.bench.title, line.bench.visibility)
    yield from (best.title, best.level, best.measure.key, best.macro, best.lo, best.hi) if best else (None,) * 6
    yield line.runs
    yield from (run.ulid, run.label, _at(run.started_at)) if run else (None,) * 3
    yield from (getattr(cover, name) if cover else None for name in COUNTS)


RUN = ("run", "bench", "label", "state", "silent_since", "verdict", "by", "started_at", *COUNTS, "regrades")


def runs_sheet(page: RunsPage) -> Sheet:
    about = {"table": "runs", "total": page.total, "before": page.next}
    return Sheet("runs", RUN, (_run(line) for line in page.rows), about)


def home_benches(page: HomePage) -> Sheet:
    return benches_sheet(page.benches, page.bench_total)


def home_recent(page: HomePage) -> Sheet:
    return Sheet("recent-runs", RUN, (_run(line) for line in page.recent), {"table": "recent"})


def _run(line: RunLine) -> Iterator[Any]:
    run = line.run
    yield from (run.ulid, str(run.bench), run.label, run.state, _at(line.silent), run.verdict)
    yield str(run.by) if run.by else None
    yield _at(run.started_at)
    yield from (getattr(line.coverage, name) for name in COUNTS)
    yield run.regrades or None


def _at(moment: Any) -> str | None:
    return moment.isoformat() if moment else None


HOME: dict[str, Callable[[HomePage], Sheet]] = {"benches": home_benches, "recent": home_recent}
