"""A run's parts, each read once a page and shared by the questions asked of it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any

from django.db.models import Q, Subquery, TextField
from django.db.models.functions import Cast

from benchsite.artifacts.models import Blob
from benchsite.artifacts.store import BlobRefused, open_blob, read_blob
from benchsite.benches.models import ScenarioVersion
from benchsite.flows import clean
from benchsite.runs.models import Run, Slot, Tally
from runner.errors import RunnerError

from .counts import Counts, ReadOnce, by_cell, read_slots, slots_made, slots_of, slots_query, total
from .counts import Slot as SlotFacts
from .leaderboard import MeasureFacts, headline_of, measures_of
from .matrix import NEW, TallyRow, Values
from .prepared import Prepared
from .subjects import Axes, CellFacts, cells_of
from .wholerows import whole_rows
from .words import natural

MANIFEST_LIMIT = 64 << 20
RUNS, LARGEST = 4, 50_000
"""Rollups of so many runs are kept, none of a run of more planned trials: some fifty megabytes at the most."""
REDUCED = ("median", "min", "max")
"""Reducers whose figure of a case stands in a column of its own."""


@dataclass(frozen=True)
class Before:
    """How the definition differs from that of the accepted run before: parts, and scenarios by (slug, name)."""

    label: int
    parts: tuple[str, ...]
    changed: tuple[tuple[str, str], ...]
    new: tuple[tuple[str, str], ...]
    gone: tuple[str, ...]


@dataclass
class Loaded:
    """Lazily read; each property below costs at most one query. `with_before`: a reading will ask for `before`."""

    run: Run
    with_before: bool = False
    with_cases: bool = False
    """Whether slots bring the keys of their cases, into `case_keys`."""
    only: str = ""
    """The key of the one cell whose slots and figures are wanted."""
    case_keys: dict[int, str] = field(default_factory=dict)

    @cached_property
    def _rows(self) -> list[Any]:
        return list(self.run.cells.select_related("subject"))

    @cached_property
    def _cells(self) -> tuple[Axes, list[CellFacts]]:
        return cells_of(self._rows)

    def pin(self, cell: CellFacts) -> Any:
        """What was really applied in a cell."""
        return next((row.pin for row in self._rows if row.pk == cell.id), {})

    @property
    def axes(self) -> Axes:
        return self._cells[0]

    @property
    def cells(self) -> list[CellFacts]:
        return self._cells[1]

    @cached_property
    def cell_by_id(self) -> dict[int, CellFacts]:
        return {cell.id: cell for cell in self.cells}

    def cell(self, key10: str) -> CellFacts | None:
        return next((cell for cell in self.cells if cell.key10 == key10), None)

    @cached_property
    def measures(self) -> list[MeasureFacts]:
        return measures_of(list(self.run.version.measures.all()))

    @property
    def headline(self) -> MeasureFacts | None:
        return headline_of(self.measures)

    @cached_property
    def scenarios(self) -> dict[int, tuple[str, str]]:
        """Slug and name of the version's scenarios by key, in the natural order of their slugs."""
        return {row[0]: (row[1], row[2]) for row in self._declared if row[3] == self.run.version_id}

    @cached_property
    def _declared(self) -> list[tuple[Any, ...]]:
        """What this run's version and that of the accepted run before it declare: one query for both."""
        once = ReadOnce()
        rows = (_DECLARED_BEFORE if self.with_before else _DECLARED).rows(self.run)
        return sorted(((*row, once[hashes], label) for *row, hashes, label in rows), key=lambda row: natural(row[1]))

    @cached_property
    def before(self) -> Before | None:
        """What the accepted run before this one declared otherwise; None where nothing differs."""
        mine = {row[0]: row for row in self._declared if row[3] == self.run.version_id}
        theirs = {row[0]: row for row in self._declared if row[3] != self.run.version_id}
        if not theirs:
            return None
        one = next(iter(theirs.values()))
        hashes = self.run.version.hashes
        parts = [name for name in {**hashes, **one[5]} if hashes.get(name) != one[5].get(name)]
        changed = [row[1:3] for pk, row in mine.items() if pk in theirs and theirs[pk][4] != row[4]]
        new = [row[1:3] for pk, row in mine.items() if pk not in theirs]
        gone = [row[2] for pk, row in theirs.items() if pk not in mine]
        return Before(one[6], tuple(sorted(set(parts) - {"definition"})), tuple(changed), tuple(new), tuple(gone))

    @cached_property
    def _as_it_is(self) -> AsItIs | None:
        """What rollups are kept by; None where they are read anew: a part of them, or those of a huge run."""
        run = self.run
        if self.only or self.with_cases or run.counts.get("planned", 0) > LARGEST:
            return None
        return AsItIs(run.ulid, run.created_at, run.revision, run)

    @cached_property
    def slots(self) -> list[SlotFacts]:
        if self._as_it_is:
            return _kept_slots(self._as_it_is)
        wanted = self._wanted(self.run.slots.all())
        if not self.with_cases:
            return slots_of(wanted)
        pairs = read_slots(wanted, "case__key")
        self.case_keys = {slot.case: more[0] for slot, more in pairs}
        return [slot for slot, _ in pairs]

    def _wanted(self, rows: Any) -> Any:
        found = self.cell(self.only) if self.only else None
        return rows.filter(cell=found.id) if found else rows

    @cached_property
    def by_cell(self) -> dict[int, Counts]:
        if self._as_it_is:
            return defaultdict(Counts, _kept_counts(self._as_it_is))
        return by_cell(self.slots)

    @cached_property
    def total(self) -> Counts:
        return total(self.by_cell.values())

    def values_of(self, measure: MeasureFacts) -> Values:
        """Figures of any measure from tallies. The boolean headline is counted from slots instead, with its policy."""
        if self._as_it_is:
            return _kept_values(self._as_it_is, measure)
        return _values(self._wanted(Tally.objects.filter(run=self.run)), measure)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The manifest as plain data, for what pages only show; empty when its blob is gone."""
        try:
            # the state is asked every time: what was redacted since is not shown from memory
            open_blob(self.run.manifest, getattr(self.run, "manifest_state", None)).close()
            return _manifest(self.run.manifest)
        except (RunnerError, ValueError):
            return {}


def _values(tallies: Any, measure: MeasureFacts) -> Values:
    rows = tallies.filter(measure=measure.id)
    # each column more costs as much as the rest of such a row, and there are thousands
    if measure.type == "category":
        once, found = ReadOnce(), rows.annotate(of_shares=Cast("shares", TextField()))
        shared = found.values_list("cell_id", "case_id", "n", "of_shares")
        return Values(
            measure, [NEW(TallyRow, (cell, case, n, None, None, once[of])) for cell, case, n, of in whole_rows(shared)]
        )
    names = ("cell_id", "case_id", "n", "sum")
    if measure.reducer in REDUCED:
        reduced = whole_rows(rows.values_list(*names, measure.reducer))
        return Values(measure, [NEW(TallyRow, (*row, NO_SHARES)) for row in reduced])
    summed = whole_rows(rows.values_list(*names))
    if measure.reducer == "sum":
        return Values(measure, [NEW(TallyRow, (*row, row[-1], NO_SHARES)) for row in summed])
    return Values(
        measure,
        [
            NEW(TallyRow, (cell, case, n, total, total / n if n and total is not None else None, NO_SHARES))
            for cell, case, n, total in summed
        ],
    )


@dataclass(frozen=True)
class AsItIs:
    """A run by what changes with each of its numbers: whatever changes a rollup raises the revision with it."""

    ulid: str
    created_at: datetime
    revision: int
    run: Run = field(compare=False)


# Readers sort, filter and turn the same few runs, and watch one together.
# The revision is read first, so nothing that is kept is older than its key.


@lru_cache(maxsize=RUNS)
def _kept_slots(of: AsItIs) -> list[SlotFacts]:
    return slots_made(_SLOTS.rows(of.run))


@lru_cache(maxsize=RUNS)
def _kept_counts(of: AsItIs) -> dict[int, Counts]:
    return dict(by_cell(_kept_slots(of)))


@lru_cache(maxsize=RUNS)
def _kept_values(of: AsItIs, measure: MeasureFacts) -> Values:
    return _values(of.run.tallies.all(), measure)


def manifest_json(digest: str, state: str | None = None) -> dict[str, Any]:
    """Read a manifest as it came. One stored before there was a limit may be nested deeper than a page's stack goes."""
    data = read_blob(digest, MANIFEST_LIMIT, state)
    try:
        found: dict[str, Any] = json.loads(data)
    except RecursionError as error:
        raise BlobRefused(digest, "deep", f"The blob {digest[:8]}… is nested too deep to be read.") from error
    return found


