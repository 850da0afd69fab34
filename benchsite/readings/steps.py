"""Where the steps of a transcript lie: an index by page, kept by digest, so that no page reads what is before it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, BinaryIO

from runner.transcript import MAX_LINE, ROLES, Step, lines_of, read_steps, row_of

from .shelf import Shelf, diff_cache

PAGE = 200
FORMAT = 1
"""A part of the cache's key: another shape of the index, another answer."""
ERRORS = "errors"
FILTERS = ("", *ROLES, ERRORS)
"""What a page may be narrowed to; "" is every step."""


@dataclass(frozen=True)
class Index:
    """`counts` of steps and `starts` (the byte of every 200th step) by filter; `first`: the number each page begins."""

    counts: dict[str, int]
    starts: dict[str, list[int]]
    first: list[int]


@dataclass(frozen=True)
class Placed:
    """A source of steps with its index; `request` counts from 1."""

    request: int
    digest: str
    index: Index


def failed(step: Step) -> bool:
    return ERRORS in filters_of(step)


def filters_of(step: Step) -> tuple[str, ...]:
    return _filters(step.role, step.exit_code)


def _filters(role: str, exit_code: object) -> tuple[str, ...]:
    return ("", role, ERRORS) if isinstance(exit_code, int) and exit_code != 0 else ("", role)


def place(request: int, digest: str, shelf: Shelf) -> Placed | None:
    """Index a transcript; None where it may not be shown, which the shelf has a sentence for."""
    file = shelf.open(digest)
    if file is None:
        return None
    with file:
        made = diff_cache().get(["steps", FORMAT, digest], lambda: _made(file))
    return Placed(request, digest, Index(made["counts"], made["starts"], made["first"]))


def total(placed: Sequence[Placed], role: str) -> int:
    return sum(one.index.counts.get(role, 0) for one in placed)


def page_of(placed: Sequence[Placed], shelf: Shelf, role: str, page: int) -> Iterator[tuple[int, Step]]:
    return steps_between(placed, shelf, (page - 1) * PAGE, page * PAGE, role)


def steps_between(
    placed: Sequence[Placed], shelf: Shelf, start: int, end: int, role: str = ""
) -> Iterator[tuple[int, Step]]:
    """Give (request, step) of a stretch; sources follow one another as one long list."""
    for one in placed:
        many = one.index.counts.get(role, 0)
        if start < many and start < end:
            steps = islice(_from(one, shelf, role, start), min(end, many) - start)
            yield from ((one.request, step) for step in steps)
        start, end = max(0, start - many), end - many


def page_with(placed: Sequence[Placed], shelf: Shelf, at: str) -> int:
    """Find the page that holds the step `at` (as `request-step`); the first one where there is no such step."""
    request, _, number = at.partition("-")
    before = 0
    for one in placed:
        if str(one.request) == request and number.isdigit() and len(number) < 10:
            found = _position(one, shelf, int(number))
            return 1 if found is None else (before + found) // PAGE + 1
        before += one.index.counts.get("", 0)
    return 1


def _made(file: BinaryIO) -> dict[str, Any]:
    counts = dict.fromkeys(FILTERS, 0)
    starts: dict[str, list[int]] = {name: [] for name in FILTERS}
    first: list[int] = []
    for start, line in lines_of(file, MAX_LINE):
        row = row_of(line)
        if row is None:
            continue
        if counts[""] % PAGE == 0:
            first.append(row["n"] if isinstance(row.get("n"), int) else 0)
        for name in _filters(row["role"], row.get("exit_code")):
            if counts[name] % PAGE == 0:
                starts[name].append(start)
            counts[name] += 1
    return {"counts": counts, "starts": starts, "first": first}


def _from(one: Placed, shelf: Shelf, role: str, start: int) -> Iterator[Step]:
    """Read the steps of a filter from the `start`th on."""
    file = shelf.open(one.digest)
    if file is None:
        return
    with file:
        file.seek(one.index.starts[role][start // PAGE])
        steps = (step for step in read_steps(file) if role in filters_of(step))
        yield from islice(steps, start % PAGE, None)


def _position(one: Placed, shelf: Shelf, number: int) -> int | None:
    """Count the steps before the one with this number; numbers of honest transcripts rise, others are searched."""
    first = one.index.first
    page = bisect_right(first, number) - 1
    rising = all(a < b for a, b in pairwise(first))
    start = max(0, page) * PAGE if rising and first else 0
    steps = enumerate(_from(one, shelf, "", start)) if first else iter(())
    found = next((n for n, step in steps if step.n == number), None)
    return None if found is None else start + found
