"""The plan of a run as a table: what would be run, and how often, before anything is spent."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from runner.manifest import Manifest

from .sizes import size_line
from .terminal import console, text

if TYPE_CHECKING:
    from runner.prepare import Prepared


def show_plan(prepared: Prepared) -> None:
    from rich.table import Table

    manifest, out = prepared.manifest, console()
    out.print(text(f"{manifest.bench} {manifest.version} in {prepared.environment}, seed {manifest.seed}"))
    out.print()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("scenario", "case", *(axis.name for axis in manifest.axes), "evaluation", "trials"):
        table.add_column(text(name), overflow="fold", justify="right" if name == "trials" else "left")
    for row in plan_rows(manifest):
        table.add_row(*map(text, row))
    out.print(table)
    out.print()
    out.print(text(size_line(manifest)))
    for warning in prepared.warnings:
        out.print(text(f"warning: {warning}", "yellow"))
    out.print(text("Nothing was run."))


def plan_rows(manifest: Manifest) -> list[tuple[str, ...]]:
    """Give a row for each case in each cell: its names, its evaluation mode and how many trials it gets."""
    counted = Counter((trial.scenario, trial.case, trial.cell, trial.plan) for trial in manifest.trials)
    rows = []
    for (number, place, cell, plan), trials in counted.items():
        scenario = manifest.scenarios[number]
        mode = manifest.plans[plan].get("mode", "") if manifest.plans else manifest.evaluation
        values = [manifest.cells[cell].axes.get(axis.name, "") for axis in manifest.axes]
        rows.append((scenario.id, scenario.cases[place].key, *values, str(mode), str(trials)))
    return rows
