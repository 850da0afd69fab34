"""A log as pages of lines: colours as classes, other escapes dropped and counted, finding on the server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import Any, BinaryIO

from benchsite.diffs import ansi
from benchsite.diffs.ansi import Stretch, Style

from .shelf import Shelf, diff_cache
from .stepfind import LONGEST, pattern_of
from .steptext import Line, marked
from .words import count

PAGE = 1_000
FORMAT = 1
LINE = 4_000
"""Characters of a line that are shown; the rest is in the download, and the line says so."""
READ_LINE = 1 << 16
FIND_BYTES = 64_000_000
FIND_LINES = 500
Numbered = tuple[int, tuple[Line, ...], int]
"""A line: its number, what is shown of it, and how many characters it has where not all are."""


@dataclass(frozen=True)
class Log:
    """`lines` of one page, or those that were found; `total` lines or finds. `bounded`: not all was searched."""

    lines: tuple[Numbered, ...]
    total: int
    all: int
    page: int
    words: str
    dropped: int
    rewritten: int
    bounded: str = ""

    @property
    def said(self) -> list[str]:
        said = [self.bounded] if self.bounded else []
        if self.dropped:
            said.append(f"{count(self.dropped, 'terminal escape')} left out, other than colours.")
        if self.rewritten:
            lines = count(self.rewritten, "line rewrote itself", "lines rewrote themselves")
            said.append(f"{lines}: what stood there at the end is shown.")
        return said

    @property
    def pages(self) -> int:
        return max(1, -(-self.all // PAGE))

    @property
    def first(self) -> int:
        return (self.page - 1) * PAGE + 1 if self.all else 0

    @property
    def last(self) -> int:
        return min(self.page * PAGE, self.all)


def log_of(shelf: Shelf, digest: str, page: int, words: str) -> Log | None:
    """Give a page of a log, or the lines with some words; None where its bytes may not be shown."""
    words = words.strip()[:LONGEST]
    file = shelf.open(digest)
    if file is None:
        return None
    with file:
        index = diff_cache().get(["log", FORMAT, PAGE, digest], lambda: _index(file))
        if words:
            return _found(file, index, words)
        page = min(max(1, page), max(1, -(-index["lines"] // PAGE)))
        return _page(file, index, page)


def page_with(number: int) -> int:
    """Tell the page that holds a line."""
    return (number - 1) // PAGE + 1


def _index(file: BinaryIO) -> dict[str, Any]:
    """Note where each page begins and in which style, for a colour may be set long before the line it colours."""
    file.seek(0)
    starts: list[list[Any]] = []
    style, number, at, dropped, rewritten = Style(), 0, 0, 0, 0
    for line, whole in _lines(file):
        if number % PAGE == 0:
            starts.append([at, *astuple(style)])
        if b"\x1b" in line or b"\xc2\x9b" in line:
            read = ansi.read(line.decode("utf-8", "replace"), style)
            style, dropped = read.style, dropped + read.dropped
        rewritten += b"\r" in line.rstrip(b"\r\n")
        at += whole
        number += 1
    return {"starts": starts, "lines": number, "dropped": dropped, "rewritten": rewritten}


def _page(file: BinaryIO, index: dict[str, Any], page: int) -> Log:
    found: list[Numbered] = []
    if index["starts"]:
        at, *style = index["starts"][page - 1]
        file.seek(at)
        state = Style(*style)
        for number, (line, whole) in enumerate(_lines(file), (page - 1) * PAGE + 1):
            if number > page * PAGE:
                break
            read = ansi.read(_text(line), state)
            state = read.style
            found.append((number, _shown(read.stretches, None), whole if whole > LINE else 0))
    return Log(tuple(found), index["lines"], index["lines"], page, "", index["dropped"], index["rewritten"])


def _found(file: BinaryIO, index: dict[str, Any], words: str) -> Log:
    pattern = pattern_of(words)
    found: list[Numbered] = []
    total = read = 0
    bounded = ""
    file.seek(0)
    for number, (line, whole) in enumerate(_lines(file), 1):
        read += whole
        if read > FIND_BYTES:
            bounded = f"Only the first {FIND_BYTES:,} bytes were searched."
            break
        text = ansi.plain(_text(line))
        if not pattern.search(text):
            continue
        total += 1
        if total > FIND_LINES:
            bounded = f"Only the first {FIND_LINES:,} lines found are listed."
            break
        found.append((number, _shown((Stretch(text),), pattern), whole if whole > LINE else 0))
    return Log(tuple(found), len(found), index["lines"], 1, words, index["dropped"], index["rewritten"], bounded)


def _lines(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Give each line's beginning and its whole length: one endless line is never held in memory."""
    while line := file.readline(READ_LINE):
        whole = len(line)
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(READ_LINE)
            whole += len(rest)
        yield line, whole


def _text(line: bytes) -> str:
    """Of a progress bar that rewrites its line, what stands there at the end is what a terminal shows."""
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    return text.rsplit("\r", 1)[-1]


def _shown(stretches: tuple[Stretch, ...], pattern: re.Pattern[str] | None) -> tuple[Line, ...]:
    left, cut = LINE, []
    for stretch in stretches:
        cut.append(Stretch(stretch.text[:left], stretch.classes))
        left -= len(stretch.text)
        if left <= 0:
            break
    return tuple(marked(tuple(cut), pattern))
