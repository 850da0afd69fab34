"""Runs that wait for a verdict (or have one), each with what a curator should know before it counts."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, OuterRef, TextField
from django.db.models.functions import Cast

from benchsite.artifacts.models import Blob, BlobUse
from benchsite.benches.models import Bench
from benchsite.curation.models import Decision
from benchsite.flows.curate import FROM
from benchsite.readings import typed
from benchsite.readings.compare.cautions import PARTS
from benchsite.readings.home import Coverage, coverage
from benchsite.readings.sheet import Sheet
from benchsite.readings.words import count
from benchsite.runs.models import Cell, Planned, Run, Trial
from runner.hashes import different

from .asked import ANY, Asked, Page


@dataclass(frozen=True)
class Remark:
    """What to know before deciding. `query` filters the run's trials; `files` speaks of what is held back of it."""

    text: str
    query: str = ""
    files: bool = False


@dataclass(frozen=True)
class Row:
    """`accepted` is the newest accepted run of the bench beside this one, `parts` what it is defined otherwise in."""

    run: Run
    coverage: Coverage
    cells: int
    agents: tuple[str, ...]
    remarks: tuple[Remark, ...]
    accepted: Run | None
    parts: tuple[str, ...]
    reason: str

    @property
    def pooled(self) -> bool:
        """Whether both may stand in one leaderboard as one measurement."""
        return self.accepted is not None and self.accepted.cohort == self.run.cohort


@dataclass(frozen=True)
class RunsPage(Page[Row]):
    @property
    def offered(self) -> list[str]:
        """The decisions that at least one of the runs shown may take."""
        held = {row.run.verdict for row in self.rows}
        return [verdict.value for verdict, after in FROM.items() if held & {one.value for one in after}]


def runs_page(asked: Asked) -> RunsPage:
    every = Run.objects.annotate(planned=Planned("counts"))
    found = narrowed(every, asked)
    part, onward = asked.part(found.only("pk"), every)
    # from one bench's end of its index: as "the same bench", a database may look for it through all runs there are
    beside = Run.objects.counted().filter(bench__gte=OuterRef("bench"), bench__lte=OuterRef("bench"))
    accepted = beside.exclude(pk=OuterRef("pk")).order_by("bench_id", "-id")
    # asked of the rows shown alone: a database may work such a question out for every run before it sorts them
    shown = Run.objects.select_related("bench", "version", "by").annotate(accepted_pk=accepted.values("pk")[:1])
    runs = shown.defer("version__schema").in_bulk([run.pk for run in part])
    return RunsPage(asked, tuple(_rows([runs[run.pk] for run in part])), found.count(), onward)


def narrowed(runs: Any, asked: Asked) -> Any:
    if asked.verdicts != ANY:
        runs = runs.filter(verdict=asked.verdicts)
    if asked.bench:
        runs = runs.filter(bench__in=typed.benches(Bench.objects.all(), asked.bench))
    if asked.by:
        runs = typed.by(runs, asked.by)
    return runs.filter(typed.of_run(asked.run, "ulid")) if asked.run else runs


def _rows(runs: Sequence[Any]) -> Iterator[Row]:
    cells, flags, held, reasons = _cells(runs), _flags(runs), _held(runs), _reasons(runs)
    others = Run.objects.select_related("version").only("ulid", "label", "cohort", "version__hashes")
    accepted = others.in_bulk([run.accepted_pk for run in runs if run.accepted_pk])
    for run in runs:
        other, cover = accepted.get(run.accepted_pk), coverage(run.counts)
        names = [axes.get("agent") or "·".join(axes.values()) or "default" for axes in cells[run.pk]]
        parts = different(run.version.hashes, other.version.hashes) if other else []
        yield Row(
            run=run,
            coverage=cover,
            cells=len(names),
            agents=tuple(dict.fromkeys(names)),
            remarks=tuple(_remarks(run, cover, flags[run.pk], held.get(run.pk, 0))),
            accepted=other,
            parts=tuple(PARTS.get(part, part) for part in parts),
            reason=reasons.get(run.ulid, ""),
        )


def _remarks(run: Run, cover: Coverage, flags: dict[str, int], held: int) -> Iterator[Remark]:
    if held:
        yield Remark(f"{count(held, 'file')} held back", files=True)
    for name, many in flags.items():
        yield Remark(f"{many:,} {name}", f"flag={name}")
    if cover.errors:
        yield Remark(count(cover.errors, "error"), "state=run_error,eval_error")
    if cover.excluded:
        yield Remark(f"{cover.excluded:,} excluded", "state=excluded")
    if run.state != Run.State.FINISHED:
        yield Remark(str(run.state))
    if run.isolation == "none":
        yield Remark("isolation: none")
    if run.regrades:
        yield Remark("regraded")


def _cells(runs: Sequence[Run]) -> dict[int, list[dict[str, str]]]:
    found: dict[int, list[dict[str, str]]] = defaultdict(list)
    rows = Cell.objects.filter(run__in=runs).order_by("run_id", "ordinal")
    for run, axes in rows.values_list("run_id", "subject__axes"):
        found[run].append(axes)
    return found


def _flags(runs: Sequence[Run]) -> dict[int, dict[str, int]]:
    """How many trials have each flag, by run; what was withdrawn is not listed either."""
    found: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    rows = Trial.objects.filter(run__in=runs, withdrawn=False).exclude(flags=[]).order_by()
    told = rows.annotate(said=Cast(F("flags"), TextField())).values_list("run_id", "said").annotate(many=Count("pk"))
    for run, said, many in told:
        for name in dict.fromkeys(json.loads(said)):
            found[run][name] += many
    return found


def _held(runs: Sequence[Run]) -> dict[int, int]:
    uses = BlobUse.objects.filter(blob__in=Blob.objects.held(), run__in=runs).order_by()
    return dict(uses.values_list("run_id").annotate(many=Count("pk")))


def _reasons(runs: Sequence[Run]) -> dict[str, str]:
    """Why each run has the verdict it has."""
    told = Decision.objects.filter(run__in=[run.ulid for run in runs], trial=None).order_by("id")
    return dict(told.values_list("run", "reason"))


def sheet(page: RunsPage) -> Sheet:
    head = ("run", "bench", "label", "verdict", "by", "received_at", "state", "cells", "agents", "planned", "scored",
            "errors", "excluded", "remarks", "accepted_run", "pooled", "differs_in", "reason")  # fmt: skip
    rows = (
        (row.run.ulid, str(row.run.bench), row.run.label, row.run.verdict, str(row.run.by) if row.run.by else None,
         row.run.created_at.isoformat(), row.run.state, row.cells, ", ".join(row.agents), row.coverage.planned,
         row.coverage.scored, row.coverage.errors, row.coverage.excluded, "; ".join(one.text for one in row.remarks),
         row.accepted.ulid if row.accepted else None, row.pooled if row.accepted else None, "; ".join(row.parts),
         row.reason or None)
        for row in page.rows
    )  # fmt: skip
    return Sheet("curate-runs", head, rows, {"table": "runs", "total": page.total, "after": page.next})
