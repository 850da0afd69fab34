"""One step of a transcript, ready to be read: colours as classes, pills for what deceives, long outputs folded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchsite.diffs import ansi
from benchsite.diffs.ansi import Stretch
from benchsite.diffs.dangers import Pill, split
from runner.transcript import Step

from . import words
from .steps import failed
from .trial import usage_rows

FOLD_LINES = 16
FOLD_CHARS = 1_600
LONG_LINES, LONG_CHARS = 200, 16_000
"""What is said is folded only where it fills many screens: some agents say all they printed."""
COMMANDS = frozenset({"command", "cmd", "script"})
SHOW_CHARS = 64_000
"""A step's text beyond this is in the raw download only; the page says so."""
Pattern = re.Pattern[str] | None


@dataclass(frozen=True)
class Line:
    """A stretch of a step's text: harmless text or a pill, with terminal classes; `found`: the words searched for."""

    content: str | Pill
    classes: str = ""
    found: bool = False


@dataclass(frozen=True)
class Argument:
    """One argument of a tool call; a command stands without its name. `long` values have lines of their own."""

    name: str
    value: tuple[Line, ...]
    long: bool

    @property
    def label(self) -> list[str | Pill]:
        return split(self.name)


@dataclass(frozen=True)
class Shown:
    """One step, ready to be read. `head` is always visible; `text` waits in a fold where `folded` says its size."""

    step: Step
    request: int
    text: tuple[Line, ...]
    arguments: tuple[Argument, ...]
    folded: str
    peek: list[str | Pill]
    cut: int
    dropped: int
    usage: str

    @property
    def tool(self) -> list[str | Pill]:
        return split(str(self.step.tool or "tool"))

    @property
    def anchor(self) -> str:
        return f"s{self.request}-{self.step.n}"

    @property
    def at(self) -> str:
        return f"{self.request}-{self.step.n}"

    @property
    def failed(self) -> bool:
        return failed(self.step)

    @property
    def block(self) -> bool:
        """Tell output, whose columns matter, from prose."""
        return self.step.kind == "observation"

    @property
    def found(self) -> bool:
        """Tell whether the words searched for stand in the text, which must not stay folded then."""
        return any(line.found for line in self.text)


def show(step: Step, request: int, pattern: Pattern = None) -> Shown:
    text = step.text[:SHOW_CHARS]
    terminal = ansi.read(text)
    lines = terminal.text.count("\n") + 1
    output = step.kind == "observation" and (lines > FOLD_LINES or len(terminal.text) > FOLD_CHARS)
    long = output or lines > LONG_LINES or len(terminal.text) > LONG_CHARS
    used = " · ".join(f"{value} {label}" for label, value in usage_rows(step.usage))
    return Shown(
        step=step,
        request=request,
        text=tuple(marked(terminal.stretches, pattern)),
        arguments=_arguments(step, pattern),
        folded=words.count(lines, "line") if long else "",
        peek=split(next((line.strip() for line in terminal.text.splitlines() if line.strip()), "")[:120]),
        cut=len(step.text) if len(step.text) > SHOW_CHARS else 0,
        dropped=terminal.dropped,
        usage=used,
    )


def marked(stretches: tuple[Stretch, ...], pattern: Pattern) -> Iterator[Line]:
    """Cut text into lines to write, with what was searched for marked; a match over a change of colour is not."""
    for stretch in stretches:
        for part in split(stretch.text):
            if isinstance(part, Pill) or pattern is None:
                yield Line(part, stretch.classes)
                continue
            at = 0
            for match in pattern.finditer(part):
                if match.start() > at:
                    yield Line(part[at : match.start()], stretch.classes)
                yield Line(match.group(), stretch.classes, True)
                at = match.end()
            if at < len(part):
                yield Line(part[at:], stretch.classes)


def argument_texts(step: Step) -> Iterator[tuple[str, str]]:
    """Write a tool call's arguments as a person would: texts as they are, all else as JSON."""
    given = step.arguments
    if given is None:
        return
    pairs = given.items() if isinstance(given, dict) else [("", given)]
    for name, value in pairs:
        yield str(name), _text(value)


def _text(value: Any) -> str:
    try:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return "(nested too deeply to be shown)"


def _arguments(step: Step, pattern: Pattern) -> tuple[Argument, ...]:
    return tuple(_argument(name, text, pattern) for name, text in argument_texts(step))


def _argument(name: str, text: str, pattern: Pattern) -> Argument:
    alone = name in COMMANDS
    value = tuple(marked((Stretch(text[:SHOW_CHARS]),), pattern))
    return Argument("" if alone else name, value, alone or "\n" in text or len(text) > 80)
