"""Which cases in which cells were tried more than once, and which of them were both solved and not: what a scenario's
steadiness counts, one row each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchsite.benches.models import Case
from benchsite.runs.models import Run

from .counts import Counts, Slot, total
from .subjects import CellFacts

LIMIT = 200
MIXED, REPEATED = "mixed", "repeated"
TRIED = ("", MIXED, REPEATED)


@dataclass(frozen=True)
class Wanted:
    """`tried` names which pairs ("" none, "mixed", "repeated"), `subject` the key of a cell; `start` is a place."""

    tried: str = ""
    subject: str = ""
    start: int = 0


@dataclass(frozen=True)
class Pair:
    run: Run
    cell: CellFacts
    case: str
    counts: Counts


@dataclass(frozen=True)
class Pairs:
    wanted: Wanted
    rows: tuple[Pair, ...]
    total: int
    limit: int = LIMIT

    @property
    def next(self) -> int | None:
        following = self.wanted.start + len(self.rows)
        return following if following < self.total else None


@dataclass(frozen=True)
class Steadiness:
    """`repeated`: cases in a cell that counted twice or more; `mixed` of them were both solved and not."""

    mixed: int
    repeated: int

    @property
    def share(self) -> float | None:
        return self.mixed / self.repeated if self.repeated else None


UNTRIED = Steadiness(0, 0)


def steadiness(slots: Sequence[Slot]) -> Steadiness:
    return Steadiness(sum(map(is_mixed, slots)), sum(map(is_repeated, slots)))


def is_repeated(slot: Slot) -> bool:
    return slot.states.get("solved", 0) + slot.states.get("unsolved", 0) > 1


def is_mixed(slot: Slot) -> bool:
    return bool(slot.states.get("solved") and slot.states.get("unsolved"))


def pairs(
    wanted: Wanted, runs: Sequence[Run], cells: Mapping[int, CellFacts], slots: Mapping[int, Sequence[Slot]]
) -> Pairs:
    """Find the pairs asked for, the newest run's first; only the cases that are shown are looked up by name."""
    fits = is_mixed if wanted.tried == MIXED else is_repeated
    found = [
        (run, slot)
        for run in runs
        for slot in slots[run.pk]
        if fits(slot) and wanted.subject in ("", cells[slot.cell].key10)
    ]
    shown = found[wanted.start : wanted.start + LIMIT]
    keys: dict[Any, str] = dict(Case.objects.filter(pk__in={slot.case for _, slot in shown}).values_list("pk", "key"))
    rows = (Pair(run, cells[slot.cell], keys[slot.case], total([slot])) for run, slot in shown)
    return Pairs(wanted, tuple(rows), len(found))
