"""Rows of a diff and lines of a file as HTML, built in Python: thousands of them make a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape

from django.utils.safestring import SafeString

from benchsite.diffs.dangers import Pill, split_name
from benchsite.diffs.limits import CHUNK_ROWS, CUT_LINE, WHOLE_LINE
from benchsite.diffs.outline import Mark
from benchsite.diffs.overlay import pieces
from benchsite.diffs.rows import Cell, Fold, Line, Pages, Row

SIGNS = {"insert": "+", "delete": "−", "replace": ""}
CARRIAGE_RETURN = '<span class="pill cr" title="U+000D CARRIAGE RETURN">␍</span>'
SMALL_CHUNK = 40
WIDTHS = (60, 80, 100, 120, 160, 240, 400)
STEP = 20
"""Lines a fold gives at a time; one of twice as many or fewer opens at once."""
NO_NEWLINE = "no newline at end of file"


@dataclass(frozen=True)
class Ending:
    """The other end of a moved line: `path` is empty in the same file, `first` begins a block."""

    path: str
    number: int
    href: str
    first: bool


NOWHERE: Mapping[Line, Ending] = {}


class Sheet:
    """How one file's rows are written: `anchor` names the file in links, `sides` is split, unified, old or new."""

    def __init__(
        self, anchor: str, sides: str, digits: int, file_url: str, ends: bool, moved: Mapping[Line, Ending] = NOWHERE
    ) -> None:
        self.anchor, self.sides, self.digits, self.url, self.ends = anchor, sides, digits, file_url, ends
        self.moved = moved
        self.columns = {"split": 6, "unified": 4}.get(sides, 3)

    def tables(self, rows: Iterable[Row | Fold]) -> SafeString:
        """Write tables of a hundred rows, each in a box of its own that a browser may leave alone until it is near."""
        written = [line for row in rows for line in self.row(row)]
        chunks = (written[at : at + CHUNK_ROWS] for at in range(0, len(written), CHUNK_ROWS))
        return SafeString("".join(self._table(chunk) for chunk in chunks))

    def rows(self, rows: Iterable[Row | Fold]) -> SafeString:
        return SafeString("".join(line for row in rows for line in self.row(row)))

    def row(self, row: Row | Fold) -> Iterator[str]:
        if isinstance(row, Fold):
            yield self._fold(row)
            return
        write = {"split": self._split, "unified": self._unified}.get(self.sides, self._single)
        yield write(row)
        lost = [cell for cell in (row.old, row.new) if cell and cell.unended]
        if lost and not (row.kind == "equal" and len(lost) == 1 and self.sides != "split"):
            yield self._note(row)

    def _table(self, rows: list[str]) -> str:
        head = (
            f'<div class="{_chunk(len(rows))}"><table class="diff {self.sides} w{self.digits}">{self._columns()}<tbody>'
        )
        return head + "".join(rows) + "</tbody></table></div>"

    def _columns(self) -> str:
        number, sign, text = '<col class="n">', '<col class="s">', '<col class="t">'
        side = number + sign + text
        inner = {"split": side * 2, "unified": number * 2 + sign + text}.get(self.sides, side)
        return f"<colgroup>{inner}</colgroup>"

    def _split(self, row: Row) -> str:
        if row.kind == "equal" and row.old and row.new and row.old.text == row.new.text:
            text = line(row.new, self.ends, False) + self._more(row.new, "R")
            old, new = self._cells("L", row.old, "", text), self._cells("R", row.new, "", text)
            return f"<tr>{old}{new}</tr>"
        changed = row.kind != "equal"
        old, new = self._side("L", row.old, changed), self._side("R", row.new, changed)
        return f'<tr class="{row.kind[0] if changed else "w"}">{old}{new}</tr>'

    def _side(self, letter: str, cell: Cell | None, changed: bool) -> str:
        if cell is None:
            return '<td class="n x"></td><td class="s x"></td><td class="t x"></td>'
        new = letter == "R"
        text = line(cell, self.ends, new and changed) + self._more(cell, "R" if new else "L")
        tone, label = self._ending(letter, cell, changed)
        return self._cells(letter, cell, ("+" if new else "−") if changed else "", label + text, tone)

    def _ending(self, letter: str, cell: Cell, changed: bool) -> tuple[str, str]:
        """Give a line's classes, and where a moved block begins the link to its other end."""
        new = letter == "R"
        found = self.moved.get(("R" if new else "L", cell.number)) if changed and self.moved else None
        if found is None:
            return _tone(new, changed), ""
        return _tone(new, changed) + " moved", _moved(found, came=new) if found.first else ""

    def _cells(self, letter: str, cell: Cell, sign: str, text: str, tone: str = "") -> str:
        return f'{self._number(letter, cell, tone)}<td class="s{tone}">{sign}</td><td class="t{tone}">{text}</td>'

    def _number(self, letter: str, cell: Cell | None, tone: str = "") -> str:
        if cell is None:
            return f'<td class="n{tone}"></td>'
        name = f"{self.anchor}-{letter}{cell.number}"
        return f'<td class="n{tone}" id="{name}"><a href="#{name}">{cell.number}</a></td>'

    def _unified(self, row: Row) -> str:
        cell = row.new or row.old
        if cell is None:
            return ""
        new, changed = row.new is not None, row.kind != "equal"
        tone, label = self._ending("R" if new else "L", cell, changed)
        old_number = self._number("L", row.old if not new or not changed else None, tone)
        new_number = self._number("R", row.new, tone)
        text = label + line(cell, self.ends, new and changed) + self._more(cell, "R" if new else "L")
        sign = ("+" if new else "−") if changed else ""
        return f'<tr>{old_number}{new_number}<td class="s{tone}">{sign}</td><td class="t{tone}">{text}</td></tr>'

    def _single(self, row: Row) -> str:
        side = self._side("R", row.new, True) if self.sides == "new" else self._side("L", row.old, True)
        return f"<tr>{side}</tr>"

    def _note(self, row: Row) -> str:
        """Say on its own side that the last line lacks its end."""
        if self.sides != "split":
            return f'<tr class="note"><td colspan="{self.columns}">{NO_NEWLINE}</td></tr>'
        cells = (
            f'<td colspan="3">{NO_NEWLINE if cell is not None and cell.unended else ""}</td>'
            for cell in (row.old, row.new)
        )
        return f'<tr class="note">{"".join(cells)}</tr>'

    def _fold(self, fold: Fold) -> str:
        lines = "1 unchanged line" if fold.count == 1 else f"{fold.count:,} unchanged lines"
        link = f"{self._at('R', fold.new)}&amp;context=all#{self.anchor}-R{fold.new}"
        data = f'href="{link}" data-fold="{fold.old},{fold.new},{fold.count}"'
        down = up = ""
        if fold.count > 2 * STEP:
            down, up = (
                _step(data, f"0,{STEP}", "↓", "next"),
                _step(data, f"{fold.count - STEP},{fold.count}", "↑", "last"),
            )
        inner = f"{down}<a {data}>{lines}</a>{up}"
        return f'<tr class="fold"><td colspan="{self.columns}">{inner}</td></tr>'

    def more(self, next_line: Line | None) -> SafeString:
        """Write what follows the last row shown: a link, which a script takes as soon as it comes near."""
        if next_line is None:
            return SafeString("")
        link = self._at(*next_line)
        words = f"The rows from line {next_line[1]:,} on are shown apart."
        return SafeString(
            f'<p class="file-wait" data-lazy="more" data-part="{link}&amp;part=rows">{words} '
            f'<a href="{link}#{self.anchor}-{next_line[0]}{next_line[1]}">Show them</a></p>'
        )

    def _at(self, side: str, number: int) -> str:
        return f"{escape(self.url)}{'&amp;' if '?' in self.url else '?'}from={side}{number}"

    def _more(self, cell: Cell, letter: str) -> str:
        if not cell.cut:
            return ""
        raw = f"{escape(self.url)}{'&amp;' if '?' in self.url else '?'}raw={'old' if letter == 'L' else 'new'}"
        part = f' data-cut="{self._at(letter, cell.number)}&amp;part=line"' if cell.cut <= WHOLE_LINE else ""
        return f'… <a class="cut" href="{raw}"{part}>all {cell.cut:,} characters</a>'


