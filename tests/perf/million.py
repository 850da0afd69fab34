"""A PostgreSQL database of a million trials, skewed as sites are: one run of 36,000 trials and one as large that goes
on, one scenario of 500 cases, 10,000 small runs of twenty benches, one artifact in every trial the same.

The runs are ingested by the site's own road. The small ones are then copied in the database, row by row with keys of
their own, in the order of time: run after run, bench by bench.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.journal import MANIFEST

from .ingest_perf import write_run
from .million_people import live_here

BENCHES, COPIES = 20, 500
SMALL = {"cells": 4, "scenarios": 6, "trials": 4}
"""96 trials a run: 20 benches x 500 runs are 960,000."""
LARGE = {"cells": 36, "scenarios": 100, "trials": 10}
LIVE = {**LARGE, "done": 0.6}
CASES = {"cells": 4, "scenarios": 1, "cases": 500, "trials": 2}


def fill(folder: Path) -> dict[str, Any]:
    """Fill the (migrated) database; give the runs worth looking at by name."""
    from django.db import connection

    found = {
        "large": _take(folder / "large", "perf/large", LARGE, 1),
        "cases": _take(folder / "cases", "perf/cases", CASES, 2),
        "live": _take(folder / "live", "perf/large", LIVE, 3 + BENCHES),
    }
    small = [_take(folder / f"small{n}", f"perf/small{n}", SMALL, 3 + n) for n in range(BENCHES)]
    _copy([run.pk for run in small])
    live_here({"large": found["large"]})
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return {**found, "small": small[0]}


def _take(folder: Path, bench: str, shape: Mapping[str, Any], seed: int) -> Any:
    from benchsite.flows.ingest import ingest

    run_dir = write_run(folder, seed=seed, bench=bench, **shape)
    assert (run_dir / MANIFEST).exists()
    return ingest(run_dir, verdict="accepted")


def _copy(runs: list[int]) -> None:
    from django.db import connection, transaction

    from benchsite.artifacts.models import Artifact, BlobUse
    from benchsite.runs.models import Attempt, Cell, Observation, Run, Slot, Spread, Standing, Tally, Trial

    models = (Run, Cell, Trial, Attempt, Observation, Artifact, BlobUse, Slot, Tally, Standing, Spread)
    places: dict[Any, tuple[int, int, int]] = {}
    with transaction.atomic(), connection.cursor() as cursor:
        for model in models:
            where = _where(model, runs, places)
            places[model] = _place(cursor, model, where)
            cursor.execute(_copying(model, where, places))
        cursor.execute(
            "INSERT INTO curation_runlabel (run, bench, number) SELECT r.ulid, b.owner || '/' || b.name, r.label "
            "FROM runs_run r JOIN benches_bench b ON b.id = r.bench_id ON CONFLICT DO NOTHING"
        )
    with connection.cursor() as cursor:
        for model in models:
            table = model._meta.db_table
            cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")


def _where(model: Any, runs: list[int], places: dict[Any, tuple[int, int, int]]) -> str:
    """What belongs to the runs: they were ingested one after another, so their keys are a range."""
    if model._meta.model_name == "run":
        return f"t.id BETWEEN {min(runs)} AND {max(runs)}"
    own = {field.name: field for field in model._meta.concrete_fields}
    if "run" in own:
        return f"t.run_id BETWEEN {min(runs)} AND {max(runs)}"
    parent = own["trial"].related_model
    least, span, _ = places[parent]
    return f"t.trial_id BETWEEN {least} AND {least + span - 1}"


def _place(cursor: Any, model: Any, where: str) -> tuple[int, int, int]:
    """Give (least key, keys a copy takes, first key of the copies)."""
    table = model._meta.db_table
    cursor.execute(f"SELECT min(t.id), max(t.id), (SELECT max(id) FROM {table}) FROM {table} t WHERE {where}")
    least, most, last = cursor.fetchone()
    return least, most - least + 1, last + 1


def _copying(model: Any, where: str, places: dict[Any, tuple[int, int, int]]) -> str:
    columns, values = [], []
    for field in model._meta.concrete_fields:
        columns.append(f'"{field.column}"')
        values.append(_value(model, field, places))
    table = model._meta.db_table
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} "
        f"FROM generate_series(1, {COPIES - 1}) g, {table} t WHERE {where} ORDER BY g, t.id"
    )


def _value(model: Any, field: Any, places: dict[Any, tuple[int, int, int]]) -> str:
    of = model if field.primary_key else field.related_model
    if of in places:
        least, span, first = places[of]
        return f'{first} + (g - 1) * {span} + (t."{field.column}" - {least})'
    if field.name == "ulid":
        return "'01' || lpad((g * 100000 + t.id)::text, 24, '0')"
    return "t.label + g" if field.name == "label" else f't."{field.column}"'
