"""Where the steps of a transcript lie: an index by page, kept by digest, so that no page reads what is before it."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from benchsite.artifacts.models import StepIndex
from benchsite.diffs import stepindex
from benchsite.diffs.stepindex import ERRORS, FORMAT, PAGE, filters
from runner.transcript import Step, step_of_row

from .shelf import Shelf, diff_cache


@dataclass(frozen=True)
class Index:
    """What `stepindex.places` gives."""

    counts: dict[str, int]
    starts: dict[str, list[int]]
    first: dict[str, list[int]]
    numbered: bool


@dataclass(frozen=True)
class Placed:
    """A source of steps with its index; `request` counts from 1."""

    request: int
    digest: str
    index: Index


def failed(step: Step) -> bool:
    return ERRORS in filters_of(step)


def filters_of(step: Step) -> tuple[str, ...]:
    return filters(step.role, step.exit_code)


def place(asked: Sequence[tuple[int, str]], shelf: Shelf) -> list[Placed]:
    """Index transcripts, given as (request, digest); those that may not be shown are left out: the shelf says why."""
    open_ones = [(request, digest) for request, digest in asked if shelf.readable(digest)]
    made = _indexes([digest for _, digest in open_ones], shelf)
    return [Placed(request, digest, Index(**made[digest])) for request, digest in open_ones if digest in made]


def keys_of(placed: Sequence[Placed], shelf: Shelf) -> Iterator[bytes]:
    """Give the keys of each source's steps: as they were made on arrival, or made now and kept."""
    stored = dict(_rows({one.digest for one in placed}).values_list("blob__digest", "keys"))
    for one in placed:
        found = stored.get(one.digest)
        yield bytes(found) if found is not None else _keys(one.digest, shelf)


def _keys(digest: str, shelf: Shelf) -> bytes:
    kept = diff_cache().look(["stepkeys", FORMAT, digest])
    if isinstance(kept, str):
        return base64.b64decode(kept)
    file = shelf.open(digest)
    if file is None:
        return b""
    with file:
        made = stepindex.keys(file)
    diff_cache().put(["stepkeys", FORMAT, digest], base64.b64encode(made).decode())
    return made


def _indexes(digests: Sequence[str], shelf: Shelf) -> dict[str, dict[str, Any]]:
    """Find what was kept for short ones, then what was made on arrival of long ones; make the rest."""
    found = {digest: kept for digest in digests if (kept := diff_cache().look(["steps", FORMAT, digest]))}
    found.update(_rows(set(digests) - found.keys()).values_list("blob__digest", "places"))
    for digest in set(digests) - found.keys():
        file = shelf.open(digest)
        if file is not None:
            with file:
                found[digest] = stepindex.places(file)
            diff_cache().put(["steps", FORMAT, digest], found[digest])
    return found


def _rows(digests: Iterable[str]) -> Any:
    rows = StepIndex.objects.filter(format=FORMAT)
    return rows.filter(blob__digest__in=digests) if digests else rows.none()


def total(placed: Sequence[Placed], role: str) -> int:
    return sum(one.index.counts.get(role, 0) for one in placed)


def page_of(placed: Sequence[Placed], shelf: Shelf, role: str, page: int) -> Iterator[tuple[int, Step]]:
    return steps_between(placed, shelf, (page - 1) * PAGE, page * PAGE, role)


def steps_between(
    placed: Sequence[Placed], shelf: Shelf, start: int, end: int, role: str = ""
) -> Iterator[tuple[int, Step]]:
    """Give (request, step) of a stretch; sources follow one another as one long list."""
    return ((request, step_of_row(row)) for request, row in rows_between(placed, shelf, start, end, role))


def rows_between(
    placed: Sequence[Placed], shelf: Shelf, start: int, end: int, role: str = ""
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give the same as bare JSON, for who wants only some of them."""
    for one in placed:
        many = one.index.counts.get(role, 0)
        if start < many and start < end:
            rows = islice(_from(one, shelf, role, start), min(end, many) - start)
            yield from ((one.request, row) for row in rows)
        start, end = max(0, start - many), end - many


def page_with(placed: Sequence[Placed], at: str) -> int:
    """Find the page that holds the step `at` (as `request-step`); the first one where there is no such step."""
    request, _, number = at.partition("-")
    before = 0
    for one in placed:
        many = one.index.counts[""]
        if str(one.request) == request and number.isdecimal() and len(number) < 10:
            return (before + int(number) - 1) // PAGE + 1 if 1 <= int(number) <= many else 1
        before += many
    return 1


def _from(one: Placed, shelf: Shelf, role: str, start: int) -> Iterator[dict[str, Any]]:
    """Read the steps of a filter from the `start`th on, as bare JSON; `n` is where each stands, whatever it says."""
    file = shelf.open(one.digest)
    if file is None:
        return
    with file:
        file.seek(one.index.starts[role][start // PAGE])
        numbered = enumerate(stepindex.rows(file), one.index.first[role][start // PAGE])
        rows = (row | {"n": n} for n, (_, row) in numbered if role in filters(row["role"], row.get("exit_code")))
        yield from islice(rows, start % PAGE, None)