def _step(data: str, shown: str, arrow: str, which: str) -> str:
    name = f"Show the {which} {STEP} lines"
    return f'<a class="step needs-js" {data} data-show="{shown}" aria-label="{name}" title="{name}">{arrow} {STEP}</a>'


def _moved(found: Ending, *, came: bool) -> str:
    name = "".join(escape(part) if isinstance(part, str) else pill(part) for part in split_name(found.path))
    where = f"<bdi>{name}</bdi>:{found.number}" if name else f"line {found.number:,}"
    return f'<a class="moved-end" href="{escape(found.href)}" data-line>{"← from" if came else "→ to"} {where}</a>'


def line(cell: Cell, ends: bool, shade: bool) -> str:
    """Write one line's text. `shade` shows blanks at its end, `ends` the carriage return before the line feed."""
    blanks = ""
    if shade and not cell.cut:
        kept = cell.text.rstrip(" \t")
        blanks = cell.text[len(kept) :]
        cell = replace(cell, text=kept) if blanks else cell
    inner = "".join(_piece(piece.content, piece.css, piece.marked) for piece in pieces(cell))
    tail = f'<span class="blank">{blanks}</span>' if blanks else ""
    end = CARRIAGE_RETURN if ends and cell.crlf else ""
    # an empty cell would fall out of what a reader copies
    return inner + tail + end or "<br>"


