"""Syntax colours by Pygments, as integer extents with Pygments' own short class names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

import pygments
from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_for_filename, get_lexer_by_name
from pygments.token import STANDARD_TYPES, Token, _TokenType
from pygments.util import ClassNotFound

from .cache import Cache
from .lexing import tokens
from .limits import COLOUR_BYTES, COLOUR_LINE, COLOUR_LINES

Run = tuple[int, int, str]
ENGINE = f"pygments-{pygments.__version__}/1"
STYLED = frozenset(
    {
        *("c", "cp", "k", "kc", "kt", "s", "sd", "se", "si", "sr", "m", "nf", "nc", "nn", "nd", "nb", "nt", "na", "nv"),
        *("ne", "o", "ow", "gi", "gd", "gh", "gu", "err", "ge", "gs"),
    }
)
"""The classes the stylesheet knows; every other token takes the class of its nearest styled parent."""
PLAIN = frozenset({"Text only", "Text output"})
_SHEBANG = re.compile(r"#!\s*\S*/(?:env\s+(?:-\S+\s+)*)?([a-z]+)")
_SHELLS = {
    "sh": "bash",
    "bash": "bash",
    "zsh": "bash",
    "dash": "bash",
    "python": "python",
    "node": "javascript",
    "ruby": "ruby",
    "perl": "perl",
}


def lexer_name(path: str, head: str = "") -> str:
    """Choose a lexer by file name, else by the shebang; "" where the text stays plain."""
    known = _by_file_name(path.rsplit("/", 1)[-1])
    if known is not None:
        return known
    shebang = _SHEBANG.match(head)
    return _SHELLS.get(shebang.group(1), "") if shebang else ""


@lru_cache(maxsize=4096)
def _by_file_name(name: str) -> str | None:
    """Ask Pygments' patterns, which takes it a millisecond or two; None where none fits."""
    # a NUL or a newline in a name breaks fnmatch's own regular expressions; such names have no extension to trust
    kind = find_lexer_class_for_filename(name) if name.isprintable() else None
    if kind is None:
        return None
    return "" if kind.name in PLAIN else kind.aliases[0] if kind.aliases else ""


def language(name: str) -> str:
    """Give a lexer's name as people write it."""
    return _lexer(name).name if name else "Text"


def colours(lines: Sequence[str], name: str) -> tuple[tuple[Run, ...], ...] | None:
    """Colour a file's lines (without their ends); None where a limit forbids it or no lexer is known."""
    return None if not name or too_much(lines) else tuple(by_line(lines, name))


def by_line(lines: Sequence[str], name: str) -> Iterator[tuple[Run, ...]]:
    """Colour line after line, reading no further than asked: what stands above a line decides its colours."""
    if not lines:
        return
    text = "\n".join(lines).replace("\r", " ") + "\n"
    runs: list[Run] = []
    at, line = 0, 0
    for _, kind, value in tokens(_lexer(name), text):
        css = css_class(kind)
        if "\n" not in value:  # most tokens by far
            _add(runs, at, at + len(value), css)
            at += len(value)
            continue
        for number, piece in enumerate(value.split("\n")):
            if number:
                yield _trusted(runs, lines[line])
                runs, at, line = [], 0, line + 1
                if line == len(lines):
                    return
            _add(runs, at, at + len(piece), css)
            at += len(piece)
    # a lexer that lost some of the text leaves the rest plain
    yield _trusted(runs, lines[line])
    yield from ((),) * (len(lines) - line - 1)


class Colours:
    """The colours of one file, made from its top as far down as they are asked for; `keep` saves what was made.

    `made` counts the lines that had to be read for it.
    """

    def __init__(self, texts: Callable[[], Sequence[str]], name: str, key: list[Any], cache: Cache) -> None:
        self._texts, self._name, self._key, self._cache = texts, name, key, cache
        self._lines: list[str] = cache.look(key) or []
        self._known = len(self._lines)
        self._more: Iterator[str] | None = None
        self.made = 0

    def line(self, index: int) -> tuple[Run, ...]:
        while index >= len(self._lines):
            if self._more is None:
                self.made = len(self._lines)
                self._more = islice(map(_pack, by_line(self._texts(), self._name)), self.made, None)
            self._lines.append(next(self._more, ""))
            self.made += 1
        return unpack(self._lines[index])

    def keep(self) -> None:
        if len(self._lines) > self._known:
            self._known = len(self._lines)
            self._cache.put(self._key, self._lines)


def _pack(line: tuple[Run, ...]) -> str:
    """One string a line, since millions of small tuples cost more to load than to make."""
    return " ".join(f"{start} {end} {css}" for start, end, css in line)


def unpack(line: str) -> tuple[Run, ...]:
    words = line.split()
    return tuple(zip(map(int, words[::3]), map(int, words[1::3]), words[2::3], strict=True))


def too_much(lines: Sequence[str]) -> str:
    """Say why a file gets no colours, or ""."""
    if len(lines) > COLOUR_LINES:
        return f"no colours: more than {COLOUR_LINES:,} lines"
    if sum(map(len, lines)) > COLOUR_BYTES:
        return f"no colours: more than {COLOUR_BYTES // 1000} kB"
    if max(map(len, lines), default=0) > COLOUR_LINE:
        return f"no colours: a line has more than {COLOUR_LINE:,} characters"
    return ""


@lru_cache(maxsize=512)
def css_class(kind: _TokenType) -> str:
    short = STANDARD_TYPES.get(kind, "")
    if short in STYLED or kind is Token or kind.parent is None:
        return short
    return css_class(kind.parent)


@lru_cache(maxsize=64)
def _lexer(name: str) -> Lexer:
    try:
        return get_lexer_by_name(name)
    except ClassNotFound:
        return get_lexer_by_name("text")


def _add(runs: list[Run], start: int, end: int, css: str) -> None:
    if not css or start == end:
        return
    if runs and runs[-1][2] == css and runs[-1][1] == start:
        runs[-1] = (runs[-1][0], end, css)
    else:
        runs.append((start, end, css))


def _trusted(runs: list[Run], line: str) -> tuple[Run, ...]:
    """Lexers that delegate may lose count; a line whose colours overrun it is shown plain."""
    return tuple(runs) if not runs or runs[-1][1] <= len(line) else ()
