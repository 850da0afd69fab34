"""Start, A and B in three columns: lines laid out along the start's, with what each changed beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Literal

from benchsite.diffs.compare import Comparison
from benchsite.diffs.files import changed
from benchsite.diffs.limits import FIRST_ROWS, INLINE_FILES
from benchsite.diffs.lines import Opcode
from benchsite.diffs.options import Options
from benchsite.diffs.rows import Cell, Pages
from benchsite.readings.address import to_address
from benchsite.readings.filediff import comparison
from benchsite.readings.shelf import Shelf

from .ends import Touched, ends
from .pair import Pair

Kind = Literal["equal", "a", "b", "alike", "differ"]
CONTEXT = 3


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
    """One file. `refused` says why there are no columns; `more` rows were left out at the end."""

    touched: Touched
    address: str
    rows: tuple[Line | Skipped, ...] = ()
    refused: str = ""
    more: bool = False


def threes(pair: Pair, options: Options) -> tuple[tuple[Three, ...], int]:
    """Lay out the first files that both changed differently; gives how many more there are."""
    shelf = Shelf((), pair.a.run.bench_id)
    differ = [one for one in ends(pair, shelf).touched if one.who == "differ"]
    return tuple(three(one, shelf, options) for one in differ[:INLINE_FILES]), max(0, len(differ) - INLINE_FILES)


def three(touched: Touched, shelf: Shelf, options: Options) -> Three:
    address = to_address(touched.path)
    if touched.starts[0] != touched.starts[1]:
        return Three(touched, address, refused="The two began with different files, so there is no common start.")
    made = [_compared(touched, side, shelf, options) for side in ("a", "b")]
    if any(one is None or one.kind != "text" for one in made):
        return Three(touched, address, refused="Not all three sides are text that can be shown here.")
    a, b = (one for one in made if one is not None)
    rows = _folded(_lines(a, b), None if options.context == "all" else max(CONTEXT, options.lines or 0))
    shown = tuple(islice(rows, FIRST_ROWS))
    for one in (a, b):
        one.keep()
    return Three(touched, address, shown, more=next(rows, None) is not None)


def _compared(touched: Touched, side: Literal["a", "b"], shelf: Shelf, options: Options) -> Comparison | None:
    change = changed(touched.path, touched.starts[0], touched.a if side == "a" else touched.b)
    shelf.expect(one.sha256 for one in (change.before, change.after) if one)
    return comparison(change, shelf, options)


def _lines(a: Comparison, b: Comparison) -> Iterator[Line]:
    if a.old is None or a.new is None or b.new is None:
        return
    for start, left, right, kind in _regions(a, b):
        cells = (_cells(a.old, *start), _cells(a.new, *left), _cells(b.new, *right))
        for one, two, three in zip_longest(*cells):
            yield Line(kind, one, two, three)


def _cells(pages: Pages, first: int, last: int) -> Iterator[Cell]:
    return (pages.cell(n) for n in range(first, last))


Span = tuple[int, int]


def _regions(a: Comparison, b: Comparison) -> Iterator[tuple[Span, Span, Span, Kind]]:
    """Part the start's lines where both are unchanged from where one or both changed something, as diff3 does."""
    left, right = ([code for code in one.codes if code.tag != "equal"] for one in (a, b))
    at = at_a = at_b = 0
    while left or right:
        low, high, of_a, of_b = _next(left, right)
        if low > at:
            yield (at, low), (at_a, at_a + low - at), (at_b, at_b + low - at), "equal"
        at_a, at_b = at_a + low - at, at_b + low - at
        end_a, end_b = at_a + _grown(of_a, high - low), at_b + _grown(of_b, high - low)
        kind = _kind(a, b, (at_a, end_a), (at_b, end_b)) if of_a and of_b else "a" if of_a else "b"
        yield (low, high), (at_a, end_a), (at_b, end_b), kind
        at, at_a, at_b = high, end_a, end_b
    last = len(a.old or ())
    if last > at:
        yield (at, last), (at_a, at_a + last - at), (at_b, at_b + last - at), "equal"


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


def _folded(rows: Iterator[Line], context: int | None) -> Iterator[Line | Skipped]:
    """Leave out what nobody changed, but for some lines around each change."""
    waiting: list[Line] = []
    begun = False
    for row in rows:
        if row.kind == "equal":
            waiting.append(row)
            continue
        yield from _shortened(waiting, context, head=begun, tail=True)
        waiting, begun = [], True
        yield row
    yield from _shortened(waiting, context, head=begun, tail=False)


def _shortened(rows: list[Line], context: int | None, *, head: bool, tail: bool) -> Iterator[Line | Skipped]:
    first, last = (context or 0) * head, (context or 0) * tail
    if context is None or len(rows) <= first + last + 1:
        yield from rows
        return
    yield from rows[:first]
    yield Skipped(len(rows) - first - last)
    yield from rows[len(rows) - last :]
