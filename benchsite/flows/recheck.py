"""Rollups against the journal: `recount --check` folds what was kept and compares every figure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.db import IntegrityError, transaction

from benchsite.runs.models import Run
from benchsite.runs.recount import WITHDRAWN, figures, recount, stored_figures
from runner.errors import RunnerError
from runner.journal import decode
from runner.replay import RunResult, fold
from runner.statistics.rollup import Row, rows_of

from . import clean, projected
from .curate import raise_revision
from .ingest import read_manifest
from .sources import Source
from .struck import Struck

NAMES = ("slot", "tally", "standing", "spread")


def rebuild_rollups(run: Run) -> None:
    """Write the rollups anew from the rows."""
    with transaction.atomic():
        held = _as_it_stands(run, Run.objects.select_for_update(of=("self",)))
        if held is None:
            raise RunnerError(f"The run {run.ulid} was forgotten meanwhile.")
        recount(held)
        raise_revision(held)


def differences(run: Run) -> Iterator[str]:
    """Name every figure of the database that the journal does not bear out, or say that the run became another."""
    begun, found = _as_it_stands(run), list[str]()
    try:
        found = list(_differences(begun)) if begun else []
    except (KeyError, ObjectDoesNotExist, IntegrityError):
        if not _changed(begun):
            raise
    if _changed(begun):
        found = [f"run {run.ulid}: it was changed or forgotten while it was checked; check it again."]
    yield from found


def _as_it_stands(run: Run, runs: Any = None) -> Run | None:
    """Read a run anew: whoever named it may have waited while it was rebuilt, which gives all its rows other ids."""
    found = (Run.objects if runs is None else runs).select_related("bench", "version").filter(pk=run.pk)
    held: Run | None = found.first()
    return held


def _changed(run: Run | None) -> bool:
    """Tell whether a run was rebuilt or forgotten, or went on, since it was read."""
    same = run and Run.objects.filter(pk=run.pk, version=run.version_id, revision=run.revision).exists()
    return not same


def _differences(run: Run) -> Iterator[str]:
    try:
        result = _kept(run)
    except RunnerError as error:
        yield f"run {run.ulid}: what was kept of it cannot be read: {error}"
        return
    expected = figures(run, _rows(run, result))
    for name, wanted, found in zip(NAMES, expected, stored_figures(run), strict=True):
        for key in sorted(wanted.keys() | found.keys(), key=repr):
            if wanted.get(key) != found.get(key):
                yield f"run {run.ulid}: {name} {key} is {found.get(key)}, the journal says {wanted.get(key)}."


def _kept(run: Run) -> RunResult:
    source = Source.of_store(run.manifest, run.events)
    with source.open_events() as file:
        return fold(read_manifest(source.manifest_bytes()), decode(Struck(file)))


def _rows(run: Run, result: RunResult) -> Iterator[Row]:
    """Give replay's rows under the ids of the database, with what curators withdrew."""
    declared = projected.declare(result.manifest, run.bench)
    cells = list(run.cells.order_by("ordinal").values_list("id", flat=True))
    withdrawn = set(run.trials.filter(withdrawn=True).values_list("index", flat=True))
    for index, row in enumerate(rows_of(result)):
        planned = result.manifest.trials[index]
        named = row._replace(
            cell=cells[planned.cell],
            scenario=declared.scenarios[planned.scenario],
            case=declared.cases[planned.scenario, planned.case],
            cost=clean.amount(row.cost),
            seconds=clean.amount(row.seconds),
            tokens=clean.whole(row.tokens),
        )
        yield named._replace(state=WITHDRAWN, fault=None, outcome=None) if index in withdrawn else named


def runs_named(ulids: list[str]) -> list[Run]:
    """Find runs by ULID; none named means all of them."""
    found = list(Run.objects.select_related("bench", "version").filter(**({"ulid__in": ulids} if ulids else {})))
    unknown = sorted(set(ulids) - {run.ulid for run in found})
    if unknown:
        raise RunnerError(f"There is no run {unknown[0]} on this site.")
    return found
