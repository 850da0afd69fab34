"""How a comparison reads: rows of numbers, texts and extents, never markup. One model for both views."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from .colour import Run, unpack
from .decode import Source
from .limits import CUT_LINE
from .lines import Opcode
from .words import Extent, marks, pairs

MIN_FOLD = 4
"""Fewer unchanged lines than this are shown: the fold would take as much room."""
Kind = Literal["equal", "replace", "delete", "insert"]
Colours = Sequence[str] | None
"""As `colour.packed` gives them: only the lines that are shown are unpacked."""


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
    colours: Colours = None

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

    def cell(self, index: int, found: tuple[Extent, ...] = ()) -> Cell:
        text = self.text(index)
        return Cell(
            number=index + 1,
            text=text[:CUT_LINE],
            marks=found,
            colours=unpack(self.colours[index]) if self.colours else (),
            crlf=self.crlf(index),
            unended=not self.ended(index),
            cut=len(text) if len(text) > CUT_LINE else 0,
        )


def rows(codes: Iterable[Opcode], old: Pages, new: Pages, context: int | None = 3) -> Iterator[Row | Fold]:
    """Walk a comparison from top to bottom; `context` None shows every line."""
    last_old, last_new = len(old), len(new)
    for code in codes:
        if code.tag == "equal":
            at_start = code.a0 == 0 and code.b0 == 0
            at_end = code.a1 == last_old and code.b1 == last_new
            yield from _equal(code, old, new, _shown(code, context, at_start, at_end))
        else:
            yield from _changed(code, old, new)


def between(old: Pages, new: Pages, fold: Fold) -> Iterator[Row]:
    """Give the rows a fold left out."""
    for n in range(fold.count):
        yield Row("equal", old.cell(fold.old - 1 + n), new.cell(fold.new - 1 + n))


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


def _shown(code: Opcode, context: int | None, at_start: bool, at_end: bool) -> tuple[int, int]:
    """Give how many lines of an equal stretch are shown at its head and its tail; all of them: (length, 0)."""
    length = code.a1 - code.a0
    if context is None:
        return length, 0
    head, tail = 0 if at_start else context, 0 if at_end else context
    return (length, 0) if length - head - tail < MIN_FOLD else (head, tail)


def _equal(code: Opcode, old: Pages, new: Pages, shown: tuple[int, int]) -> Iterator[Row | Fold]:
    head, tail = shown
    length = code.a1 - code.a0
    for n in range(head):
        yield Row("equal", old.cell(code.a0 + n), new.cell(code.b0 + n))
    if head + tail < length:
        yield Fold(code.a0 + head + 1, code.b0 + head + 1, length - head - tail)
    for n in range(length - tail, length):
        yield Row("equal", old.cell(code.a0 + n), new.cell(code.b0 + n))


def _changed(code: Opcode, old: Pages, new: Pages) -> Iterator[Row]:
    left = [old.text(n) for n in range(code.a0, code.a1)]
    right = [new.text(n) for n in range(code.b0, code.b1)]
    for a, b in pairs(left, right):
        found = marks(left[a], right[b]) if a is not None and b is not None else ((), ())
        before = None if a is None else old.cell(code.a0 + a, found[0])
        after = None if b is None else new.cell(code.b0 + b, found[1])
        kind: Kind = "insert" if before is None else "delete" if after is None else "replace"
        yield Row(kind, before, after)
