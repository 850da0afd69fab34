"""Two transcripts laid beside each other: which steps are alike, which answer each other, which stand alone."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal

from benchsite.diffs import lines
from benchsite.readings.shelf import Shelf, diff_cache
from benchsite.readings.steps import Placed
from runner.transcript import MAX_LINE, lines_of, row_of

FORMAT = 1
KEY = 12
"""Hex digits of a step's key: two steps with one key are taken for alike."""
# bounded from both ends: what agents print may be a megabyte of digits or of slashes
_WORLD = re.compile(r"/[0-7][0-9A-HJKMNP-TV-Z]{25}/[0-9]{1,9}-[0-9]{1,4}(?![0-9])")
_TIME = re.compile(r"(?<![0-9.])[0-9]{1,6}(?:\.[0-9]{1,9})? ?(?:ms|s|sec|seconds)\b")
APART = "apart from the folder a trial ran in and from measured seconds"
"""What two steps may differ in and still count as alike: every trial differs in it."""
Kind = Literal["same", "pair", "a", "b"]


@dataclass(frozen=True)
class Span:
    """A stretch of rows: steps a0..a1 beside b0..b1, counted from 0 over all requests; one side may be empty.

    `same`: alike; `pair`: of the same kind, told in other words; `a`, `b`: only there.
    """

    kind: Kind
    a0: int
    a1: int
    b0: int
    b1: int

    def __len__(self) -> int:
        return max(self.a1 - self.a0, self.b1 - self.b0)


@dataclass(frozen=True)
class Keys:
    """A line of hex for each step (`strict`) and for its kind alone (`loose`), as one transcript has them."""

    strict: bytes
    loose: bytes

    def cut(self, start: int, end: int) -> bytes:
        return self.loose[start * (KEY + 1) : end * (KEY + 1)]


def aligned(a: Sequence[Placed], b: Sequence[Placed], shelf: Shelf) -> tuple[Span, ...]:
    """Align all steps of two trials; the answer is kept by the digests of their transcripts."""
    names = [[one.digest for one in side] for side in (a, b)]
    packed = diff_cache().get(["aligned", FORMAT, lines.ENGINE, *names], lambda: _packed(a, b, shelf))
    return tuple(Span(*row) for row in packed)


def _packed(a: Sequence[Placed], b: Sequence[Placed], shelf: Shelf) -> list[list[Any]]:
    old, new = _keys(a, shelf), _keys(b, shelf)
    found: list[Span] = []
    for code in lines.opcodes(old.strict, new.strict):
        if code.tag == "equal":
            found.append(Span("same", code.a0, code.a1, code.b0, code.b1))
        else:
            found.extend(_between(code, old, new))
    return [[span.kind, span.a0, span.a1, span.b0, span.b1] for span in found]


def _between(code: lines.Opcode, old: Keys, new: Keys) -> Iterator[Span]:
    """Within a changed stretch lay steps of one kind (role, tool) beside each other."""
    for part in lines.opcodes(old.cut(code.a0, code.a1), new.cut(code.b0, code.b1)):
        a0, a1, b0, b1 = code.a0 + part.a0, code.a0 + part.a1, code.b0 + part.b0, code.b0 + part.b1
        if part.tag == "equal":
            yield Span("pair", a0, a1, b0, b1)
        if part.tag != "equal" and a1 > a0:
            yield Span("a", a0, a1, b0, b0)
        if part.tag != "equal" and b1 > b0:
            yield Span("b", a1, a1, b0, b1)


def _keys(placed: Sequence[Placed], shelf: Shelf) -> Keys:
    made = []
    for one in placed:
        file = shelf.open(one.digest)
        if file is not None:
            with file:
                made.extend(_read(file))
    return Keys("".join(strict for strict, _ in made).encode(), "".join(loose for _, loose in made).encode())


def _read(file: BinaryIO) -> Iterator[tuple[str, str]]:
    kinds: dict[str, str] = {}
    for _, line in lines_of(file, MAX_LINE):
        row = row_of(line)
        if row is None:
            continue
        kind = f"{row['role']} {row['kind']} {row.get('tool')}"
        if kind not in kinds:
            kinds[kind] = _key(kind)
        yield _key(f"{kind} {row.get('exit_code')}\n{_said(row)}"), kinds[kind]


def _said(row: dict[str, Any]) -> str:
    given = row.get("arguments")
    try:
        arguments = "" if given is None else json.dumps(given, sort_keys=True)
    except RecursionError:
        arguments = "(nested too deeply)"
    return _TIME.sub("#s", _WORLD.sub("#world", f"{arguments}\n{row.get('text') or ''}"))


def _key(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY // 2).hexdigest() + "\n"
