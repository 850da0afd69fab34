from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from runner import replay
from runner.cancelling import standing
from runner.errors import RunnerError

from .places import check_bench, runs_of
from .terminal import console, plural, print_json, text


def command(options: Namespace) -> int:
    bench: Path = options.bench
    check_bench(bench)
    rows = [_row(path) for path in reversed(runs_of(bench))]
    if options.json:
        print_json({"bench": str(bench.resolve()), "runs": rows})
    elif rows:
        _print(rows)
    else:
        print(f"No runs yet; `benchsite run {bench}` makes one.")
    return 0


def _row(path: Path) -> dict[str, Any]:
    """Describe a run; one that can't be read is listed with the reason, and hides no other."""
    try:
        result = replay.read(path)
    except RunnerError as error:
        return {"run": path.name, "error": str(error)}
    outcomes = [trial.final.outcome for trial in result.trials if trial.final and trial.state == "scored"]
    return {
        "run": path.name,
        "bench": result.manifest.bench,
        "version": result.manifest.version,
        "created_at": result.manifest.created_at,
        "tags": list(result.manifest.tags),
        "state": standing(path, result.state),
        "regraded": result.manifest.regraded,
        "parent": result.manifest.parent,
        "planned": len(result.trials),
        "cells": len(result.manifest.cells),
        "counts": result.counts,
        "solved": outcomes.count("solved") if set(outcomes) & {"solved", "unsolved"} else None,
    }


def _print(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    tagged = any(row.get("tags") for row in rows)
    for name in ("run", "started", "version", "state", "cells", *(["tags"] if tagged else []), "trials"):
        table.add_column(name, overflow="fold")
    for row in rows:
        if "error" in row:
            blank = [""] * (2 if tagged else 1)
            table.add_row(text(row["run"]), "", "", text("unreadable", "red"), *blank, text(row["error"]))
            continue
        counts = ", ".join(f"{count} {state}" for state, count in row["counts"].items())
        solved = "" if row["solved"] is None else f" ({row['solved']} solved)"
        tags = [", ".join(row["tags"])] if tagged else []
        started = row["created_at"][:16].replace("T", " ")
        state = f"{row['state']}, regraded from {row['parent']}" if row["regraded"] else row["state"]
        cells = (row["run"], started, row["version"], state, row["cells"], *tags)
        table.add_row(*map(text, cells), text(f"{plural(row['planned'], 'trial')}: {counts}{solved}"))
    console().print(table)
