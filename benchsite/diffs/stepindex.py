"""Where the steps of a transcript lie, and what each says as a few bytes: made once, so that no page reads it whole."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from pydantic_core import from_json

from runner.transcript import MAX_LINE, ROLES, lines_of, row_of

FORMAT = 3
"""A part of what an index is kept under: another shape of it, another answer."""
PAGE = 200
ERRORS = "errors"
FILTERS = ("", *ROLES, ERRORS)
"""What a page may be narrowed to; "" is every step."""
SAID, KIND = 6, 4
"""Bytes of a step's key, and of its kind's: two steps with one key are taken for alike."""
# bounded from both ends: what agents print may be a megabyte of digits or of slashes
_WORLD = re.compile(r"/[0-7][0-9A-HJKMNP-TV-Z]{25}/[0-9]{1,9}-[0-9]{1,4}(?![0-9])")
_TIME = re.compile(r"(?<![0-9.])[0-9]{1,6}(?:\.[0-9]{1,9})? ?(?:ms|s|sec|seconds)\b")
APART = "apart from the folder a trial ran in and from measured seconds"
"""What two steps may differ in and still count as alike: every trial differs in it."""


def filters(role: str, exit_code: object) -> tuple[str, ...]:
    return ("", role, ERRORS) if isinstance(exit_code, int) and exit_code != 0 else ("", role)


def places(file: BinaryIO) -> dict[str, Any]:
    """Give `counts` of steps, `starts` (the byte of every 200th) and `first` (its number), each by filter.

    Steps are numbered as they stand, from 1; `numbered` tells whether each says so itself, as those of our own do.
    """
    counts = dict.fromkeys(FILTERS, 0)
    starts: dict[str, list[int]] = {name: [] for name in FILTERS}
    first: dict[str, list[int]] = {name: [] for name in FILTERS}
    numbered = True
    for number, (start, row) in enumerate(rows(file), 1):
        numbered = numbered and type(row.get("n")) is int and row["n"] == number
        for name in filters(row["role"], row.get("exit_code")):
            if counts[name] % PAGE == 0:
                starts[name].append(start)
                first[name].append(number)
            counts[name] += 1
    return {"counts": counts, "starts": starts, "first": first, "numbered": numbered}


def keys(file: BinaryIO) -> bytes:
    """Give the keys of all steps, then those of their kinds (role, kind, tool)."""
    said, kinds = bytearray(), bytearray()
    known: dict[str, bytes] = {}
    for _, row in rows(file):
        kind = f"{row['role']} {row['kind']} {row.get('tool')}"
        if kind not in known:
            known[kind] = _hash(kind, KIND)
        said += _hash(f"{kind} {row.get('exit_code')}\n{_said(row)}", SAID)
        kinds += known[kind]
    return bytes(said + kinds)


def rows(file: BinaryIO) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give the steps of a transcript as bare JSON, each with the bytes before it; reads them fast."""
    for start, line in lines_of(file, MAX_LINE):
        row = row_of(line, loads)
        if row is not None:
            yield start, row


def loads(line: bytes) -> Any:
    """Read a line of JSON fast; what only the standard library reads (lone surrogates) is left to it."""
    try:
        return from_json(line)
    except ValueError:
        return json.loads(line)


def _said(row: dict[str, Any]) -> str:
    given = row.get("arguments")
    try:
        arguments = "" if given is None else json.dumps(given, sort_keys=True)
    except RecursionError:
        arguments = "(nested too deeply)"
    return _TIME.sub("#s", _WORLD.sub("#world", f"{arguments}\n{row.get('text') or ''}"))


def _hash(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()
