"""Python source as a table of numbered, coloured lines."""

from __future__ import annotations

from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from pygments import lex
from pygments.lexers import PythonLexer
from pygments.token import STANDARD_TYPES, _TokenType

COLOURED_LINES = 5000


def python_source(text: str, mark: int = 0) -> SafeString:
    """`mark` is the line a scenario starts at; each line has an address `#L7`."""
    lines = coloured(text) if text.count("\n") <= COLOURED_LINES else [[("", line)] for line in text.split("\n")]
    rows = (
        (number, " on" if number == mark else "", number, number, _line(tokens))
        for number, tokens in enumerate(lines, start=1)
    )
    row = '<tr id="L{}" class="line{}"><td class="ln"><a href="#L{}">{}</a></td><td>{}</td></tr>'
    return format_html_join("", row, rows)


def coloured(text: str) -> list[list[tuple[str, str]]]:
    """Lex the whole text, so that strings over several lines stay right, and part it into lines of (class, text)."""
    lines: list[list[tuple[str, str]]] = [[]]
    for kind, piece in lex(text, PythonLexer(stripnl=False, ensurenl=False)):
        first, *rest = piece.split("\n")
        name = _name(kind)
        lines[-1].append((name, first))
        lines.extend([(name, part)] for part in rest)
    return lines[:-1] if len(lines) > 1 and not any(part for _, part in lines[-1]) else lines


def _line(tokens: list[tuple[str, str]]) -> SafeString:
    return format_html_join("", '<span class="{}">{}</span>', ((name, part) for name, part in tokens if part))


def _name(kind: _TokenType) -> str:
    while kind not in STANDARD_TYPES and kind.parent:
        kind = kind.parent
    return STANDARD_TYPES.get(kind, "")
