"""The trials behind a comparison's number where no list of one run has just these: of several runs, or some cells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, Q

from benchsite.readings.counts import counted
from benchsite.readings.leaderboard import MeasureFacts
from benchsite.readings.sheet import Sheet
from benchsite.runs.models import Observation, Trial
from runner.statistics import policy_named

from .asked import Asked
from .numbers import shared
from .pieces import Piece, Read, read
from .sides import Side

SEEN = ("planned", "observed", "counted")
LIMIT = 200


@dataclass(frozen=True)
class Behind:
    """Which of a number's trials: of one side (from 1 on), of one case where it is named; `after`: run and index."""

    side: int
    seen: str
    scenario: str = ""
    case: str | None = None
    after: tuple[str, int] | None = None


class PooledRow(NamedTuple):
    ulid: str
    label: int
    index: int
    cell: str
    key10: str
    slug: str
    scenario: str
    case: str
    number: int
    state: str
    outcome: str
    fault: str
    reason: str
    withdrawn: bool
    seconds: float | None
    cost: float | None
    tokens: int | None

    @property
    def status(self) -> str:
        return "withdrawn" if self.withdrawn else self.outcome or self.state


@dataclass(frozen=True)
class PooledTrials:
    sides: tuple[Side, ...]
    asked: Asked
    behind: Behind
    measure: MeasureFacts | None
    count: int
    rows: tuple[PooledRow, ...]
    """The newest run's first."""
    next: tuple[str, int] | None

    @property
    def side(self) -> Side:
        return self.sides[self.behind.side - 1]


def pooled_trials(sides: tuple[Side, ...], asked: Asked, behind: Behind) -> PooledTrials | None:
    """List them; None where the address names a side or a case that is not there."""
    found = read(sides, asked.measure)
    if not 1 <= behind.side <= len(sides):
        return None
    pieces = _pieces(sides, found, asked, behind)
    if behind.scenario and not pieces:
        return None
    trials, side = _trials(sides, found, pieces, asked, behind), sides[behind.side - 1]
    rows = list(_rows(side, found, pieces, _in_order(_onward(trials, side, behind.after))[: LIMIT + 1]))
    last = rows[LIMIT - 1] if len(rows) > LIMIT else None
    more = (last.ulid, last.index) if last else None
    return PooledTrials(sides, asked, behind, found.measure, trials.count(), tuple(rows[:LIMIT]), more)


def pooled_sheet(page: PooledTrials) -> Sheet:
    """Every one of them, not a page of them."""
    head = ("run", "index", "cell", "scenario", "case", "number", "state", "outcome", "fault", "withdrawn", "seconds",
            "cost", "tokens")  # fmt: skip
    found = read(page.sides, page.asked.measure)
    pieces = _pieces(page.sides, found, page.asked, page.behind)
    trials = _in_order(_trials(page.sides, found, pieces, page.asked, page.behind)).iterator(chunk_size=2000)
    rows = (
        (one.ulid, one.index, one.cell, one.slug, one.case, one.number, one.state, one.outcome, one.fault,
         one.withdrawn, one.seconds, one.cost, one.tokens)
        for one in _rows(page.side, found, pieces, trials)
    )  # fmt: skip
    about = {"of": [str(side.of) for side in page.sides], "table": "trials", **vars(page.behind)}
    return Sheet("compare-trials", head, rows, about)


def _pieces(sides: Sequence[Side], found: Read, asked: Asked, behind: Behind) -> list[Piece]:
    """The pieces that the number adds up: of a case, those the comparison counts."""
    subjects, place = shared(sides), behind.side - 1
    pieces = [piece for piece in found.pieces[place] if subjects is None or piece.subject in subjects]
    if not behind.scenario:
        return pieces
    key = (behind.scenario, behind.case or "")
    mine = [piece for piece in pieces if piece.key == key]
    return _paired(found, key, mine, place, asked.policy) if subjects and found.measure else mine


def _paired(found: Read, key: tuple[str, str], mine: list[Piece], place: int, policy: str) -> list[Piece]:
    """Of runs, a case is compared in the cells that count on both sides, where there are any."""
    own, other = (
        {part.subject for part in found.parts(side, policy) if (part.scenario, part.case) == key and part.figure}
        for side in (place, 0 if place else 1)
    )
    return [piece for piece in mine if piece.subject in ((own & other) or own)]


def _trials(sides: Sequence[Side], found: Read, pieces: Sequence[Piece], asked: Asked, behind: Behind) -> Any:
    condition = _where(pieces) & Q(run__in=[run.pk for run in sides[behind.side - 1].runs])
    if behind.seen != "planned":
        condition &= _seen(found, asked.policy if behind.seen == "counted" else "scored/1")
    return Trial.objects.filter(condition)


def _where(pieces: Sequence[Piece]) -> Q:
    """These cases of these cells: cells with the same cases are asked for together."""
    cases: dict[int, list[int]] = defaultdict(list)
    for piece in pieces:
        for cell in piece.cells:
            cases[cell].append(piece.case)
    cells: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for cell, own in cases.items():
        cells[tuple(sorted(own))].append(cell)
    condition = Q(pk__in=[])
    for own_cases, own_cells in cells.items():
        condition |= Q(cell__in=own_cells, case__in=own_cases)
    return condition


def _seen(found: Read, policy: str) -> Q:
    if found.measure is None:
        return Q(pk__in=[])
    if policy_named(policy).errors_fail and found.measure.worst is not None:
        return counted(policy) & Q(withdrawn=False)
    seen = Observation.objects.filter(trial=OuterRef("pk"), measure__in=found.same, valid=True)
    return Q(Exists(seen), state="scored", withdrawn=False)


OWN = ("number", "state", "outcome", "fault", "reason", "withdrawn", "seconds", "cost", "tokens")


def _in_order(trials: Any) -> Any:
    return trials.order_by("-run_id", "index").values_list("run_id", "index", "cell_id", "case_id", *OWN)


def _rows(side: Side, found: Read, pieces: Iterable[Piece], trials: Iterable[Any]) -> Iterator[PooledRow]:
    """Name what a trial is of by what was read already: tables joined for that take longer than the trials."""
    runs = {run.pk: run for run in side.runs}
    cells = {member.id: member for member in side.members}
    cases = {piece.case: piece.key for piece in pieces}
    for run, index, cell, case, *own in trials:
        of, where, (slug, key) = runs[run], cells[cell], cases[case]
        yield PooledRow(of.ulid, of.label, index, where.name, where.key10, slug, found.names[slug], key, *own)


def _onward(trials: Any, side: Side, after: tuple[str, int] | None) -> Any:
    """Those after the last one that was shown."""
    run = next((run for run in side.runs if after and run.ulid == after[0]), None)
    if after is None or run is None:
        return trials
    return trials.filter(Q(run__lt=run.pk) | Q(run=run.pk, index__gt=after[1]))