@lru_cache(maxsize=64)
def _manifest(digest: str) -> dict[str, Any]:
    """Read a manifest once: that of a large run has its trials in a megabyte, and no page shows those."""
    found = manifest_json(digest, Blob.State.PRESENT)
    # the blob has the text as it came; rows are many, only numbers, and shown by nobody
    return {key: clean.tree(value) for key, value in found.items() if key not in ("rows", "order")}


NO_SHARES: Mapping[str, int] = MappingProxyType({})


def _declared(run: Run, before: Any) -> Any:
    found = ScenarioVersion.objects.filter(Q(version=run.version_id) | Q(version__in=before.values("version")[:1]))
    columns = ("scenario_id", "scenario__slug", "scenario__name", "version_id", "fingerprint", "of_hashes", "of_label")
    hashes, label = Cast("version__hashes", TextField()), Subquery(before.values("label")[:1])
    return found.order_by().annotate(of_hashes=hashes, of_label=label).values_list(*columns)


def _before(run: Run) -> Any:
    return Run.objects.filter(bench=run.bench_id, pk__lt=run.pk).counted().order_by("-id")


_SLOTS = Prepared(lambda run: slots_query(Slot.objects.filter(run=run.pk)))
_DECLARED = Prepared(lambda run: _declared(run, Run.objects.none()))
_DECLARED_BEFORE = Prepared(lambda run: _declared(run, _before(run)))
