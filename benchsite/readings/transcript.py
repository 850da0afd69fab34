"""What was said and done: normalised steps, paged on the server, long outputs folded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from benchsite.diffs import ansi
from benchsite.diffs.ansi import Terminal
from benchsite.diffs.dangers import Pill, split
from runner.transcript import ROLES, Step, read_steps

from . import words
from .artifact import Raw
from .shelf import Shelf
from .trial import usage_rows
from .trialhead import Head, find

PAGE = 200
FOLD_LINES = 16
FOLD_CHARS = 1_600
COMMANDS = frozenset({"command", "cmd", "script"})
SHOW_CHARS = 64_000
"""A step's text beyond this is in the raw download only; the page says so."""


@dataclass(frozen=True)
class Line:
    """A stretch of a step's text: harmless text or a pill, with terminal classes."""

    content: str | Pill
    classes: str = ""


@dataclass(frozen=True)
class Argument:
    """One argument of a tool call; a command stands without its name. `long` values have lines of their own."""

    name: str
    value: tuple[str | Pill, ...]
    long: bool


@dataclass(frozen=True)
class Shown:
    """One step, ready to be read. `head` is always visible; `text` waits in a fold where `folded` says its size."""

    step: Step
    request: int
    text: tuple[Line, ...]
    arguments: tuple[Argument, ...]
    folded: str
    peek: str
    cut: int
    dropped: int
    usage: str

    @property
    def anchor(self) -> str:
        return f"s{self.request}-{self.step.n}"

    @property
    def failed(self) -> bool:
        return _failed(self.step)

    @property
    def block(self) -> bool:
        """Tell output, whose columns matter, from prose."""
        return self.step.kind == "observation"


@dataclass(frozen=True)
class Source:
    """One request's transcript and raw output, as blobs."""

    request: int
    transcript: str
    output: str


@dataclass(frozen=True)
class Transcript:
    head: Head
    attempt: int
    sources: tuple[Source, ...]
    steps: tuple[Shown, ...]
    total: int
    page: int
    role: str
    counts: dict[str, int]
    refused: tuple[str, ...]

    @property
    def choices(self) -> list[tuple[str, int]]:
        return [(name, self.counts[name]) for name in (*ROLES, "errors") if self.counts.get(name)]

    @property
    def attempt_numbers(self) -> list[int]:
        return [attempt.number for attempt in self.head.attempts]

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // PAGE))

    @property
    def first(self) -> int:
        return (self.page - 1) * PAGE + 1 if self.total else 0

    @property
    def last(self) -> int:
        return min(self.page * PAGE, self.total)


def transcript(
    user: Any, ulid: str, index: int, page: int, attempt: int | None, role: str, at: str = ""
) -> Transcript | None:
    """Give one page of a transcript; `at`, as `request-step`, asks for the page that holds that step."""
    head = find(user, ulid, index)
    if head is None:
        return None
    number = attempt or (head.final.number if head.final else 1)
    sources = _sources(head.record(number))
    shelf = Shelf((source.transcript for source in sources), head.run.bench_id)
    role = role if role in (*ROLES, "errors") else ""
    page = _page_with(sources, shelf, at) if at else max(1, page)
    steps, counts, total = _page(sources, shelf, page, role)
    return Transcript(head, number, sources, steps, total, page, role, counts, tuple(shelf.why.values()))


def raw_transcript(page: Transcript, which: str) -> Raw | None:
    """Give the bytes of one request: `transcript-1` or `output-1`."""
    kind, _, number = which.partition("-")
    source = next((s for s in page.sources if str(s.request) == number), None)
    digest = {"transcript": source.transcript, "output": source.output}.get(kind) if source else None
    file = Shelf([digest], page.head.run.bench_id).open(digest) if digest else None
    if file is None or source is None:
        return None
    ending = "jsonl" if kind == "transcript" else "txt"
    return Raw.of(file, f"trial-{page.head.index}-{kind}-{source.request}.{ending}")


def _sources(record: dict[str, Any]) -> tuple[Source, ...]:
    rows = [row for row in record.get("requests") or [] if isinstance(row, dict)]
    return tuple(
        Source(int(row.get("number") or n), row.get("transcript") or "", row.get("output") or "")
        for n, row in enumerate(rows, 1)
    )


def _page(
    sources: tuple[Source, ...], shelf: Shelf, page: int, role: str
) -> tuple[tuple[Shown, ...], dict[str, int], int]:
    """Read through all steps once, counting, and keep those of the page: memory holds one page."""
    counts: dict[str, int] = {}
    shown: list[Shown] = []
    total = 0
    for source, step in _steps(sources, shelf):
        for name in (step.role, *(["errors"] if _failed(step) else [])):
            counts[name] = counts.get(name, 0) + 1
        if role and role != step.role and not (role == "errors" and _failed(step)):
            continue
        if (page - 1) * PAGE <= total < page * PAGE:
            shown.append(show(step, source.request))
        total += 1
    return tuple(shown), counts, total


def _page_with(sources: tuple[Source, ...], shelf: Shelf, at: str) -> int:
    steps = enumerate(_steps(sources, shelf))
    return next((n // PAGE + 1 for n, (source, step) in steps if f"{source.request}-{step.n}" == at), 1)


def _steps(sources: tuple[Source, ...], shelf: Shelf) -> Iterator[tuple[Source, Step]]:
    for source in sources:
        file: BinaryIO | None = shelf.open(source.transcript) if source.transcript else None
        if file is not None:
            with file:
                for step in read_steps(file):
                    yield source, step


def _failed(step: Step) -> bool:
    return isinstance(step.exit_code, int) and step.exit_code != 0


def show(step: Step, request: int) -> Shown:
    text = step.text[:SHOW_CHARS]
    terminal = ansi.read(text)
    lines = terminal.text.count("\n") + 1
    long = lines > FOLD_LINES or len(terminal.text) > FOLD_CHARS
    used = " · ".join(f"{value} {label}" for label, value in usage_rows(step.usage))
    return Shown(
        step=step,
        request=request,
        text=_lines(terminal),
        arguments=_arguments(step),
        folded=words.count(lines, "line") if long and step.kind == "observation" else "",
        peek=next((line.strip() for line in terminal.text.splitlines() if line.strip()), "")[:120],
        cut=len(step.text) if len(step.text) > SHOW_CHARS else 0,
        dropped=terminal.dropped,
        usage=used,
    )


def _lines(terminal: Terminal) -> tuple[Line, ...]:
    return tuple(Line(part, stretch.classes) for stretch in terminal.stretches for part in split(stretch.text))


def _arguments(step: Step) -> tuple[Argument, ...]:
    """Write a tool call's arguments as a person would: texts as they are, all else as JSON."""
    given = step.arguments
    if given is None:
        return ()
    pairs = given.items() if isinstance(given, dict) else [("", given)]
    return tuple(_argument(str(name), value) for name, value in pairs)


def _argument(name: str, value: Any) -> Argument:
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        text = "(nested too deeply to be shown)"
    alone = name in COMMANDS
    return Argument("" if alone else name, tuple(split(text[:SHOW_CHARS])), alone or "\n" in text or len(text) > 80)
