"""What was said and done in a request, the same shape for every agent: one JSON object a line, always bounded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

MEDIA_TYPE = "application/x-benchsite-transcript+jsonl"
MAX_TEXT = 256 << 10
MAX_STEPS = 20_000
MAX_LINE = 4 << 20

Role = Literal["system", "user", "assistant", "tool"]
Kind = Literal["message", "reasoning", "tool_call", "observation"]
ROLES: tuple[str, ...] = get_args(Role)
KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True)
class Step:
    """`call` ties an observation to its tool call; `usage` is the model call's own, on its first step only."""

    role: Role
    kind: Kind
    text: str = ""
    n: int = 0
    at: str | None = None
    tool: str | None = None
    arguments: Any = None
    call: str | None = None
    exit_code: int | None = None
    usage: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        row: dict[str, Any] = {"n": self.n, "role": self.role, "kind": self.kind, "text": self.text}
        for name in ("at", "tool", "arguments", "call", "exit_code", "usage"):
            if (value := getattr(self, name)) is not None:
                row[name] = value
        return row


def shorten(text: str, limit: int = MAX_TEXT) -> str:
    """Keep the beginning and the end of a long text, and say how much is left out between them."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"


def lines(steps: Iterable[Step]) -> Iterator[bytes]:
    """Write a transcript: number the steps from 1, shorten long ones, and end with a note when there are too many."""
    for number, step in enumerate(steps, 1):
        if number > MAX_STEPS:
            said = f"The transcript is cut here: it has more than {MAX_STEPS:,} steps."
            yield encode(Step("system", "message", said).to_json() | {"n": number})
            return
        row = step.to_json()
        row["n"] = number
        if len(step.text) > MAX_TEXT:
            row["text"] = shorten(step.text)
        if step.arguments is not None:
            row["arguments"] = _bounded_value(step.arguments)
        yield encode(row)


_ENCODER = json.JSONEncoder(ensure_ascii=False)


def encode(row: dict[str, Any]) -> bytes:
    """One line. Lone surrogates are escaped, so that it is always UTF-8."""
    try:
        return _ENCODER.encode(row).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(row).encode() + b"\n"


def read_steps(source: Path | BinaryIO) -> Iterator[Step]:
    """Read a transcript; lines that are no step (cut, foreign, oversized) are left aside."""
    if isinstance(source, Path):
        with source.open("rb") as file:
            yield from read_steps(file)
        return
    for _, line in lines_of(source, MAX_LINE):
        step = step_of(line)
        if step is not None:
            yield step


def json_lines(file: BinaryIO, max_line: int) -> Iterator[dict[str, Any]]:
    """Give the JSON objects of a stream line by line; whatever else stands there is skipped, never held in memory."""
    for _, line in lines_of(file, max_line):
        row = _object(line)
        if row is not None:
            yield row


def lines_of(file: BinaryIO, max_line: int) -> Iterator[tuple[int, bytes]]:
    """Give the lines of a stream, each with the bytes before it; longer ones are skipped, never held in memory."""
    at = 0
    while line := file.readline(max_line + 1):
        start, at = at, at + len(line)
        if len(line) <= max_line:
            yield start, line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(max_line)
            at += len(line)


def step_of(line: bytes) -> Step | None:
    """Read one line of a transcript; None where it is no step."""
    row = row_of(line)
    return None if row is None else step_of_row(row)


def step_of_row(row: Mapping[str, Any]) -> Step:
    known = {key: value for key, value in row.items() if key in Step.__dataclass_fields__}
    return Step(**{**known, "text": str(row.get("text") or "")})


def row_of(line: bytes, loads: Callable[[bytes], Any] = json.loads) -> dict[str, Any] | None:
    """Give a step's bare JSON, for who counts many of them; None where the line is no step."""
    row = _object(line, loads)
    return row if row is not None and row.get("role") in ROLES and row.get("kind") in KINDS else None


def _object(line: bytes, loads: Callable[[bytes], Any] = json.loads) -> dict[str, Any] | None:
    try:
        row = loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _bounded_value(value: Any) -> Any:
    """Keep arguments as they are while they are small; otherwise as shortened JSON text."""
    if value is None:
        return None
    text = json.dumps(value, ensure_ascii=False, default=str)
    if len(text) <= MAX_TEXT:
        return value
    if isinstance(value, dict):
        share = max(1024, MAX_TEXT // (2 * max(1, len(value))))
        short = {key: shorten(item, share) if isinstance(item, str) else item for key, item in value.items()}
        if len(json.dumps(short, ensure_ascii=False, default=str)) <= MAX_TEXT:
            return short
    return shorten(text)
