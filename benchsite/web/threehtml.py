"""Three columns as a table: start, A and B."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.safestring import SafeString

from benchsite.diffs.limits import CHUNK_ROWS
from benchsite.diffs.rows import Cell
from benchsite.readings.compare.three import Line, Skipped

from .diffhtml import line

TONES = {"a": (" d", " a", ""), "b": (" d", "", " a"), "alike": (" d", " a", " a"), "differ": (" d", " a", " a")}
"""The colours of start, A and B by who changed a line."""
COLUMNS = "<colgroup>" + '<col class="n"><col class="t">' * 3 + "</colgroup>"


def tables(rows: Iterable[Line | Skipped], anchor: str) -> SafeString:
    """Write tables of a hundred rows, each in a box of its own, like those of a diff."""
    written = [_row(row, anchor) for row in rows]
    chunks = (written[at : at + CHUNK_ROWS] for at in range(0, len(written), CHUNK_ROWS))
    head = f'<div class="chunk"><table class="diff three">{COLUMNS}<tbody>'
    return SafeString("".join(f"{head}{''.join(chunk)}</tbody></table></div>" for chunk in chunks))


def _row(row: Line | Skipped, anchor: str) -> str:
    if isinstance(row, Skipped):
        lines = "1 line" if row.count == 1 else f"{row.count:,} lines"
        return f'<tr class="fold"><td colspan="6"><span>{lines} that neither changed</span></td></tr>'
    tones = TONES.get(row.kind, ("", "", ""))
    sides = zip(("S", "A", "B"), (row.start, row.a, row.b), tones, strict=True)
    return f'<tr class="k-{row.kind}">{"".join(_cell(anchor, *side) for side in sides)}</tr>'


def _cell(anchor: str, letter: str, cell: Cell | None, tone: str) -> str:
    if cell is None:
        return '<td class="n x"></td><td class="t x"></td>'
    name = f"{anchor}-{letter}{cell.number}"
    number = f'<td class="n{tone}" id="{name}"><a href="#{name}">{cell.number}</a></td>'
    more = f"… {cell.cut:,} characters" if cell.cut else ""
    return f'{number}<td class="t{tone}">{line(cell, False, False)}{more}</td>'
