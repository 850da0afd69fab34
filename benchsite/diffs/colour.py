"""Syntax colours by Pygments, as integer extents with Pygments' own short class names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import pygments
from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_for_filename, get_lexer_by_name
from pygments.token import STANDARD_TYPES, Token, _TokenType
from pygments.util import ClassNotFound

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
    name = path.rsplit("/", 1)[-1]
    # a NUL or a newline in a name breaks fnmatch's own regular expressions; such names have no extension to trust
    kind = find_lexer_class_for_filename(name) if name.isprintable() else None
    if kind is not None:
        return "" if kind.name in PLAIN else kind.aliases[0] if kind.aliases else ""
    shebang = _SHEBANG.match(head)
    return _SHELLS.get(shebang.group(1), "") if shebang else ""


def language(name: str) -> str:
    """Give a lexer's name as people write it."""
    return _lexer(name).name if name else "Text"


def colours(lines: Sequence[str], name: str) -> tuple[tuple[Run, ...], ...] | None:
    """Colour a file's lines (without their ends); None where a limit forbids it or no lexer is known."""
    if not name or too_much(lines):
        return None
    text = "\n".join(lines).replace("\r", " ") + "\n"
    runs: list[list[Run]] = [[] for _ in lines]
    at, line = 0, 0
    for _, kind, value in _lexer(name).get_tokens_unprocessed(text):
        css = css_class(kind)
        for number, piece in enumerate(value.split("\n")):
            if number:
                at, line = 0, line + 1
            if piece and line < len(runs):
                _add(runs[line], at, at + len(piece), css)
                at += len(piece)
    return tuple(_trusted(found, shown) for found, shown in zip(runs, lines, strict=True))


def packed(lines: Sequence[str], name: str) -> list[str] | None:
    """Colour lines for the cache: one string a line, since millions of small tuples cost more to load than to make."""
    found = colours(lines, name)
    return None if found is None else [" ".join(f"{start} {end} {css}" for start, end, css in line) for line in found]


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
    if css and runs and runs[-1][2] == css and runs[-1][1] == start:
        runs[-1] = (runs[-1][0], end, css)
    elif css:
        runs.append((start, end, css))


def _trusted(runs: list[Run], line: str) -> tuple[Run, ...]:
    """Lexers that delegate may lose count; a line whose colours overrun it is shown plain."""
    return tuple(runs) if not runs or runs[-1][1] <= len(line) else ()
