"""Search in a world, by name and by content, on the server and within stated bounds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import translate
from typing import Literal

from benchsite.diffs.dangers import Pill, split, split_name
from benchsite.diffs.decode import decode
from runner.worlds.tree import Entry

from . import words
from .address import to_address
from .shelf import Shelf
from .worlds import World

Where = Literal["names", "content"]
HITS = 200
LINES = 5
"""Matching lines shown of one file; the file itself has the rest."""
LINE = 240
FILES = 5_000
FILE_BYTES = 1_000_000
BYTES = 20_000_000
LONGEST = 200


@dataclass(frozen=True)
class Search:
    """What is asked: a part of a path or a pattern with * and ?, or words in the content, whatever their case.

    `after` files were searched already: a search in content that stopped goes on there.
    """

    words: str
    where: Where = "names"
    after: int = 0


@dataclass(frozen=True)
class HitLine:
    number: int
    before: tuple[str | Pill, ...]
    match: tuple[str | Pill, ...]
    after: tuple[str | Pill, ...]


@dataclass(frozen=True)
class Hit:
    entry: Entry
    lines: tuple[HitLine, ...] = ()
    more: int = 0

    @property
    def name(self) -> list[str | Pill]:
        return split_name(self.entry.path)

    @property
    def address(self) -> str:
        return to_address(self.entry.path)


@dataclass(frozen=True)
class Found:
    """`said`: what was searched and what was not, in sentences. `next`: where to go on; 0 where nothing is left."""

    hits: tuple[Hit, ...]
    total: int
    said: tuple[str, ...]
    next: int = 0


def search(world: World, shelf: Shelf, asked: Search) -> Found:
    entries = [world.entries[path] for path in sorted(world.entries)]
    return _names(entries, asked) if asked.where == "names" else _content(entries, shelf, asked)


def _names(entries: list[Entry], asked: Search) -> Found:
    text = asked.words[:LONGEST]
    pattern = re.compile(translate(f"*{text}*") if set("*?[") & set(text) else re.escape(text), re.IGNORECASE)
    hits = [Hit(entry) for entry in entries if pattern.search(entry.path)]
    said = (f"Only the first {HITS} are listed.",) if len(hits) > HITS else ()
    return Found(tuple(hits[:HITS]), len(hits), said)


def _content(entries: list[Entry], shelf: Shelf, asked: Search) -> Found:
    pattern = re.compile(re.escape(asked.words[:LONGEST]), re.IGNORECASE)
    every = [entry for entry in entries if entry.type == "file" and entry.sha256 and entry.stored and entry.size]
    # what lies near the top first: a folder of ten thousand generated files must not use up the search
    files = sorted(every, key=lambda entry: entry.path.count("/"))[asked.after :]
    shelf.expect(entry.sha256 for entry in files[:FILES])
    passed = {"large": 0, "binary": 0, "withheld": 0}
    hits: list[Hit] = []
    read = searched = 0
    for entry in files[:FILES]:
        if read > BYTES or len(hits) >= HITS:
            break
        data = None if entry.size > FILE_BYTES else shelf.head(entry.sha256, FILE_BYTES)
        if data is None:
            passed["large" if entry.size > FILE_BYTES else "withheld"] += 1
            continue
        read, searched = read + len(data), searched + 1
        source = decode(data)
        if source.binary:
            passed["binary"] += 1
            continue
        hit = _in_text(entry, source.text(source.data), pattern)
        hits += [hit] if hit else []
    done = searched + sum(passed.values()) - passed["binary"]
    left = len(files) - done
    said = tuple(_said(searched, read, passed, left))
    return Found(tuple(hits[:HITS]), len(hits), said, asked.after + done if left else 0)


def _in_text(entry: Entry, text: str, pattern: re.Pattern[str]) -> Hit | None:
    if not pattern.search(text):
        return None
    found = [(n, line, match) for n, line in enumerate(text.split("\n"), 1) if (match := pattern.search(line))]
    return Hit(entry, tuple(_line(*row) for row in found[:LINES]), max(0, len(found) - LINES))


def _line(number: int, line: str, match: re.Match[str]) -> HitLine:
    """Cut a line around its first match, so that a minified file shows what was asked for."""
    start = max(0, match.start() - LINE // 2)
    before = ("…" if start else "") + line[start : match.start()]
    after = line[match.end() : start + LINE] + ("…" if start + LINE < len(line) else "")
    return HitLine(number, tuple(split(before)), tuple(split(match.group())), tuple(split(after)))


def _said(searched: int, read: int, passed: dict[str, int], left: int) -> Iterator[str]:
    yield f"Searched {words.count(searched, 'file')}, {words.size(read)}."
    if left:
        bounds = f"it reads at most {FILES:,} files, {words.size(BYTES)}, or {HITS} hits at a time"
        yield f"The search stopped there: {bounds}; {words.count(left, 'file')} left."
    for key, said in (("large", f"over {words.size(FILE_BYTES)}"), ("binary", "binary"), ("withheld", "withheld here")):
        if passed[key]:
            yield f"{words.count(passed[key], 'file')} {said}, not searched."
