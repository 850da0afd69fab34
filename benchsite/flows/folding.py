"""One pass over a journal: attempts that ended are written in batches, then the run is settled and counted."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import Count

from benchsite.artifacts.models import BlobUse
from benchsite.runs.models import Attempt as AttemptRow
from benchsite.runs.models import Cell, Observation, Run, Trial
from benchsite.runs.recount import recount
from runner.errors import JournalError
from runner.faults import ENDED
from runner.manifest import Manifest
from runner.replay import Attempt, Usage

from . import clean, facts, projected
from .bulk import new_ids, wait_for_no_disk
from .carry import Carrier, of_attempts
from .curate import apply, raise_revision
from .placed import Batch, Placed, ahead
from .struck import Struck

LOST = "The runner ended before this trial did."


class Busy(JournalError):
    """Another process takes in the same run just now."""


@contextmanager
def _without_gc() -> Iterator[None]:
    """Records hold no cycles, and looking for some among a million of them takes a fifth of an ingest."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class Pass:
    """Holds what one pass over a run's journal needs. Memory is bounded by a batch and the attempts open at a time."""

    def __init__(
        self, run: Run, manifest: Manifest, carrier: Carrier, file: Struck, keep: Callable[[], str] | None
    ) -> None:
        self.run, self.manifest, self.carrier, self.file, self.keep = run, manifest, carrier, file, keep
        self.events = ""
        declared = projected.declare(manifest, run.bench)
        self.measures, self.scenarios, self.cases = declared.measures, declared.scenarios, declared.cases
        self.cells = list(run.cells.order_by("ordinal").values_list("id", flat=True))
        self.begun = run.journal_bytes
        self.folding = Placed(file, self.begun, run.ulid, len(manifest.rows))
        self.folding.state = run.state
        self.seq, self.seen = run.journal_seq, run.seen_at
        self.made = self._made()
        self.noted: dict[int, tuple[str, str]] = {}
        """What was written of trials that were not run."""

    def go(self, batch: int, on_progress: Callable[[int, int], None]) -> None:
        with _without_gc():
            self._go(batch, on_progress)

    def _go(self, batch: int, on_progress: Callable[[int, int], None]) -> None:
        size = self.file.seek(0, 2)
        if size < self.begun:
            raise JournalError(f"The journal of run {self.run.ulid} is shorter than what was read of it before.")
        with closing(ahead(self.folding.batches(batch))) as batches:
            for part in batches:
                self._write(part)
                on_progress(part.place, size)
        self.seq = max(self.seq, clean.whole(self.folding.last.get("seq")) or 0)
        self.seen = clean.moment(self.folding.last.get("at"))
        self._finish(self.folding.left)
        on_progress(size, size)

    # Writing

    def _write(self, batch: Batch) -> None:
        """Write one batch of ended attempts, bytes first, rows in one transaction."""
        digests = self.carrier.fetch(of_attempts(batch.ended))
        with transaction.atomic():
            self._lock()
            wait_for_no_disk()
            self.carrier.record(digests)
            self._attempts(batch.ended)
            self._aside()
            self._note(batch.mark, self._begun_at())
            raise_revision(self.run)
        self.carrier.index()

    def _aside(self) -> None:
        """Write what no attempt tells, too: whoever goes on from the mark does not read it again."""
        unrun = dict(self.folding.unrun)  # copied at once: events are read ahead meanwhile
        new = {index: told for index, told in unrun.items() if self.noted.get(index) != told}
        self.noted = unrun
        self._fill(new, [index for index in new if not self.made[index]])
        self._unrun(new)
        self._stopped()

    def _begun_at(self) -> dict[str, Any]:
        began = self.folding.started_at
        return {"started_at": clean.moment(began)} if began else {}

    def _finish(self, ended: list[Attempt]) -> None:
        """Write the last batch, give every planned trial its state, and count."""
        lost = self._lost()
        kinds = of_attempts([*ended, *lost, *self.folding.unended()])
        if self.keep is not None:  # only now: of a journal that is refused nothing stays
            self.events = self.keep()
            kinds[self.events] = ""
            if self.begun == 0:  # else a part of it was read another time
                self.carrier.looked_through(self.events, self.file.found)
        digests = self.carrier.fetch(kinds)
        with transaction.atomic():
            self._lock()
            self.carrier.record(digests)
            self._attempts([*ended, *lost])
            self._settle({attempt.trial for attempt in lost})
            self._stopped()
            self._note(self.folding.mark, self._columns())
            if self.seq > self.run.journal_seq or not self.run.slots.exists():
                apply(self.run)
                recount(self.run)
        self.carrier.index()

    def _lock(self) -> None:
        """Two passes over one journal at a time would write twice: the second one stops."""
        held = Run.objects.select_for_update().filter(pk=self.run.pk).first()
        if held is None or held.version_id != self.run.version_id:  # the ids this pass knows are of nothing any more
            raise Busy(f"The run {self.run.ulid} was rebuilt or forgotten while it was ingested; try again.")
        if held.journal_bytes != self.run.journal_bytes:
            raise Busy(f"The run {self.run.ulid} is being ingested by another process.")

    def _note(self, mark: int, columns: dict[str, Any]) -> None:
        Run.objects.filter(pk=self.run.pk).update(journal_bytes=mark, **columns)
        self.run.journal_bytes = mark

    def _columns(self) -> dict[str, Any]:
        folding = self.folding
        states = self.run.trials.order_by().values_list("state").annotate(n=Count("id"))
        columns: dict[str, Any] = {
            "state": self._state(),
            "journal_seq": self.seq,
            "counts": {"planned": len(self.manifest.rows), **dict(sorted(states))},
            "finished_at": clean.moment(folding.finished_at) if folding.state != "running" else None,
        }
        if folding.state != "running" and folding.finished_at is None:
            columns.pop("finished_at")
        columns |= self._begun_at()
        if self.seen:
            columns["seen_at"] = self.seen
        columns["under_way"] = sorted(self._under_way()) if folding.state == "running" else []
        if self.events:
            columns["events"] = self.events
            BlobUse.objects.filter(run=self.run, blob__digest=self.run.events).exclude(
                blob__digest=self.events
            ).delete()
        return columns

    def _under_way(self) -> Iterator[list[Any]]:
        for attempt in self.folding.unended():
            begun = clean.moment(attempt.started_at)
            cell = self.cells[self.manifest.rows[attempt.trial][0]]
            yield [attempt.trial, attempt.number, cell, begun.isoformat() if begun else ""]

    def _state(self) -> str:
        if self.folding.state not in Run.State.values:
            raise JournalError(f"{clean.text(self.folding.state, 20)!r} is no state of a run.")
        return self.folding.state

    def _attempts(self, ended: list[Attempt]) -> None:
        known = self._known({attempt.trial for attempt in ended})
        new = [a for a in ended if a.number not in known.get(a.trial, ({}, 0))[0]]
        by_trial: dict[int, list[Attempt]] = {}
        for attempt in new:
            by_trial.setdefault(attempt.trial, []).append(attempt)
        ids = self._trials(by_trial, known)
        facts.ATTEMPTS.insert(facts.attempt_row(ids[a.trial], a, self.measures) for a in new)
        facts.ARTIFACTS.insert(row for a in new for row in facts.artifact_rows(ids[a.trial], a))
        counted = [tries[-1] for tries in by_trial.values()]
        again = [ids[a.trial] for a in counted if known.get(a.trial, ({}, 0))[0]]
        if again:
            Observation.objects.filter(trial__in=again).delete()
        facts.OBSERVATIONS.insert(
            row for a in counted for row in facts.observation_rows(ids[a.trial], a, self.measures)
        )

    def _known(self, trials: set[int]) -> dict[int, tuple[dict[int, facts.Past], int]]:
        """Give what the database has of these trials: attempts by number, and the row's id."""
        met = [index for index in trials if self.made[index]]
        if not met:
            return {}
        rows = Trial.objects.filter(run=self.run, index__in=met).values_list("index", "id")
        known: dict[int, tuple[dict[int, facts.Past], int]] = {index: ({}, id) for index, id in rows}
        tries = AttemptRow.objects.filter(trial__run=self.run, trial__index__in=met)
        for index, number, record in tries.values_list("trial__index", "number", "record"):
            known[index][0][number] = facts.Past(number, Usage.from_json(record.get("usage")))
        return known

    def _made(self) -> bytearray:
        """Mark the planned trials that have a row: one byte each, so that most batches need not ask."""
        made = bytearray(len(self.manifest.rows))
        for index in self.run.trials.order_by().values_list("index", flat=True).iterator(10_000):
            made[index] = 1
        return made

    def _trials(self, by_trial: dict[int, list[Attempt]], known: dict[int, Any]) -> dict[int, int]:
        """Write the rows of trials; gives their ids."""
        found = {index: known[index][1] for index in by_trial if index in known}
        fresh = [index for index in by_trial if index not in found]
        ids = dict(zip(fresh, new_ids(Trial, len(fresh)), strict=True))
        facts.NEW_TRIALS.insert(
            (ids[index], *self._plan(index), *facts.trial_facts(by_trial[index]), False) for index in fresh
        )
        for index in fresh:
            self.made[index] = 1
        facts.OLD_TRIALS.update(
            [(id, *facts.trial_facts(by_trial[i], list(known[i][0].values()))) for i, id in found.items()]
        )
        return {**found, **ids}

    def _plan(self, index: int) -> tuple[Any, ...]:
        cell, scenario, case, number, _ = self.manifest.rows[index]
        where = (self.cells[cell], self.scenarios[scenario], self.cases[scenario, case])
        return (self.run.pk, index, *where, number)

    # Settling: what stands nowhere among the ended attempts

    def _lost(self) -> list[Attempt]:
        """Once the run has ended, an attempt that has not was lost with its runner."""
        if self.folding.state == "running":
            return []
        found = [replace(attempt, state="run_error", fault="lost", reason=LOST) for attempt in self.folding.unended()]
        self.folding.open.clear()
        self.folding.starts.clear()
        return found

    def _settle(self, lost: set[int]) -> None:
        unrun = {index: told for index, told in self.folding.unrun.items() if index not in lost}
        self._fill(unrun, [index for index, made in enumerate(self.made) if not made])
        running = self.folding.state == "running"
        left = self.run.trials.filter(attempts=0, reason="").exclude(index__in=unrun)
        old, new = (("not_run",), "queued") if running else (("queued", "running"), "not_run")
        left.filter(state__in=old).update(state=new)
        self._unrun(unrun)
        self._open()

    def _fill(self, unrun: dict[int, tuple[str, str]], missing: list[int]) -> None:
        """Make the rows of planned trials that have none yet."""
        for start in range(0, len(missing), 5000):
            part = missing[start : start + 5000]
            ids = new_ids(Trial, len(part))
            facts.NEW_TRIALS.insert(
                (id, *self._plan(index), *facts.unstarted(*unrun.get(index, ("queued", ""))), False)
                for id, index in zip(ids, part, strict=True)
            )
            for index in part:
                self.made[index] = 1

    def _unrun(self, unrun: dict[int, tuple[str, str]]) -> None:
        groups: dict[tuple[str, str], list[int]] = {}
        for index, (state, reason) in unrun.items():
            if state not in ENDED:
                raise JournalError(f"{clean.text(state, 20)!r} is no state a trial ends in.")
            groups.setdefault((state, clean.text(reason)), []).append(index)
        for (state, reason), indexes in groups.items():
            changed = {"state": state, "reason": reason, "fault": "", "outcome": "", "headline": None}
            for start in range(0, len(indexes), 5000):
                self.run.trials.filter(index__in=indexes[start : start + 5000]).update(**changed)

    def _open(self) -> None:
        """Show the trials that run just now."""
        attempts = {a.trial: a for a in sorted(self.folding.unended(), key=lambda a: a.number)}
        known = self._known(set(attempts))
        rows = []
        for index, attempt in attempts.items():
            past, id = known[index]
            if attempt.number > max(past, default=0):
                rows.append((id, *facts.trial_facts([attempt], list(past.values()))))
        facts.OLD_TRIALS.update(rows)

    def _stopped(self) -> None:
        for position, sentence in dict(self.folding.stopped).items():
            if type(position) is not int or not 0 <= position < len(self.cells):
                raise JournalError(f"The journal stops a cell {clean.text(position, 20)} that is not listed.")
            Cell.objects.filter(pk=self.cells[position]).update(stopped=clean.text(sentence))
