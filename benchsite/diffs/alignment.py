"""Two transcripts laid beside each other: which steps are alike, which answer each other, which stand alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from . import lines
from .stepindex import KIND, SAID

WINDOW = 10_000
"""Steps of either side that are aligned at a time: a page must not wait for an end it does not show."""
Kind = Literal["same", "pair", "a", "b"]
Place = tuple[int, int]
"""A step of A and a step of B, counted from 0 over all requests."""


@dataclass(frozen=True)
class Span:
    """A stretch of rows: steps a0..a1 beside b0..b1; one side may be empty.

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
    """What each step of a trial says (`said`) and of what kind it is (`kinds`), SAID and KIND bytes a step."""

    said: bytes
    kinds: bytes

    @classmethod
    def joined(cls, parts: Iterable[bytes]) -> Keys:
        """Put the keys of a trial's requests one after the other."""
        sizes = [(part, len(part) // (SAID + KIND) * SAID) for part in parts]
        return cls(b"".join(part[:cut] for part, cut in sizes), b"".join(part[cut:] for part, cut in sizes))

    def __len__(self) -> int:
        return len(self.said) // SAID


@dataclass(frozen=True)
class Alignment:
    """`spans` from `start` to `end`. `common` steps are alike at the beginning of both, `tail` at their end."""

    spans: tuple[Span, ...]
    start: Place
    end: Place
    common: int
    tail: int


def align(old: Keys, new: Keys, start: Place = (0, 0), window: int = WINDOW) -> Alignment:
    """Align from a place on: the common beginning and end whole, and between them at most one window of steps."""
    common = _alike(old.said, new.said)
    tail = _alike_at_end(old.said, new.said, min(len(old), len(new)) - common)
    a, b = min(max(start[0], common), len(old)), min(max(start[1], common), len(new))
    tail = max(0, min(tail, len(old) - a, len(new) - b))
    last = len(old) - tail, len(new) - tail
    a1, b1 = min(last[0], a + window), min(last[1], b + window)
    spans = [Span("same", start[0], a, start[1], b)] if start == (0, 0) and common else []
    found = list(_window(old, new, (a, b), (a1, b1)))
    if (a1, b1) == last:
        spans += [*found, *([Span("same", a1, len(old), b1, len(new))] if a1 < len(old) else [])]
        return Alignment(tuple(spans), start, (len(old), len(new)), common, tail)
    kept = _cut(found, a + (a1 - a) // 2)
    return Alignment((*spans, *kept), start, (kept[-1].a1, kept[-1].b1), common, tail)


def _cut(found: Sequence[Span], least: int) -> list[Span]:
    """End a window where both sides are alike, if they still are beyond its middle: from there on is a fair start."""
    for n in range(len(found), 0, -1):
        if found[n - 1].kind == "same" and found[n - 1].a1 >= least:
            return list(found[:n])
    return list(found)


def _window(old: Keys, new: Keys, low: Place, high: Place) -> Iterator[Span]:
    for code in lines.opcodes(_lines(old.said, SAID, low[0], high[0]), _lines(new.said, SAID, low[1], high[1])):
        a0, a1, b0, b1 = low[0] + code.a0, low[0] + code.a1, low[1] + code.b0, low[1] + code.b1
        if code.tag == "equal":
            yield Span("same", a0, a1, b0, b1)
        else:
            yield from _between(old, new, (a0, b0), (a1, b1))


def _between(old: Keys, new: Keys, low: Place, high: Place) -> Iterator[Span]:
    """Within a changed stretch lay steps of one kind (role, tool) beside each other."""
    for part in lines.opcodes(_lines(old.kinds, KIND, low[0], high[0]), _lines(new.kinds, KIND, low[1], high[1])):
        a0, a1, b0, b1 = low[0] + part.a0, low[0] + part.a1, low[1] + part.b0, low[1] + part.b1
        if part.tag == "equal":
            yield Span("pair", a0, a1, b0, b1)
        if part.tag != "equal" and a1 > a0:
            yield Span("a", a0, a1, b0, b0)
        if part.tag != "equal" and b1 > b0:
            yield Span("b", a1, a1, b0, b1)


def _lines(data: bytes, size: int, start: int, end: int) -> bytes:
    return data[start * size : end * size].hex("\n", size).encode() + b"\n" if end > start else b""


def _alike(a: bytes, b: bytes) -> int:
    """Count the steps that are alike from the beginning on."""
    low, high = 0, min(len(a), len(b)) // SAID
    while low < high:
        middle = (low + high + 1) // 2
        if a[low * SAID : middle * SAID] == b[low * SAID : middle * SAID]:
            low = middle
        else:
            high = middle - 1
    return low


def _alike_at_end(a: bytes, b: bytes, most: int) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if a[len(a) - middle * SAID : len(a) - low * SAID] == b[len(b) - middle * SAID : len(b) - low * SAID]:
            low = middle
        else:
            high = middle - 1
    return low
