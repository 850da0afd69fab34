"""A run that goes on: what each cell has done, what it does just now, and how long the rest may take."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from benchsite.runs.models import Run

from .alive import seen_at, silent_since
from .counts import Counts
from .loaded import Loaded
from .subjects import CellFacts

GRACE = 60.0
"""Seconds over its limit before a trial is said to hang: it is being stopped, and its world put away."""
LIMIT = 3600.0
FEWEST = 3
"""Under this many ended trials, how long the rest takes is a guess nobody should read."""


@dataclass(frozen=True)
class UnderWay:
    """One attempt that runs just now."""

    index: int
    attempt: int
    cell: int
    title: str
    since: datetime | None
    hung: bool

    @property
    def seconds(self) -> float | None:
        return (timezone.now() - self.since).total_seconds() if self.since else None


@dataclass(frozen=True)
class CellProgress:
    cell: CellFacts
    counts: Counts
    running: int
    hung: int
    """Those of the running ones that are over their limit, or whose runner is silent."""
    cell_stopped: str

    @property
    def done(self) -> int:
        return self.counts.planned - self.counts.states["queued"] - self.counts.states["running"]

    @property
    def queued(self) -> int:
        return self.counts.states["queued"]


@dataclass(frozen=True)
class Progress:
    """`left` is in seconds, at the pace so far; None while there is none to go by."""

    cells: tuple[CellProgress, ...]
    now: tuple[UnderWay, ...]
    done: int
    planned: int
    left: float | None
    seen: datetime | None
    silent: datetime | None


def progress(loaded: Loaded, *, fixed: bool) -> Progress | None:
    """None for a run that has ended, unless the rows that a reader saw while it went on are to stay."""
    run = loaded.run
    goes = run.state == Run.State.RUNNING
    if not goes and not fixed:
        return None
    silent = silent_since(run)
    now = _now(run, loaded, hung=silent is not None) if goes else ()
    hung = Counter(one.cell for one in now if one.hung)
    lines = []
    for cell in loaded.cells:
        counts = loaded.by_cell[cell.id]
        lines.append(CellProgress(cell, counts, counts.states["running"], hung[cell.id], cell.stopped))
    done, planned = sum(line.done for line in lines), loaded.total.planned
    return Progress(tuple(lines), now, done, planned, _left(run, done, planned, silent), seen_at(run), silent)


def _now(run: Run, loaded: Loaded, *, hung: bool) -> tuple[UnderWay, ...]:
    limits, titles = loaded.manifest.get("limits"), {cell.id: cell.title for cell in loaded.cells}
    times = limits.get("timeouts") if isinstance(limits, dict) else None
    limit = times.get("trial") if isinstance(times, dict) else None
    most = timedelta(seconds=(limit if isinstance(limit, int | float) else LIMIT) + GRACE)
    made = []
    for index, attempt, cell, since in run.under_way:
        begun = datetime.fromisoformat(since) if since else None
        late = begun is not None and timezone.now() - begun > most
        made.append(UnderWay(index, attempt, cell, titles.get(cell, ""), begun, hung or late))
    return tuple(made)


def _left(run: Run, done: int, planned: int, silent: datetime | None) -> float | None:
    seen = seen_at(run)
    if done < FEWEST or silent or run.started_at is None or seen is None or done >= planned:
        return None
    return (seen - run.started_at).total_seconds() / done * (planned - done)
