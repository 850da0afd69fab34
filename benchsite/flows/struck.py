"""A journal as it becomes rows: what looks like a secret is struck out of its texts, and told.

The copy that is kept stays as it came, held back like any other bytes. Places in this file are those of that copy.
"""

from __future__ import annotations

import io
from typing import BinaryIO

from runner.digests import CHUNK
from runner.journal import MAX_LINE
from runner.leaks import MOST, Leak, strike


class Struck(io.BufferedIOBase):
    """`found` are the first finds of what was read so far, by the lines read since the last `seek`."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._part, self._start, self._lines = file, io.BytesIO(), 0, 0
        self.found: list[Leak] = []

    def readline(self, size: int | None = -1, /) -> bytes:
        return self._part.readline(size) or (self._part.readline(size) if self._more() else b"")

    def tell(self) -> int:
        return self._start + self._part.tell()

    def seek(self, offset: int, whence: int = 0, /) -> int:
        self._start, self._part, self._lines = self._file.seek(offset, whence), io.BytesIO(), 0
        return self._start

    def _more(self) -> bool:
        """Take whole lines; one that is too long is cut here and refused by who reads it."""
        self._start = self._file.tell()
        raw = self._file.read(CHUNK)
        raw += b"" if raw.endswith(b"\n") else self._file.readline(MAX_LINE + 1)
        data, found = strike(raw)
        self.found += [Leak(one.kind, self._lines + one.line, one.shown) for one in found[: MOST - len(self.found)]]
        self._lines += raw.count(b"\n")
        self._part = io.BytesIO(data)
        return bool(data)
