"""Start, A and B in three columns: lines laid out along the start's, with what each changed beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import Literal

from benchsite.diffs.compare import Comparison
from benchsite.diffs.dangers import Pill, split_name
from benchsite.diffs.files import Changed, changed
from benchsite.diffs.limits import FIRST_ROWS, INLINE_FILES
from benchsite.diffs.lines import Opcode
from benchsite.diffs.options import Options
from benchsite.diffs.rows import Cell, Pages, shown_of
from benchsite.readings.filediff import comparison
from benchsite.readings.shelf import Shelf

from .ends import Show, Touched, ends
from .pair import Pair
from .shown import view

Kind = Literal["equal", "a", "b", "alike", "differ"]
Span = tuple[int, int]


@dataclass(frozen=True)
class Line:
    """One row. `kind`: nobody changed it, only A, only B, both to the same, both differently."""

    kind: Kind
    start: Cell | None
    a: Cell | None
    b: Cell | None


@dataclass(frozen=True)
class Skipped:
    """Lines that nobody changed, left out."""

    count: int


@dataclass(frozen=True)
class Three:
    """One file at its start and both ends, of which each may lie elsewhere; `refused` says why there are no columns."""

    touched: Touched
    a: Changed
    b: Changed
    rows: tuple[Line | Skipped, ...] = ()
    refused: str = ""
    more: bool = False
    """Whether rows were left out at the end."""

    @property
    def names(self) -> tuple[list[str | Pill], list[str | Pill]]:
        """Where a side has moved the file to; empty where it stands at its old path."""
        a, b = (split_name(end.path) if end.path != self.touched.path else [] for end in (self.a, self.b))
        return a, b


def threes(pair: Pair, options: Options) -> tuple[tuple[Three, ...], int]:
    """Lay out the first files that both changed differently; gives how many more there are."""
    shelf = Shelf((), pair.a.run.bench_id)
    found = ends(pair, shelf).touched
    moved = [_moved(pair, found, show, shelf) for show in ("a", "b")]
    pairs = ((one, *(_end(one, side, went) for side, went in zip("ab", moved, strict=True))) for one in found)
    differ = [row for row in pairs if row[0].who == "differ" or _apart(*row)]
    made = tuple(three(*row, shelf, options) for row in differ[:INLINE_FILES])
    return made, max(0, len(differ) - INLINE_FILES)


def _moved(pair: Pair, found: Sequence[Touched], show: Show, shelf: Shelf) -> dict[str, Changed]:
    shown = (one.change for one in view(pair, found, show, shelf).shown)
    return {change.old_path: change for change in shown if change.status == "renamed"}


def _end(one: Touched, side: str, moved: dict[str, Changed]) -> Changed:
    """Follow a path to where a side left it."""
    before, after = (one.starts[0], one.a) if side == "a" else (one.starts[1], one.b)
    return moved.get(one.path) or changed(one.path, before, after)


def _apart(one: Touched, a: Changed, b: Changed) -> bool:
    """Did both move the file, and not to the same end?"""
    return one.path not in (a.path, b.path) and (a.path, a.after) != (b.path, b.after)


def three(touched: Touched, a: Changed, b: Changed, shelf: Shelf, options: Options) -> Three:
    if touched.starts[0] != touched.starts[1]:
        return Three(touched, a, b, refused="The two began with different files, so there is no common start.")
    shelf.expect(side.sha256 for change in (a, b) for side in change.sides if side)
    if a.same_bytes and b.same_bytes:
        return Three(touched, a, b, refused="Both moved it to different places and changed nothing in it.")
    left, right = (None if change.same_bytes else comparison(change, shelf, options) for change in (a, b))
    left, right = left or _unchanged(right), right or _unchanged(left)
    if left is None or right is None or {left.kind, right.kind} != {"text"}:
        return Three(touched, a, b, refused="Not all three sides are text that can be shown here.")
    rows = _lines(left, right, options.lines)
    shown = tuple(islice(rows, FIRST_ROWS))
    for one in (left, right):
        one.keep()
    return Three(touched, a, b, shown, more=next(rows, None) is not None)


def _unchanged(other: Comparison | None) -> Comparison | None:
    """Give the side that moved the file and left it as it was, from the other side's comparison."""
    return replace(other, new=other.old, codes=()) if other is not None else None


def _lines(a: Comparison, b: Comparison, context: int | None) -> Iterator[Line | Skipped]:
    """Lay out three columns; of what nobody changed only some lines around each change."""
    if a.old is None or a.new is None or b.new is None:
        return
    pages, whole = (a.old, a.new, b.new), (len(a.old), len(a.new))
    for spans, kind in _regions(a, b):
        length = max(last - first for first, last in spans)
        if kind != "equal":
            yield from _beside(kind, pages, spans)
            continue
        head, tail = shown_of(Opcode("equal", *spans[0], *spans[1]), context, whole)
        yield from _beside(kind, pages, [(first, first + head) for first, _ in spans])
        if head + tail < length:
            yield Skipped(length - head - tail)
        yield from _beside(kind, pages, [(last - tail, last) for _, last in spans])


def _beside(kind: Kind, pages: Sequence[Pages], spans: Sequence[Span]) -> Iterator[Line]:
    cells = (map(side.cell, range(*span)) for side, span in zip(pages, spans, strict=True))
    yield from (Line(kind, *row) for row in zip_longest(*cells))


def _regions(a: Comparison, b: Comparison) -> Iterator[tuple[tuple[Span, Span, Span], Kind]]:
    """Part the start's lines where both are unchanged from where one or both changed something, as diff3 does."""
    left, right = ([code for code in one.codes if code.tag != "equal"] for one in (a, b))
    at = at_a = at_b = 0
    while left or right:
        low, high, of_a, of_b = _next(left, right)
        if low > at:
            yield ((at, low), (at_a, at_a + low - at), (at_b, at_b + low - at)), "equal"
        at_a, at_b = at_a + low - at, at_b + low - at
        end_a, end_b = at_a + _grown(of_a, high - low), at_b + _grown(of_b, high - low)
        kind = _kind(a, b, (at_a, end_a), (at_b, end_b)) if of_a and of_b else "a" if of_a else "b"
        yield ((low, high), (at_a, end_a), (at_b, end_b)), kind
        at, at_a, at_b = high, end_a, end_b
    last = len(a.old or ())
    if last > at:
        yield ((at, last), (at_a, at_a + last - at), (at_b, at_b + last - at)), "equal"


def _next(left: list[Opcode], right: list[Opcode]) -> tuple[int, int, list[Opcode], list[Opcode]]:
    """Take the next changes that touch one another off both lists, with the start's lines they lie on."""
    first = min(codes[0].a0 for codes in (left, right) if codes)
    low = high = first
    taken: tuple[list[Opcode], list[Opcode]] = ([], [])
    grew = True
    while grew:
        grew = False
        for codes, mine in ((left, taken[0]), (right, taken[1])):
            while codes and codes[0].a0 <= high:
                high = max(high, codes[0].a1)
                mine.append(codes.pop(0))
                grew = True
    return low, high, *taken


def _grown(codes: Sequence[Opcode], lines: int) -> int:
    """Count the lines that `lines` of the start became."""
    return lines + sum((code.b1 - code.b0) - (code.a1 - code.a0) for code in codes)


def _kind(a: Comparison, b: Comparison, left: Span, right: Span) -> Kind:
    if a.new is None or b.new is None:
        return "differ"
    same = list(a.new.raw[slice(*left)]) == list(b.new.raw[slice(*right)])
    return "alike" if same else "differ"
