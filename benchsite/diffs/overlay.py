"""Lay colours, word marks and dangers over a line: stretches of text that differ in none of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from .colour import Run
from .dangers import DANGEROUS, Pill, split
from .rows import Cell
from .words import Extent


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a line: text or a pill, its colour class, and whether it is marked as changed."""

    content: str | Pill
    css: str = ""
    marked: bool = False


def pieces(cell: Cell) -> list[Piece]:
    """Cut a cell's text wherever a colour or a mark begins or ends; empty for an empty line."""
    found = _marked(cell) if cell.marks else _coloured(cell.text, cell.colours)
    if DANGEROUS.search(cell.text) is None:
        return found
    return [Piece(part, one.css, one.marked) for one in found for part in split(str(one.content))]


def _coloured(text: str, colours: tuple[Run, ...]) -> list[Piece]:
    found: list[Piece] = []
    at, length = 0, len(text)
    for start, end, css in colours:
        if start >= length:
            break
        if start > at:
            found.append(Piece(text[at:start]))
        found.append(Piece(text[start:end], css))
        at = end
    return [*found, Piece(text[at:])] if at < length else found


def _marked(cell: Cell) -> list[Piece]:
    found: list[Piece] = []
    colours, marks = list(reversed(cell.colours)), list(reversed(cell.marks))
    for start, end in pairwise(_edges(len(cell.text), cell.colours, cell.marks)):
        while colours and colours[-1][1] <= start:
            colours.pop()
        while marks and marks[-1][1] <= start:
            marks.pop()
        css = colours[-1][2] if colours and colours[-1][0] <= start else ""
        found.append(Piece(cell.text[start:end], css, bool(marks) and marks[-1][0] <= start))
    return found


def _edges(length: int, colours: tuple[Run, ...], marks: tuple[Extent, ...]) -> list[int]:
    edges = {0, length}
    for run in colours:
        edges.add(run[0])
        edges.add(run[1])
    for mark in marks:
        edges.update(mark)
    return sorted(edge for edge in edges if edge <= length)
