"""The tables of a comparison as plain values, by the name their twins have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchsite.readings.sheet import Sheet

from .numbers import Column, NumbersPage


def _sheet(page: NumbersPage, name: str, columns: tuple[str, ...], rows: Iterator[tuple[Any, ...]]) -> Sheet:
    about = {
        "of": [str(of) for of in page.of],
        "bench": str(page.bench),
        "table": name,
        "policy": page.policy.name,
        "measure": page.measure.key if page.measure else None,
        "notices": [notice.text for notice in page.notices],
    }
    return Sheet(f"compare-{name}", columns, rows, about)


PAIRED = ("base", "other", "difference", "lo", "hi", "clusters", "unit", "wins", "losses", "ties", "apart",
          "p_sign", "p_permutation", "detectable", "verdict", "words")  # fmt: skip


def sides(page: NumbersPage) -> Sheet:
    head = ("of", "title", "scored", "scored_lo", "scored_hi", "errors_fail", "errors_fail_lo", "errors_fail_hi",
            "n", "planned", "cost_per_trial", "seconds_per_trial")  # fmt: skip
    more = (*PAIRED, "sentence", "wanted", "trials_needed", "clusters_needed")
    return _sheet(page, "sides", (*head, *more), (_side(column) for column in page.columns))


def _side(column: Column) -> tuple[Any, ...]:
    three = column.three
    figures = (*three.scored[:3], *three.failing[:3], three.n, three.planned, column.cost, column.seconds)
    made = tuple(getattr(column.made, name) for name in PAIRED) if column.made else (None,) * len(PAIRED)
    needs = column.needs or (None, None, None)
    return (str(column.side.of), column.side.title, *figures, *made, column.sentence or None, *needs)


def cases(page: NumbersPage) -> Sheet:
    """One row a case and side, of all cases the address chooses."""
    head = ("scenario", "case", "of", "figure", "n", "difference", "mark", "why")
    rows = (
        (line.slug, line.case, str(column.side.of), square.figure.figure if square.figure else None,
         square.figure.n if square.figure else 0, square.difference, square.mark, square.why or None)
        for line in page.chosen
        for square, column in zip(line.squares, page.columns, strict=True)
    )  # fmt: skip
    return _sheet(page, "cases", head, rows)


def parts(page: NumbersPage) -> Sheet:
    head = ("kind", "name", "of", "value")
    rows = (
        (one.kind, one.name, str(column.side.of), value)
        for one in page.differences
        for value, column in zip(one.values, page.columns, strict=True)
    )
    return _sheet(page, "differences", head, rows)


SHEETS: dict[str, Callable[[NumbersPage], Sheet]] = {"sides": sides, "cases": cases, "differences": parts}
