"""A page of two transcripts side by side: the common beginning folded, the first divergence marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchsite.diffs.alignment import Kind, Place, Span
from benchsite.diffs.stepindex import PAGE
from benchsite.readings.shelf import Shelf
from benchsite.readings.steps import Placed, rows_between, total
from benchsite.readings.steptext import Shown, show
from benchsite.readings.transcript import placed_of, sources_of
from benchsite.readings.words import count
from runner.transcript import step_of_row

from .aligned import aligned
from .pair import Pair

FOLD = 4
"""Alike steps in a row that are folded; fewer take no more room than their fold."""


@dataclass(frozen=True)
class Beside:
    """One row. `fold` counts alike steps left out here; `begins` marks the first divergence."""

    kind: Kind
    a: Shown | None = None
    b: Shown | None = None
    fold: int = 0
    begins: bool = False
    first: bool = False


@dataclass(frozen=True)
class Talk:
    """`common`: steps in common at the beginning; `at`: the page of the first divergence, 0 where there is none.

    Of long transcripts only what lies from `start` to `end` is aligned; `tail` steps are alike at the end of both.
    """

    rows: tuple[Beside, ...]
    totals: tuple[int, int]
    start: Place
    end: Place
    alike: int
    common: int
    tail: int
    page: int
    pages: int
    at: int
    unfolded: bool
    refused: tuple[str, ...]

    @property
    def begins(self) -> bool:
        return self.start == (0, 0)

    @property
    def ends(self) -> bool:
        return self.end == self.totals

    @property
    def part(self) -> str:
        """Say which steps are aligned here; nothing where all are."""
        if self.begins and self.ends:
            return ""
        a, b = ((low + 1, high) for low, high in zip(self.start, self.end, strict=True))
        alike = f" The last {count(self.tail, 'step')} of both are alike." if self.tail and not self.ends else ""
        return (
            f"Long transcripts are aligned part by part: here steps {a[0]:,} to {a[1]:,} of A "
            f"and {b[0]:,} to {b[1]:,} of B.{alike}"
        )


def talk(pair: Pair, page: int, *, unfolded: bool, start: Place = (0, 0)) -> Talk:
    sources = [sources_of(side) for side in (pair.a, pair.b)]
    shelf = Shelf((source.transcript for side in sources for source in side), pair.a.run.bench_id)
    a, b = (placed_of(side, shelf) for side in sources)
    found = aligned(a, b, shelf, start)
    spans = found.spans
    cut = list(_cut(spans, unfolded=unfolded))
    many = sum(size for _, size in cut)
    pages = max(1, -(-many // PAGE))
    page = min(max(1, page), pages)
    rows = tuple(_rows(list(_within(cut, (page - 1) * PAGE, page * PAGE)), spans, a, b, shelf))
    return Talk(
        rows=rows,
        totals=(total(a, ""), total(b, "")),
        start=found.start,
        end=found.end,
        alike=sum(len(span) for span in spans if span.kind == "same"),
        common=found.common,
        tail=found.tail,
        page=page,
        pages=pages,
        at=_divergence(cut) if found.start == (0, 0) else 0,
        unfolded=unfolded,
        refused=tuple(shelf.why.values()),
    )


def _cut(spans: Sequence[Span], *, unfolded: bool) -> Iterator[tuple[Span, int]]:
    """Give spans with the rows that each takes; a folded one takes one."""
    for span in spans:
        yield span, 1 if _folded(span, unfolded) else len(span)


def _folded(span: Span, unfolded: bool) -> bool:
    return not unfolded and span.kind == "same" and len(span) >= FOLD


def _divergence(cut: Sequence[tuple[Span, int]]) -> int:
    before = 0
    for span, size in cut:
        if span.kind != "same":
            return before // PAGE + 1
        before += size
    return 0


def _within(cut: Sequence[tuple[Span, int]], start: int, end: int) -> Iterator[tuple[Span, bool]]:
    """Give the parts of spans that lie between two rows, and whether each is a fold."""
    before = 0
    for span, size in cut:
        low, high = max(start - before, 0), min(end - before, size)
        if low < high:
            yield (span, True) if size < len(span) else (_part(span, low, high), False)
        before += size


def _part(span: Span, low: int, high: int) -> Span:
    """Cut rows out of a span; a side that has none keeps its place."""
    a = (span.a0 + low, span.a0 + high) if span.a1 > span.a0 else (span.a0, span.a0)
    b = (span.b0 + low, span.b0 + high) if span.b1 > span.b0 else (span.b0, span.b0)
    return Span(span.kind, *a, *b)


def _rows(
    parts: Sequence[tuple[Span, bool]], spans: Sequence[Span], a: Sequence[Placed], b: Sequence[Placed], shelf: Shelf
) -> Iterator[Beside]:
    """Read what the page shows: on either side one stretch of steps, for rows only go on."""
    whole = bool(spans) and spans[0].a0 == spans[0].b0 == 0
    first = next((span for span in spans if span.kind != "same"), None) if whole else None
    shown = [span for span, fold in parts if not fold]
    left = _read(a, shelf, [(span.a0, span.a1) for span in shown])
    right = _read(b, shelf, [(span.b0, span.b1) for span in shown])
    for span, fold in parts:
        if fold:
            yield Beside("same", fold=len(span), first=span.a0 == 0 and span.b0 == 0)
            continue
        begins = first is not None and (span.kind, span.a0, span.b0) == (first.kind, first.a0, first.b0)
        for n in range(len(span)):
            mine = left.get(span.a0 + n) if span.kind != "b" else None
            theirs = right.get(span.b0 + n) if span.kind != "a" else None
            yield Beside(span.kind, mine, theirs, begins=begins and n == 0)


def _read(placed: Sequence[Placed], shelf: Shelf, wanted: Sequence[tuple[int, int]]) -> dict[int, Shown]:
    found: dict[int, Shown] = {}
    shown = {n for start, end in wanted for n in range(start, end)}
    for start, end in _joined(wanted):
        rows = enumerate(rows_between(placed, shelf, start, end), start)
        found.update((n, show(step_of_row(row), request)) for n, (request, row) in rows if n in shown)
    return found


def _joined(wanted: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join stretches that touch or nearly do, so that a page opens a transcript a few times, not two hundred."""
    joined: list[tuple[int, int]] = []
    for start, end in wanted:
        if start == end:
            continue
        if joined and start - joined[-1][1] <= PAGE:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