def pill(found: Pill) -> str:
    return f'<span class="pill" title="{escape(found.title)}">{escape(found.label)}</span>'


def code(cells: Iterable[Cell]) -> SafeString:
    """Write a file's lines with numbers that are links, in the same chunks."""
    rows = [_code_row(cell.number, line(cell, False, False)) for cell in cells]
    chunks = (rows[at : at + CHUNK_ROWS] for at in range(0, len(rows), CHUNK_ROWS))
    return SafeString("".join(_code_chunk(chunk) for chunk in chunks))


def change_map(marks: Iterable[Mark], anchor: str) -> SafeString:
    """Write the map beside the rows: a mark is a link to where it changed, for the mouse alone."""
    drawn = (
        f'<a href="#{anchor}-{mark.line[0]}{mark.line[1]}" tabindex="-1">'
        f'<rect class="m-{mark.kind}" x="0" y="{mark.top}" width="10" height="{mark.height}"/></a>'
        for mark in marks
    )
    return SafeString(f'<svg viewBox="0 0 10 100" preserveAspectRatio="none">{"".join(drawn)}</svg>')


def _tone(new: bool, changed: bool) -> str:
    return (" a" if new else " d") if changed else ""


def _piece(content: str | Pill, css: str, marked: bool) -> str:
    text = escape(content, quote=False) if isinstance(content, str) else pill(content)
    if marked:
        return f'<mark class="{css}">{text}</mark>' if css else f"<mark>{text}</mark>"
    return f'<span class="{css}">{text}</span>' if css else text


def _code_row(number: int, text: str) -> str:
    return f'<tr id="L{number}"><td class="ln"><a href="#L{number}">{number}</a></td><td>{text}</td></tr>'


def _chunk(rows: int) -> str:
    """Name a chunk's height, which a browser must know before it lays it out; small ones are laid out at once."""
    return f"chunk c{min(100, round(rows, -1))}" if rows >= SMALL_CHUNK else "chunk"


def width(sides: Iterable[Pages]) -> str:
    """Name the room the longest line needs where lines are not wrapped."""
    longest = max((len(raw[:CUT_LINE].expandtabs(4)) for pages in sides for raw in pages.raw), default=0)
    return f"m{next((size for size in WIDTHS if longest <= size), WIDTHS[-1])}"


def _code_chunk(rows: list[str]) -> str:
    return f'<div class="{_chunk(len(rows))}"><table class="code wrapped"><tbody>{"".join(rows)}</tbody></table></div>'
