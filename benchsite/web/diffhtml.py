"""Rows of a diff and lines of a file as HTML, built in Python: thousands of them make a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from html import escape

from django.utils.safestring import SafeString

from benchsite.diffs.dangers import Pill
from benchsite.diffs.limits import CHUNK_ROWS, MAP_MARKS
from benchsite.diffs.overlay import pieces
from benchsite.diffs.rows import Cell, Fold, Row

SIGNS = {"insert": "+", "delete": "−", "replace": ""}
CARRIAGE_RETURN = '<span class="pill cr" title="U+000D CARRIAGE RETURN">␍</span>'
SMALL_CHUNK = 40
WIDTHS = (60, 80, 100, 120, 160, 240, 400)
NO_NEWLINE = "no newline at end of file"


class Sheet:
    """How one file's rows are written: `anchor` names the file in links, `sides` is split, unified, old or new."""

    def __init__(self, anchor: str, sides: str, digits: int, file_url: str, ends: bool) -> None:
        self.anchor, self.sides, self.digits, self.url, self.ends = anchor, sides, digits, file_url, ends
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
            text = line(row.new, self.ends, False) + self._more(row.new, "new")
            old, new = self._cells("L", row.old, "", text), self._cells("R", row.new, "", text)
            return f"<tr>{old}{new}</tr>"
        changed = row.kind != "equal"
        old, new = self._side("L", row.old, changed), self._side("R", row.new, changed)
        return f'<tr class="{row.kind[0] if changed else "w"}">{old}{new}</tr>'

    def _side(self, letter: str, cell: Cell | None, changed: bool) -> str:
        if cell is None:
            return '<td class="n x"></td><td class="s x"></td><td class="t x"></td>'
        new = letter == "R"
        text = line(cell, self.ends, new and changed) + self._more(cell, "new" if new else "old")
        return self._cells(letter, cell, ("+" if new else "−") if changed else "", text, _tone(new, changed))

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
        tone = _tone(new, changed)
        old_number = self._number("L", row.old if not new or not changed else None, tone)
        new_number = self._number("R", row.new, tone)
        text = line(cell, self.ends, new and changed) + self._more(cell, "new" if new else "old")
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
        joint = "&amp;" if "?" in self.url else "?"
        link = f"{escape(self.url)}{joint}context=all#{self.anchor}-R{fold.new}"
        data = f'data-fold="{fold.old},{fold.new},{fold.count}"'
        return f'<tr class="fold"><td colspan="{self.columns}"><a href="{link}" {data}>{lines}</a></td></tr>'

    def _more(self, cell: Cell, side: str) -> str:
        if not cell.cut:
            return ""
        joint = "&amp;" if "?" in self.url else "?"
        return f'… <a class="cut" href="{escape(self.url)}{joint}raw={side}">all {cell.cut:,} characters</a>'


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


def change_map(rows: Iterable[Row | Fold], anchor: str) -> list[tuple[float, float, str, str]]:
    """Give marks of (top, height, kind, href) in percent of all rows: the cheap minimap."""
    listed = list(rows)
    runs: list[tuple[int, int, str, str]] = []
    for place, row in enumerate(listed):
        if isinstance(row, Fold) or row.kind == "equal":
            continue
        cell, letter = (row.new, "R") if row.new else (row.old, "L")
        if runs and runs[-1][2] == row.kind and runs[-1][0] + runs[-1][1] == place:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1, row.kind, runs[-1][3])
        elif cell:
            runs.append((place, 1, row.kind, f"#{anchor}-{letter}{cell.number}"))
    total = len(listed) or 1
    step = -(-len(runs) // MAP_MARKS) or 1
    return [
        (round(100 * at / total, 2), max(0.8, round(100 * many / total, 2)), kind, href)
        for at, many, kind, href in runs[::step]
    ]


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


def width(rows: Iterable[Row | Fold]) -> str:
    """Name the room the longest line needs where lines are not wrapped."""
    cells = (cell for row in rows if isinstance(row, Row) for cell in (row.old, row.new) if cell)
    longest = max((len(cell.text.expandtabs(4)) for cell in cells), default=0)
    return f"m{next((size for size in WIDTHS if longest <= size), WIDTHS[-1])}"


def _code_chunk(rows: list[str]) -> str:
    return f'<div class="{_chunk(len(rows))}"><table class="code wrapped"><tbody>{"".join(rows)}</tbody></table></div>'
