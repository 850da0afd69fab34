"""How a comparison reads: rows of numbers, texts and extents, never markup. One model for both views."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile
from typing import Literal

from .colour import Colours, Run
from .decode import Source
from .limits import CUT_LINE
from .lines import Opcode
from .words import Extent, marks, pairs

MIN_FOLD = 4
"""Fewer unchanged lines than this are shown: the fold would take as much room."""
Kind = Literal["equal", "replace", "delete", "insert"]
Line = tuple[Literal["L", "R"], int]
"""A line by its side, old or new, and its number."""


@dataclass(frozen=True)
class Cell:
    """One line of one side. `cut` is the length of the whole line where the text is only its beginning."""

    number: int
    text: str
    marks: tuple[Extent, ...] = ()
    colours: tuple[Run, ...] = ()
    crlf: bool = False
    unended: bool = False
    cut: int = 0


@dataclass(frozen=True)
class Row:
    kind: Kind
    old: Cell | None
    new: Cell | None


@dataclass(frozen=True)
class Fold:
    """Unchanged lines left out: `count` of them, beginning at these numbers."""

    old: int
    new: int
    count: int


@dataclass(frozen=True)
class Pages:
    """One side, ready to be cut into cells. `raw` are its lines without line feeds; the last may lack its end."""

    source: Source
    raw: Sequence[str]
    unended: bool = False
    colours: Colours | None = field(default=None, compare=False)

    @classmethod
    def of(cls, source: Source) -> Pages:
        # decoding whole and then splitting is ten times as fast as decoding line by line, and gives the same
        raw = source.text(source.data).split("\n")
        unended = bool(raw[-1])
        return cls(source, raw if unended else raw[:-1], unended)

    def __len__(self) -> int:
        return len(self.raw)

    def ended(self, index: int) -> bool:
        return index < len(self.raw) - 1 or not self.unended

    def crlf(self, index: int) -> bool:
        return self.raw[index].endswith("\r") and self.ended(index)

    def text(self, index: int) -> str:
        """Give a line without its end; a carriage return is a part of the end only before a line feed."""
        return self.raw[index][:-1] if self.crlf(index) else self.raw[index]

    def texts(self) -> list[str]:
        return [self.text(n) for n in range(len(self.raw))]

    def cell(self, index: int, found: tuple[Extent, ...] = (), limit: int = CUT_LINE, *, coloured: bool = True) -> Cell:
        text = self.text(index)
        return Cell(
            number=index + 1,
            text=text[:limit],
            marks=found,
            colours=self.colours.line(index) if self.colours and coloured else (),
            crlf=self.crlf(index),
            unended=not self.ended(index),
            cut=len(text) if len(text) > limit else 0,
        )


def rows(codes: Iterable[Opcode], old: Pages, new: Pages, context: int | None = 3) -> Iterator[Row | Fold]:
    """Walk a comparison from top to bottom; `context` None shows every line."""
    ends = len(old), len(new)
    for code in codes:
        if code.tag == "equal":
            yield from _equal(code, old, new, shown_of(code, context, ends))
        else:
            yield from _changed(code, old, new)


def between(old: Pages, new: Pages, fold: Fold, first: int = 0, last: int | None = None) -> Iterator[Row | Fold]:
    """Give the rows a fold left out, or those from `first` to `last` of them with what stays folded around them."""
    last = fold.count if last is None else min(last, fold.count)
    first = min(max(first, 0), last)
    if first:
        yield Fold(fold.old, fold.new, first)
    for n in range(first, last):
        yield _same(old, new, fold.old - 1 + n, fold.new - 1 + n)
    if last < fold.count:
        yield Fold(fold.old + last, fold.new + last, fold.count - last)


def starting(found: Iterable[Row | Fold], line: Line) -> Iterator[Row | Fold]:
    """Leave out what stands above a line; one that is folded away starts at its fold."""
    side, number = line

    def above(row: Row | Fold) -> bool:
        if isinstance(row, Fold):
            return (row.old if side == "L" else row.new) + row.count <= number
        cell = row.old if side == "L" else row.new
        return cell is None or cell.number < number

    return dropwhile(above, found)


def first_line(row: Row | Fold) -> Line:
    """Name the line a row begins with; the new side's where it has one."""
    if isinstance(row, Fold):
        return "R", row.new
    return ("R", row.new.number) if row.new else ("L", row.old.number if row.old else 1)


def unified(found: Iterable[Row | Fold]) -> Iterator[Row | Fold]:
    """Bring split rows into one column: of each changed stretch first what went, then what came."""
    waiting: list[Row] = []
    for row in found:
        if isinstance(row, Row) and row.kind != "equal":
            waiting.append(row)
            continue
        yield from _one_column(waiting)
        waiting = []
        yield row
    yield from _one_column(waiting)


def _one_column(changed: list[Row]) -> Iterator[Row]:
    yield from (Row("delete", row.old, None) for row in changed if row.old)
    yield from (Row("insert", None, row.new) for row in changed if row.new)


def shown_of(code: Opcode, context: int | None, ends: tuple[int, int]) -> tuple[int, int]:
    """Give how many lines of an equal stretch are shown at its head and its tail; all of them: (length, 0)."""
    length = code.a1 - code.a0
    if context is None:
        return length, 0
    head = 0 if (code.a0, code.b0) == (0, 0) else context
    tail = 0 if (code.a1, code.b1) == ends else context
    return (length, 0) if length - head - tail < MIN_FOLD else (head, tail)


def _equal(code: Opcode, old: Pages, new: Pages, shown: tuple[int, int]) -> Iterator[Row | Fold]:
    head, tail = shown
    length = code.a1 - code.a0
    for n in range(head):
        yield _same(old, new, code.a0 + n, code.b0 + n)
    if head + tail < length:
        yield Fold(code.a0 + head + 1, code.b0 + head + 1, length - head - tail)
    for n in range(length - tail, length):
        yield _same(old, new, code.a0 + n, code.b0 + n)


def _same(old: Pages, new: Pages, a: int, b: int) -> Row:
    """Of two equal lines the new one's colours stand for both: the old file need not be read so far for them."""
    return Row("equal", old.cell(a, coloured=old.text(a) != new.text(b)), new.cell(b))


def _changed(code: Opcode, old: Pages, new: Pages) -> Iterator[Row]:
    left = [old.text(n) for n in range(code.a0, code.a1)]
    right = [new.text(n) for n in range(code.b0, code.b1)]
    for a, b in pairs(left, right):
        found = marks(left[a], right[b]) if a is not None and b is not None else ((), ())
        before = None if a is None else old.cell(code.a0 + a, found[0])
        after = None if b is None else new.cell(code.b0 + b, found[1])
        kind: Kind = "insert" if before is None else "delete" if after is None else "replace"
        yield Row(kind, before, after)
