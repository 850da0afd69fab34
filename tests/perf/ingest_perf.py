"""How fast a run becomes rows: 100,000 trials, each with an attempt, 4 observations, 2 artifacts and 3 changes.

The blobs are stored already; rollups are included. Beside it the bare writing of just the trials' and observations'
rows. Bars: 4,000 trials/s on PostgreSQL, 2,500 on SQLite, and memory that does not grow with the run.
`--trials N` measures a smaller run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from runner.blobs import BlobStore
from runner.journal import EVENTS, MANIFEST
from tests import make, servers
from tests import make_world as worlds

CELLS, SCENARIOS = 20, 25
BARS = {"PostgreSQL": 4000, "SQLite": 2500}


def write_run(
    folder: Path, *, bench: str, cells: int, scenarios: int, trials: int, seed: int, cases: int = 1, done: float = 1.0
) -> Path:
    """Write a run directory line by line: the journal of the real runner is synced after every trial.

    `done`: the share of its trials that have ended; under 1 the run goes on.
    """
    blobs, rng = BlobStore(folder / ".bench" / "blobs"), random.Random(seed)
    manifest = make.make_manifest(blobs, rng, bench, cells, scenarios, cases, trials, seed=seed)
    run_dir = folder / ".bench" / "runs" / manifest.run
    run_dir.mkdir(parents=True)
    manifest.write(run_dir / MANIFEST)
    shared = _shared(blobs, rng)
    with (run_dir / EVENTS).open("w", encoding="utf-8") as file:
        for seq, event in enumerate(_events(manifest.order, done, shared, rng), 1):
            file.write(json.dumps({"seq": seq, "at": "2026-01-05T10:00:00.000Z", **event}) + "\n")
    return run_dir


def _shared(blobs: BlobStore, rng: random.Random) -> dict[str, Any]:
    start, world = worlds.World(), worlds.World()
    worlds.solved(world, rng)
    changes, counts = worlds.changes_blob(start, world, blobs)
    texts = {name: blobs.put(name.encode()) for name in ("prompt", "text", "log", "patch")}
    return {"changes": changes, "counts": {**counts, "added": 1, "modified": 1, "deleted": 1}, **texts}


def _events(order: Any, done: float, shared: dict[str, Any], rng: random.Random) -> Iterator[dict[str, Any]]:
    yield {"type": "run.started", "workers": 2, "load": 0.5}
    for trial in order[: round(done * len(order))]:
        yield from ({"trial": trial, "attempt": 1, **event} for event in _attempt(shared, rng))
    if done >= 1:
        yield {"type": "run.finished", "state": "finished"}


def _attempt(shared: dict[str, Any], rng: random.Random) -> Iterator[dict[str, Any]]:
    good, seconds = rng.random() < 0.6, round(rng.uniform(2, 90), 3)
    usage = {"tokens_in": 9000, "tokens_out": 400, "cost": 0.04, "model_calls": 3, "tool_calls": 5}
    yield {"type": "trial.started", "seed": 7, "worker": 0}
    yield {
        "type": "request", "number": 1, "prompt": shared["prompt"], "text": shared["text"], "exit_code": 0,
        "timed_out": False, "seconds": seconds, "usage": usage, "transcript": None, "output": None,
        "changes": shared["changes"], "session": None,
    }  # fmt: skip
    yield {"type": "changes", "stage": "agent", "blob": shared["changes"], "counts": shared["counts"]}
    yield {"type": "phase", "phase": "execution", "seconds": seconds}
    values = {"resolved": good, "collateral": rng.randrange(9), "score": rng.random(), "approach": "patch"}
    for measure, value in values.items():
        yield {"type": "observe", "measure": measure, "value": value, "valid": True, "reason": ""}
    for name in ("log", "patch"):
        yield {"type": "artifact", "name": name, "kind": name, "media": "text/plain", "blob": shared[name], "size": 5}
    yield {
        "type": "trial.finished", "state": "scored", "outcome": "solved" if good else "unsolved", "fault": None,
        "phase": None, "reason": "", "seconds": seconds, "flags": [], "usage": usage, "headline": float(good),
    }  # fmt: skip


def measure(database: str, folder: Path, trials: int) -> int:
    """In a process of its own: settings are read once."""
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    from benchsite.flows.ingest import ingest

    shape: Any = {"bench": "perf/ingest", "cells": CELLS, "scenarios": SCENARIOS}
    first = write_run(folder / "first", **shape, trials=1, seed=1)
    ingest(first, verdict="accepted")  # the blobs are there from now on
    run_dir = write_run(folder / "run", **shape, trials=max(1, trials // (CELLS * SCENARIOS)), seed=2)
    early: list[int] = []

    def watch(done: int, total: int) -> None:
        if not early and done > total / 5:
            early.append(_memory())

    began = time.perf_counter()
    run = ingest(run_dir, verdict="accepted", on_progress=watch)
    spent, most = time.perf_counter() - began, _memory()  # before the bare rows, which are read into a list
    count = run.trials.count()
    bare, rate = _bare(run), count / spent
    good = rate >= BARS[database]
    print(
        f"{database:10} {count:,} trials in {spent:.1f} s: {rate:,.0f} trials/s (bar {BARS[database]:,})"
        f"{'' if good else '   UNDER THE BAR'}; {spent / bare:.1f}x the bare rows; memory {early[0]} MB after a fifth, "
        f"{most} MB at most",
        flush=True,
    )
    return 0 if good else 1


def _bare(run: Any) -> float:
    """Seconds to write the trials and observations alone, as they are, into tables without anything to check."""
    from django.db import connection, transaction

    from benchsite.flows.bulk import Table
    from benchsite.runs.models import Observation, Trial

    spent = 0.0
    asked = ((Trial, Trial.objects.filter(run=run)), (Observation, Observation.objects.filter(trial__run=run)))
    for model, rows in asked:
        fields = [field.attname for field in model._meta.concrete_fields if field.name != "id"]
        table, found = Table(model, *[name.removesuffix("_id") for name in fields]), list(rows.values_list(*fields))
        table.name = f"bare_{model._meta.db_table}"
        with connection.cursor() as cursor:
            cursor.execute(f'CREATE TABLE {table.name} AS SELECT * FROM "{model._meta.db_table}" WHERE 1 = 0')
        began = time.perf_counter()
        with transaction.atomic():
            table.insert(found)
        spent += time.perf_counter() - began
    return spent


def _memory() -> int:
    """The most this process has held so far, in MB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024


def _in_its_own_process(database: str, url: str | None, trials: int) -> int:
    with tempfile.TemporaryDirectory(prefix="benchsite-perf-") as folder:
        env = {**os.environ, "BENCHSITE_DATA": f"{folder}/data", "DJANGO_SETTINGS_MODULE": "benchsite.settings"}
        env.pop("BENCHSITE_DATABASE_URL", None)
        if url:
            env["BENCHSITE_DATABASE_URL"] = url
        argv = [sys.executable, "-m", "tests.perf.ingest_perf", "--trials", str(trials), "--one", database, folder]
        return subprocess.run(argv, env=env, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.perf.ingest_perf", description=__doc__)
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--one", nargs=2, metavar=("DATABASE", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        return measure(options.one[0], Path(options.one[1]), options.trials)
    worst = _in_its_own_process("SQLite", None, options.trials)
    if servers.find_program("initdb") is None:
        print("PostgreSQL not measured: it is not installed (on Debian: apt install postgresql)")
        return worst
    with servers.postgres() as url:
        return max(worst, _in_its_own_process("PostgreSQL", url, options.trials))


if __name__ == "__main__":
    sys.exit(main())
