"""Trees and change records out of blobs: whoever uploaded them may have written anything into them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from runner.blobs import is_digest
from runner.errors import RunnerError
from runner.worlds.changes import ChangeSet
from runner.worlds.tree import Tree

T = TypeVar("T")
MODES = frozenset({"100644", "100755", "120000", "040000", "000000", "160000"})


def tree_of(value: Any) -> Tree:
    """Read a tree (benchsite/tree/1); a damaged one is refused in one sentence."""
    return _read("tree's record", value, Tree.from_json, lambda tree: list(tree.entries))


def changes_of(value: Any) -> ChangeSet:
    """Read a change record (benchsite/changes/1) as patches and rebuilt worlds need it."""
    return _read("change record", value, ChangeSet.from_json, _sides)


def _sides(found: ChangeSet) -> list[Any]:
    return [side for change in found.changes for side in (change.before, change.after) if side is not None]


def _read(what: str, value: Any, read: Callable[[Any], T], parts: Callable[[T], list[Any]]) -> T:
    try:
        found = read(value)
        for part in parts(found):
            _check(part)
    except (KeyError, TypeError, ValueError, AttributeError, RunnerError) as error:
        raise RunnerError(f"The {what} is damaged: {str(error).rstrip('.')}.") from error
    return found


def _check(part: Any) -> None:
    """Refuse what is not of the type it should be: sizes are summed, modes and digests go into patches."""
    if not isinstance(part.type, str) or not isinstance(part.mode, str):
        raise ValueError("a type or mode is no text")
    if part.type in ("file", "link") and part.mode not in MODES:
        raise ValueError(f"{part.mode[:20]!r} is no mode")
    if part.size is not None and (not isinstance(part.size, int) or part.size < 0):
        raise ValueError("a size is no whole number")
    if part.sha256 is not None and not (isinstance(part.sha256, str) and is_digest(part.sha256)):
        raise ValueError("a digest is none")
