"""Which files changed: from a change record (benchsite/changes/1), or from two trees of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from runner import paths
from runner.blobs import is_digest
from runner.digests import sha256
from runner.errors import PathRefused, RunnerError
from runner.worlds.tree import Entry

from .limits import FOLDED_ENDS, FOLDED_FOLDERS, FOLDED_NAMES

FORMAT = "benchsite/changes/1"
Status = Literal["added", "deleted", "modified", "renamed", "copied", "mode", "type"]
LETTERS: dict[Status, str] = {
    "added": "A", "deleted": "D", "modified": "M", "renamed": "R", "copied": "C", "mode": "X", "type": "T",
}  # fmt: skip
Read = Callable[["Side"], bytes | None]
"""Gives a side's bytes; None where they are not stored or must not be shown."""


@dataclass(frozen=True)
class Side:
    """A path as one side has it. Only files have bytes, and only small enough ones are `stored`."""

    type: str
    mode: str = ""
    size: int = 0
    sha256: str = ""
    stored: bool = False
    target: str = ""


@dataclass(frozen=True)
class Changed:
    """One changed path. A rename's or a copy's `before` is its source at `old_path`, `likeness` percent alike."""

    path: str
    status: Status
    before: Side | None
    after: Side | None
    old_path: str = ""
    likeness: int = 100

    @property
    def letter(self) -> str:
        return LETTERS[self.status]

    @property
    def sides(self) -> tuple[Side | None, Side | None]:
        return self.before, self.after

    @property
    def same_bytes(self) -> bool:
        return bool(self.before and self.after and self.before.sha256 and self.before.sha256 == self.after.sha256)

    @property
    def mode_changed(self) -> bool:
        return all(side is not None and side.type == "file" for side in self.sides) and (
            self.before.mode != self.after.mode  # type: ignore[union-attr]  # both are there
        )

    @property
    def folded(self) -> bool:
        """Tell generated files: lock files and what package managers put down."""
        parts = self.path.split("/")
        name = parts[-1]
        return name in FOLDED_NAMES or name.endswith(FOLDED_ENDS) or not FOLDED_FOLDERS.isdisjoint(parts[:-1])

    @property
    def fragment(self) -> str:
        return anchor(self.path)


def anchor(path: str) -> str:
    """Name a file within a page: a hash of its path, never its position."""
    return "f" + sha256(path.encode("utf-8", "surrogateescape"))[:7]


def read_record(record: Any) -> tuple[Changed, ...]:
    """Read a change record that may come from anywhere; a damaged one is refused in one sentence."""
    try:
        if record["format"] != FORMAT:
            raise RunnerError(f"The change record has the format {record['format']!r}, not {FORMAT}.")
        return tuple(sorted((_changed(row) for row in record["changes"]), key=lambda change: change.path))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, PathRefused) as error:
        raise RunnerError(f"The change record is damaged: {str(error).rstrip('.')}.") from error


def sides_of(entries: Iterable[Entry]) -> dict[str, Side]:
    """Give a tree's paths with what stands there; folders are left out, their files tell of them."""
    return {
        entry.path: Side(
            entry.type, entry.mode, entry.size or 0, entry.sha256 or "", entry.stored, entry.target or ""
        )
        for entry in entries
        if entry.type != "dir"
    }  # fmt: skip


def between(before: Mapping[str, Side], after: Mapping[str, Side]) -> tuple[Changed, ...]:
    """Compare two trees path by path, in the order of their paths. `moves.with_moves` then finds what was moved."""
    pairs = ((path, before.get(path), after.get(path)) for path in sorted({*before, *after}))
    return tuple(Changed(path, _status(old, new), old, new) for path, old, new in pairs if not _same(old, new))


def _same(old: Side | None, new: Side | None) -> bool:
    return old is not None and new is not None and _standing(old) == _standing(new)


def _standing(side: Side) -> tuple[str, ...]:
    """What stands there. Whether its bytes were stored only says where a record was made."""
    if side.type == "link":
        return side.type, side.target
    return side.type, side.mode, side.sha256 or str(side.size)


def changed(path: str, before: Side | None, after: Side | None) -> Changed:
    """Pair two sides of a path, wherever they come from."""
    return Changed(path, _status(before, after), before, after)


def _changed(row: dict[str, Any]) -> Changed:
    path = paths.check_relative(paths.from_json(row["path"]))
    return changed(path, _side(row.get("before")), _side(row.get("after")))


def _side(row: dict[str, Any] | None) -> Side | None:
    if row is None:
        return None
    digest = row.get("sha256") or ""
    if digest and not is_digest(digest):
        raise ValueError(f"{digest!r} is not a digest")
    target = paths.from_json(row["target"]) if row.get("target") else ""
    mode, size = str(row.get("mode") or ""), int(row.get("size") or 0)
    return Side(str(row["type"]), mode, size, digest, bool(row.get("stored")), target)


def _status(before: Side | None, after: Side | None) -> Status:
    if before is None or after is None:
        return "added" if before is None else "deleted"
    if before.type != after.type:
        return "type"
    same = before.sha256 == after.sha256 and before.target == after.target
    return "mode" if same and before.mode != after.mode else "modified"
