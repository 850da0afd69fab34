"""A journal as it becomes rows: what looks like a secret is struck out of its texts, and told.

The copy that is kept stays as it came, held back like any other bytes. Places in this file are those of that copy.
"""

from __future__ import annotations

import io
import secrets
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
from pydantic_core import from_json

from runner.digests import CHUNK
from runner.journal import MAX_LINE, Event, decode
from runner.leaks import MOST, Leak, strike

from . import clean

PIECE = 1 << 16


class Struck(io.BufferedIOBase):
    """`found` are the first finds of what was read so far, by the lines read since the last `seek`."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._part, self._start, self._lines = file, io.BytesIO(), 0, 0
        self.found: list[Leak] = []

    def readline(self, size: int | None = -1, /) -> bytes:
        line = self._part.readline(size)
        if not line:
            self._part = io.BytesIO(self._next())
            line = self._part.readline(size)
        return line

    def tell(self) -> int:
        return self._start + self._part.tell()

    def seek(self, offset: int, whence: int = 0, /) -> int:
        self._start, self._part, self._lines = self._file.seek(offset, whence), io.BytesIO(), 0
        return self._start

    def events(self, start: int) -> Iterator[tuple[list[Event], list[int]]]:
        """Give the events from a place on, many at a time, and where each of them ends.

        A partial last line (a writer still at work, or killed) is left aside.
        """
        self.seek(start)
        lines: int | None = None
        while data := self._next():
            for place, piece in _pieces(data):
                ends = _ends(piece)
                events = _parsed(piece, len(ends)) if len(piece) <= MAX_LINE else None
                if events is None:
                    lines = self._lines_before(start) if lines is None else lines
                    before = lines + self._lines - data.count(b"\n", place)
                    events = list(decode(io.BytesIO(piece), clean.parsed, before))
                if events:
                    yield events, (ends[: len(events)] + (self._start + place)).tolist()

    def _next(self) -> bytes:
        """Take whole lines; one that is too long is cut here and refused by who reads it."""
        self._start = self._file.tell()
        raw = self._file.read(CHUNK)
        raw += b"" if raw.endswith(b"\n") else self._file.readline(MAX_LINE + 1)
        data, found = strike(raw)
        self.found += [Leak(one.kind, self._lines + one.line, one.shown) for one in found[: MOST - len(self.found)]]
        self._lines += raw.count(b"\n")
        return data

    def _lines_before(self, start: int) -> int:
        """Count the lines before a place: only whoever has something to say of a line needs its number."""
        here, lines = self._file.tell(), 0
        self._file.seek(0)
        while (left := start - self._file.tell()) > 0 and (part := self._file.read(min(CHUNK, left))):
            lines += part.count(b"\n")
        self._file.seek(here)
        return lines


def _pieces(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Cut at ends of lines into pieces whose events still lie close together in memory, and where each begins."""
    place = 0
    while place < len(data):
        end = data.find(b"\n", place + PIECE) + 1 or len(data)
        yield place, data[place:end]
        place = end


def _ends(data: bytes) -> Any:
    """Give the place after each line."""
    return np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")) + 1


_BETWEEN = secrets.token_hex(16)
"""Stands between two lines as they are read; nobody who writes a journal knows it, so no line can pass for two."""
_JOINT = f',"{_BETWEEN}",'.encode()


def _parsed(data: bytes, lines: int) -> list[Event] | None:
    """Read whole lines of JSON at once, which takes half the time of one after the other; None where one is odd.

    Looking for values that were there before costs more than it saves: only keys are kept.
    """
    whole = data[: data.rfind(b"\n")]
    try:
        found = from_json(b"[" + whole.replace(b"\n", _JOINT) + b"]", cache_strings="keys")
    except ValueError:
        return None
    events: list[Event] = found[::2]
    if len(found) != 2 * lines - 1 or found[1::2].count(_BETWEEN) != lines - 1 or {*map(type, events)} != {dict}:
        return None
    return events if {type(event.get("type")) for event in events} == {str} else None
