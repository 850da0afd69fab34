"""A comparison from far away: where along its length it changed, for the map beside the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .limits import MAP_MARKS
from .lines import Opcode
from .rows import Line, shown_of


@dataclass(frozen=True)
class Mark:
    """A changed stretch: where it begins and how much it takes, in per cent of all rows, and its first line."""

    top: float
    height: float
    kind: str
    line: Line


def outline(codes: Sequence[Opcode], context: int | None, unified: bool) -> tuple[Mark, ...]:
    """Lay the changed stretches over a rail; more than a rail can show are thinned out evenly."""
    placed = list(_placed(codes, context, unified))
    total = max(1, sum(rows for _, rows in placed))
    changed: list[Mark] = []
    at = 0
    for code, rows in placed:
        if code.tag != "equal":
            line: Line = ("R", code.b0 + 1) if code.b1 > code.b0 else ("L", code.a0 + 1)
            changed.append(Mark(round(100 * at / total, 2), max(0.3, round(100 * rows / total, 2)), code.tag, line))
        at += rows
    return tuple(changed[:: -(-len(changed) // MAP_MARKS) or 1])


def _placed(codes: Sequence[Opcode], context: int | None, unified: bool) -> Iterator[tuple[Opcode, int]]:
    """Count the rows each stretch takes, near enough: lines that find no partner may add a few."""
    ends = (codes[-1].a1, codes[-1].b1) if codes else (0, 0)
    for code in codes:
        left, right = code.a1 - code.a0, code.b1 - code.b0
        if code.tag == "equal":
            head, tail = shown_of(code, context, ends)
            yield code, head + tail + (1 if head + tail < left else 0)
        else:
            yield code, left + right if unified else max(left, right)
