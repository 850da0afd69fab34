"""The one way from a run's words to a terminal. Names, reasons and values come from agents: all of it is hostile."""

from __future__ import annotations

import json
import sys
import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console
    from rich.text import Text

# Control, format (zero width, bidirectional overrides), surrogate, private, unassigned, line and paragraph separators.
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
WIDE = 200
"""Columns where there is no terminal to ask: tables in a log are not broken over lines."""


def clean(text: str, *, lines: bool = False) -> str:
    """Make text harmless to a terminal: what could move, colour or hide becomes its escape. `lines` keeps newlines."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if (lines and c == "\n") or _safe(c) else _escape(c) for c in text)


def _safe(character: str) -> bool:
    return unicodedata.category(character) not in _UNSAFE


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def text(value: object, style: str = "") -> Text:
    """Give cleaned text for rich, which then reads no markup in it."""
    from rich.text import Text

    return Text(clean(str(value)), style=style)


def console(*, error: bool = False) -> Console:
    """Give a console that reads no markup; without a terminal it is wide and bare."""
    import os

    from rich.console import Console

    stream = sys.stderr if error else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else WIDE
    return Console(file=stream, width=width, markup=False, highlight=False, emoji=False, soft_wrap=False)


def as_it_was() -> Callable[[], None]:
    """Remember how the terminal takes what is typed; calling what is given puts that back.

    A debugger that is ended while it waits for a line leaves a terminal that shows nothing one types.
    """
    import termios

    if not sys.stdin.isatty():
        return lambda: None
    terminal = sys.stdin.fileno()
    modes = termios.tcgetattr(terminal)
    return lambda: termios.tcsetattr(terminal, termios.TCSANOW, modes)


def print_json(value: Any) -> None:
    """Write for machines. ASCII alone: no byte of a run can reach the terminal as a control character."""
    print(json.dumps(value, ensure_ascii=True, indent=1, allow_nan=False))


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def seconds(spent: float) -> str:
    """Say a duration as a person would: 4.2 s, 3 min 20 s, 2 h 05 min."""
    if spent < 60:
        return f"{spent:.1f} s" if spent < 10 else f"{spent:.0f} s"
    minutes, rest = divmod(round(spent), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"
