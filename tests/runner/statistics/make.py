"""Rows for statistics tests: plain functions that make a valid row; a test states only what matters to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runner.schema import MeasureSpec
from runner.statistics import Row

RESOLVED = MeasureSpec("resolved", "bool", objective="maximize", aggregate="rate", headline=True)
FILES = MeasureSpec("files", "int", objective="minimize", aggregate="mean")
SCORE = MeasureSpec("score", "float", objective="maximize", aggregate="mean", worst=0.0)
APPROACH = MeasureSpec("approach", "category", aggregate="counts", categories=("patch", "rewrite"))
NOTES = MeasureSpec("notes", "text")


def make_row(cell: int = 0, scenario: int = 0, case: int = 0, number: int = 1, **given: Any) -> Row:
    row = {
        "state": "scored",
        "fault": None,
        "outcome": None,
        "cost": None,
        "seconds": None,
        "tokens": None,
        "values": {},
        "invalid": frozenset(),
    }
    return Row(cell, scenario, case, number, **{**row, **given})


def rows_from(table: Sequence[Sequence[Sequence[float]]], key: str = "resolved") -> list[Row]:
    """Make scored rows from table[cell][scenario] = values of its trials."""
    return [
        make_row(cell, scenario, 0, number, values={key: float(value)})
        for cell, scenarios in enumerate(table)
        for scenario, values in enumerate(scenarios)
        for number, value in enumerate(values, 1)
    ]
