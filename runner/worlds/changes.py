"""The change record: every path that differs from a baseline, with both sides (benchsite/changes/1)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal, cast

from runner.blobs import BlobStore
from runner.digests import canonical
from runner.errors import RunnerError
from runner.paths import check_relative, from_json, to_json

FORMAT = "benchsite/changes/1"
Kind = Literal["added", "modified", "deleted", "link"]


@dataclass(frozen=True, slots=True)
class Side:
    """A path before or after. `stored`: its bytes are a blob; where not, it was too large or could not be read."""

    type: str
    mode: str
    size: int = 0
    sha256: str | None = None
    stored: bool = False
    target: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "type": self.type, "mode": self.mode, "size": self.size, "sha256": self.sha256, "stored": self.stored,
            "target": None if self.target is None else to_json(self.target),
        }  # fmt: skip

    @classmethod
    def from_json(cls, value: dict[str, Any] | None) -> Side | None:
        if value is None:
            return None
        target = value.get("target")
        return cls(
            type=value["type"],
            mode=value["mode"],
            size=value["size"],
            sha256=value["sha256"],
            stored=bool(value["stored"]),
            target=None if target is None else from_json(target),
        )


@dataclass(frozen=True, slots=True)
class Change:
    """One path. Line counts are None where there are no lines to count: binary, too large, not a file."""

    path: str
    kind: Kind
    before: Side | None
    after: Side | None
    lines_added: int | None = None
    lines_deleted: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "path": to_json(self.path),
            "kind": self.kind,
            "before": self.before.to_json() if self.before else None,
            "after": self.after.to_json() if self.after else None,
            "lines_added": self.lines_added,
            "lines_deleted": self.lines_deleted,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Change:
        if value["kind"] not in ("added", "modified", "deleted", "link"):
            raise RunnerError(f"A change record holds the unknown kind {value['kind']!r}.")
        return cls(
            path=check_relative(from_json(value["path"])),
            kind=cast(Kind, value["kind"]),
            before=Side.from_json(value["before"]),
            after=Side.from_json(value["after"]),
            lines_added=value.get("lines_added"),
            lines_deleted=value.get("lines_deleted"),
        )


@dataclass(frozen=True)
class ChangeSet:
    """Changes sorted by path. Directories made or removed stand apart: an end state needs them, readers do not."""

    changes: tuple[Change, ...] = ()
    made: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def paths(self) -> list[str]:
        return [change.path for change in self.changes]

    def counts(self) -> dict[str, int]:
        counted = {"added": 0, "modified": 0, "deleted": 0, "links": 0, "lines_added": 0, "lines_deleted": 0}
        for change in self.changes:
            counted["links" if change.kind == "link" else change.kind] += 1
            counted["lines_added"] += change.lines_added or 0
            counted["lines_deleted"] += change.lines_deleted or 0
        return counted

    def incomplete(self) -> list[str]:
        """Name the paths whose end state the record cannot give back."""
        return [
            change.path
            for change in self.changes
            if change.after
            and change.after.type != "link"
            and not (change.after.type == "file" and change.after.stored)
        ]

    def digests(self) -> list[str]:
        """Every stored blob, each once."""
        sides = [side for change in self.changes for side in (change.before, change.after) if side and side.stored]
        return list(dict.fromkeys(side.sha256 for side in sides if side.sha256))

    def store(self, blobs: BlobStore) -> str:
        return blobs.put(canonical(self.to_json()))

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "changes": [change.to_json() for change in self.changes],
            "directories": {"made": [*map(to_json, self.made)], "removed": [*map(to_json, self.removed)]},
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> ChangeSet:
        if value.get("format") != FORMAT:
            raise RunnerError(
                f"This change record has the format {value.get('format')!r}; this version reads {FORMAT!r}."
            )
        folders = value.get("directories", {})
        made, removed = (tuple(map(from_json, folders.get(name, ()))) for name in ("made", "removed"))
        return cls(tuple(Change.from_json(change) for change in value["changes"]), made, removed)


def by_bytes(path: str) -> bytes:
    return os.fsencode(path)
