"""How each subject did from run to run, and where the bench itself became another one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchsite.runs.models import Run

from .leaderboard import MeasureFacts
from .subjects import CellFacts

RUNS = 10
LINES = 12


@dataclass(frozen=True)
class Point:
    """A subject in one run; `macro` is None where it did not take part, or nothing of it counted."""

    run: Run
    key10: str = ""
    version: str = ""
    macro: float | None = None
    lo: float | None = None
    hi: float | None = None
    k: float | None = None
    n: int = 0


@dataclass(frozen=True)
class Line:
    cell: CellFacts
    points: tuple[Point, ...]

    @property
    def told(self) -> list[Point]:
        return [point for point in self.points if point.macro is not None]


@dataclass(frozen=True)
class Trend:
    """The oldest run first. `turns`: places of runs whose definition is not that of the run before."""

    measure: MeasureFacts
    runs: tuple[Run, ...]
    turns: tuple[int, ...]
    lines: tuple[Line, ...]
    hidden: int
    scale: tuple[float, float]


def trend(
    runs: Sequence[Run],
    measure: MeasureFacts,
    standings: Sequence[Any],
    subjects: Sequence[tuple[int, CellFacts]],
    *,
    every: bool,
) -> Trend | None:
    """`runs`: accepted ones, the newest first. `subjects`: rows of the leaderboard by id of their subject.

    `standings` are those of the measure, each with its cell's subject, key10 and agent version.
    """
    shown = list(reversed(runs[:RUNS]))
    if len(shown) < 2 or not subjects:
        return None
    found: dict[tuple[int, int], Any] = {(row.subject, row.run_id): row for row in standings}
    kept = subjects if every else subjects[:LINES]
    points = ((cell, (_point(found.get((subject, run.pk)), run) for run in shown)) for subject, cell in kept)
    lines = tuple(Line(cell, tuple(of)) for cell, of in points)
    turns = tuple(n for n in range(1, len(shown)) if shown[n].version_id != shown[n - 1].version_id)
    return Trend(measure, tuple(shown), turns, lines, len(subjects) - len(kept), _scale(measure, lines))


def _point(row: Any, run: Run) -> Point:
    if row is None:
        return Point(run)
    return Point(run, row.key10, row.agent_version, row.macro, row.lo, row.hi, row.k, row.n)


def _scale(measure: MeasureFacts, lines: Sequence[Line]) -> tuple[float, float]:
    if measure.rate:
        return (0.0, 1.0)
    seen = [value for line in lines for p in line.points for value in (p.macro, p.lo, p.hi) if value is not None]
    low, high = min([0.0, *seen]), max(seen, default=1.0)
    return (low, high if high > low else low + 1.0)


def versions_of(lines: Sequence[Line]) -> dict[int, tuple[str, ...]]:
    """Which agent versions each row's subject was seen in, by the cell's id; only those seen in more than one."""
    seen: dict[int, dict[str, None]] = defaultdict(dict)
    for line in lines:
        for point in line.told:
            seen[line.cell.id][point.version or "unknown"] = None
    return {cell: tuple(versions) for cell, versions in seen.items() if len(versions) > 1}
