"""Find in a transcript: on the server, over all pages, within stated bounds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from benchsite.diffs import ansi
from benchsite.diffs.stepindex import PAGE, loads
from runner.transcript import MAX_LINE, Step, lines_of, row_of, step_of_row

from .shelf import Shelf
from .steps import Placed, filters_of
from .steptext import argument_texts

FIND_BYTES = 64_000_000
FIND_STEPS = 2_000
LONGEST = 200
"""Characters of what is searched for; more is cut."""
_QUIET = re.compile(r"[A-Za-z0-9 ._:;,=+*#@()\[\]{}<>|~^$%&!?'`-]+")
"""What JSON writes as it is: a line without it need not be parsed, unless something in the line is escaped."""


@dataclass(frozen=True)
class Found:
    """The matching steps of one page. `bounded` says in words that not everything was searched."""

    steps: tuple[tuple[int, Step], ...]
    total: int
    bounded: str = ""


def pattern_of(words: str) -> re.Pattern[str]:
    return re.compile(re.escape(words[:LONGEST]), re.IGNORECASE)


def find_steps(placed: Sequence[Placed], shelf: Shelf, words: str, role: str, page: int) -> Found:
    """Give the page's steps in whose text, tool or arguments the words stand, whatever their case."""
    pattern, needle = pattern_of(words), _needle(words)
    kept: list[tuple[int, Step]] = []
    total = read = 0
    for one, size, step in _steps(placed, shelf, needle):
        read += size
        if read > FIND_BYTES:
            return Found(tuple(kept), total, f"Only the first {FIND_BYTES:,} bytes were searched.")
        if step is None or role not in filters_of(step) or not _stands(step, pattern):
            continue
        if total == FIND_STEPS:
            return Found(tuple(kept), total, f"Only the first {FIND_STEPS:,} steps found are listed.")
        if (page - 1) * PAGE <= total < page * PAGE:
            kept.append((one.request, step))
        total += 1
    return Found(tuple(kept), total)


def _needle(words: str) -> bytes:
    return words[:LONGEST].lower().encode() if _QUIET.fullmatch(words[:LONGEST]) else b""


def _steps(placed: Sequence[Placed], shelf: Shelf, needle: bytes) -> Iterator[tuple[Placed, int, Step | None]]:
    for one in placed:
        file = shelf.open(one.digest)
        if file is not None:
            with file:
                yield from ((one, size, step) for size, step in _read(file, needle, one.index.numbered))


def _read(file: BinaryIO, needle: bytes, numbered: bool) -> Iterator[tuple[int, Step | None]]:
    """Give the size of each line and its step; None where it is none, or need not be parsed as the words aren't there.

    Steps that do not say their number are all parsed: who counts them must know which lines are steps.
    """
    number = 0
    for _, line in lines_of(file, MAX_LINE):
        if numbered and needle and needle not in line.lower() and b"\\u" not in line:
            yield len(line), None
            continue
        row = row_of(line, loads)
        number += row is not None
        step = None if row is None else step_of_row(row)
        yield len(line), replace(step, n=number) if step and not numbered else step


def _stands(step: Step, pattern: re.Pattern[str]) -> bool:
    texts = (ansi.plain(step.text), str(step.tool or ""), *(text for _, text in argument_texts(step)))
    return any(pattern.search(text) for text in texts)
