"""Collected paths as a scenario reads them, in every mode: from the store, never from the environment."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from runner.blobs import BlobStore
from runner.collected import Collected
from runner.worlds.tree import Tree


@dataclass(frozen=True)
class CollectedPath:
    """One declared path: `files` maps relative path to digest; a single file has the one entry ""."""

    path: str
    is_dir: bool
    files: dict[str, str]
    _blobs: BlobStore = field(repr=False, compare=False)

    def read_bytes(self, name: str = "") -> bytes:
        if name not in self.files:
            known = ", ".join(sorted(self.files)[:10]) if self.is_dir else "it is a single file"
            raise KeyError(f"{self.path} holds no {name!r} ({known}).")
        return self._blobs.read(self.files[name])

    def read_text(self, name: str = "") -> str:
        return self.read_bytes(name).decode("utf-8", "surrogateescape")


def shelf(entries: Iterable[Collected], blobs: BlobStore) -> dict[str, CollectedPath]:
    return {entry.path: _one(entry, blobs) for entry in entries if entry.status == "collected" and entry.tree}


def _one(entry: Collected, blobs: BlobStore) -> CollectedPath:
    assert entry.tree is not None
    rows = [row for row in Tree.from_json(json.loads(blobs.read(entry.tree))).entries if row.sha256]
    is_dir = entry.kind == "dir"
    files = {row.path if is_dir else "": row.sha256 for row in rows if row.sha256}
    return CollectedPath(entry.path, is_dir, files, blobs)
