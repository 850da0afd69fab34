"""The one place that judges paths. Names are text with surrogate escapes inside, text or {"b64": ...} in JSON."""

from __future__ import annotations

import base64
import os
from pathlib import Path

from .errors import PathRefused

JsonPath = str | dict[str, str]
StrPath = str | os.PathLike[str]
"""A path as the functions of `os` take it. What each trial does is done with text: a path object costs as much."""


def to_json(path: str) -> JsonPath:
    """Write a path as text, or as base64 of its bytes where it is not UTF-8."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return {"b64": base64.b64encode(os.fsencode(path)).decode()}
    return path


def from_json(value: JsonPath) -> str:
    if isinstance(value, str):
        return value
    try:
        return os.fsdecode(base64.b64decode(value["b64"], validate=True))
    except (KeyError, TypeError, ValueError) as error:
        raise PathRefused(f"{value!r} is not a path: it must be text or {{'b64': ...}}.") from error


def check_relative(path: str) -> str:
    """Pass a relative path that stays where it is joined; refuse everything else."""
    parts = path.split("/")
    if not path or path.startswith("/") or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise PathRefused(f"The path {path!r} is refused: it must be relative, without empty parts, '.' or '..'.")
    if len(os.fsencode(path)) > 4096 or any(len(os.fsencode(part)) > 255 for part in parts):
        raise PathRefused(f"The path {path[:80]!r}… is refused: it is too long for a file system.")
    return path


def join_within(base: Path, path: str) -> Path:
    """Join a path from outside below `base`; refuse it if it, or a link on the way, leads out."""
    joined = base / check_relative(path)
    real = Path(os.path.realpath(base))
    if not Path(os.path.realpath(joined)).is_relative_to(real):
        raise PathRefused(f"The path {path!r} is refused: a link in it leads outside {base}.")
    return joined
