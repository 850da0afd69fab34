"""Which lines changed: opcodes over bytes, by libgit2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pygit2
from pygit2.enums import DiffOption

ENGINE = f"libgit2-{pygit2.LIBGIT2_VERSION}/1"
"""A part of every cache key: other engine, other answer."""

Tag = Literal["equal", "replace", "delete", "insert"]
SPACE = {"keep": DiffOption.NORMAL, "eol": DiffOption.IGNORE_WHITESPACE_EOL, "all": DiffOption.IGNORE_WHITESPACE}


@dataclass(frozen=True)
class Opcode:
    """Lines a0..a1 of the old side became b0..b1 of the new one; counted from 0, ends not included."""

    tag: Tag
    a0: int
    a1: int
    b0: int
    b1: int


def opcodes(old: bytes, new: bytes, space: str = "keep") -> tuple[Opcode, ...]:
    """Compare two texts line by line; the opcodes cover both sides whole, in order."""
    flags = SPACE[space] | DiffOption.FORCE_TEXT | DiffOption.INDENT_HEURISTIC
    patch = pygit2.Patch.create_from(old, new, flag=flags, context_lines=0, interhunk_lines=0)
    hunks = [_span(hunk) for hunk in patch.hunks] if patch else []
    return fill(hunks, count_lines(old), count_lines(new))


def count_lines(data: bytes) -> int:
    return data.count(b"\n") + (1 if data and not data.endswith(b"\n") else 0)


def fill(changes: Sequence[tuple[int, int, int, int]], old: int, new: int) -> tuple[Opcode, ...]:
    """Put the equal stretches between changed ones, so that nothing is left out."""
    found: list[Opcode] = []
    a = b = 0
    for a0, a1, b0, b1 in [*changes, (old, old, new, new)]:
        if a0 > a:
            found.append(Opcode("equal", a, a0, b, b0))
        if a1 > a0 or b1 > b0:
            tag: Tag = "insert" if a1 == a0 else "delete" if b1 == b0 else "replace"
            found.append(Opcode(tag, a0, a1, b0, b1))
        a, b = a1, b1
    return tuple(found)


def changed(codes: Sequence[Opcode]) -> tuple[int, int]:
    """Count (added, deleted) lines."""
    real = [code for code in codes if code.tag != "equal"]
    return sum(code.b1 - code.b0 for code in real), sum(code.a1 - code.a0 for code in real)


def pack(codes: Sequence[Opcode]) -> list[int]:
    """Flatten the changed stretches to integers, for the cache; `fill` brings the opcodes back."""
    return [n for code in codes if code.tag != "equal" for n in (code.a0, code.a1, code.b0, code.b1)]


def unpack(numbers: Sequence[int], old: int, new: int) -> tuple[Opcode, ...]:
    fours = zip(numbers[::4], numbers[1::4], numbers[2::4], numbers[3::4], strict=True)
    return fill(list(fours), old, new)


def _span(hunk: pygit2.DiffHunk) -> tuple[int, int, int, int]:
    # a side without lines in a hunk is numbered by the line before it
    a0 = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
    b0 = hunk.new_start - 1 if hunk.new_lines else hunk.new_start
    return a0, a0 + hunk.old_lines, b0, b0 + hunk.new_lines
