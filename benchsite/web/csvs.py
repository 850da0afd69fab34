"""The tables' CSV twins: the same readings, numbers unrounded, missing ones empty."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import Any

from django.http import HttpResponse

from benchsite.readings.run import RunPage
from benchsite.readings.trials import TrialRow

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def respond(name: str, head: Iterable[str], rows: Iterable[Iterable[Any]]) -> HttpResponse:
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    writer = csv.writer(response, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([safe(value) for value in row] for row in rows)
    return response


def safe(value: Any) -> Any:
    """Text that a spreadsheet would run as a formula gets a quote before it; names come from strangers."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def leaderboard(page: RunPage) -> HttpResponse:
    names = [name for name, _ in page.axes.varying]
    head = [*names, "cell", "measure", "policy", "figure", "lo", "hi", "k", "n", "planned"]
    head += ["rank_lo", "rank_hi", "errors", "excluded", "cost", "seconds"]
    rows = []
    for place in page.board.places if page.board else ():
        values = dict(place.cell.axes)
        row = [*(values.get(name) for name in names), place.cell.name, page.board.measure.key, page.board.policy]  # type: ignore[union-attr]
        row += [place.macro, place.lo, place.hi, place.k, place.n, place.planned, place.rank_lo, place.rank_hi]
        rows.append([*row, place.counts.errors, place.counts.excluded, place.counts.cost, place.counts.seconds])
    return respond(f"{page.run.ulid}-leaderboard", head, rows)


def matrix(page: RunPage) -> HttpResponse:
    head = ["scenario", "cell", "figure", "k", "n", "planned", "errors", "excluded"]
    rows = (
        [row.slug, cell.name, square.value, square.k, square.n, square.planned, square.errors, square.excluded]
        for row in (page.matrix.rows if page.matrix else ())
        for square, cell in zip(row.squares, page.matrix.cells if page.matrix else (), strict=True)
        if square
    )
    return respond(f"{page.run.ulid}-matrix", head, rows)


TRIALS = ("index", "cell", "scenario", "case", "number", "state", "outcome", "fault", "withdrawn", "headline")
COSTS = ("seconds", "cost", "tokens", "attempts", "reason")


def costs(row: TrialRow) -> tuple[Any, ...]:
    return row.seconds, row.cost, row.tokens, row.attempts, row.reason


def trials(ulid: str, rows: Iterable[TrialRow]) -> HttpResponse:
    lines = (
        (
            r.index,
            r.cell.name,
            r.slug,
            r.case,
            r.number,
            r.state,
            r.outcome,
            r.fault,
            int(r.withdrawn),
            r.value,
            *costs(r),
        )
        for r in rows
    )
    return respond(f"{ulid}-trials", (*TRIALS, *COSTS), lines)
