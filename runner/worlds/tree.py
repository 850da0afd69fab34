"""A tree of files as a record: what a world starts from, and what a kept one holds (benchsite/tree/1)."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from runner.blobs import BlobStore
from runner.digests import canonical
from runner.errors import BenchError, RunnerError
from runner.paths import check_relative, from_json, to_json

from .walk import TYPES, Found, git_mode, read_link, read_whole, walk

FORMAT = "benchsite/tree/1"
PAGE = 4096
REFUSED = {"link": "a symbolic link", "fifo": "a fifo", "socket": "a socket", "device": "a device"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One path. `type` is file, dir, link, fifo, socket, device or unreadable; `stored`: its bytes are a blob."""

    path: str
    type: str
    mode: str
    size: int = 0
    sha256: str | None = None
    target: str | None = None
    stored: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "path": to_json(self.path), "type": self.type, "mode": self.mode, "size": self.size, "sha256": self.sha256,
            "target": None if self.target is None else to_json(self.target), "stored": self.stored,
        }  # fmt: skip

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Entry:
        target = value.get("target")
        return cls(
            path=check_relative(from_json(value["path"])),
            type=value["type"],
            mode=value["mode"],
            size=value["size"],
            sha256=value["sha256"],
            target=None if target is None else from_json(target),
            stored=bool(value.get("stored", False)),
        )


@dataclass(frozen=True)
class Tree:
    """Entries sorted by the bytes of their paths."""

    entries: tuple[Entry, ...]

    @cached_property
    def by_path(self) -> dict[str, Entry]:
        return {entry.path: entry for entry in self.entries}

    @cached_property
    def hash(self) -> str:
        """The template hash: path, mode as git keeps it and sha256 of every path."""
        hashed = hashlib.sha256()
        for entry in self.entries:
            hashed.update(f"{entry.mode} {entry.sha256 or '-'} ".encode() + os.fsencode(entry.path) + b"\0")
        return hashed.hexdigest()

    @property
    def files(self) -> int:
        return sum(entry.type != "dir" for entry in self.entries)

    @property
    def size(self) -> int:
        return sum(entry.size for entry in self.entries if entry.type in ("file", "unreadable"))

    @property
    def room(self) -> int:
        """Bytes of a disk that a copy takes: each file and folder in whole pages."""
        return sum(max(entry.size, entry.type == "dir") + PAGE - 1 & -PAGE for entry in self.entries)

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, "entries": [entry.to_json() for entry in self.entries]}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Tree:
        if value.get("format") != FORMAT:
            raise RunnerError(f"This tree has the format {value.get('format')!r}; this version reads {FORMAT!r}.")
        return cls(tuple(Entry.from_json(entry) for entry in value["entries"]))

    def store(self, blobs: BlobStore) -> str:
        return blobs.put(canonical(self.to_json()))


def scan(root: Path, refuse: bool = True, *, blobs: BlobStore | None = None, limit: int = -1) -> Tree:
    """Record every path below `root`; files of at most `limit` bytes go to `blobs`.

    With `refuse`, anything a copy could not keep inside (links, devices, fifos, sockets) is a BenchError instead.
    """
    entries = {found.path: _entry(found, blobs, limit) for found in walk(root)}
    refused = [entry for entry in entries.values() if entry.type not in ("file", "dir")]
    if refuse and refused:
        raise _refusal(root, refused)
    return Tree(tuple(entries[path] for path in sorted(entries, key=os.fsencode)))


def store_tree(root: Path, blobs: BlobStore, limit: int) -> Tree:
    """Scan a template and keep its files as blobs, so that the side before a change can be shown anywhere."""
    return scan(root, refuse=True, blobs=blobs, limit=limit)


def _entry(found: Found, blobs: BlobStore | None, limit: int) -> Entry:
    mode, kind = git_mode(found.stat.st_mode), TYPES.get(stat.S_IFMT(found.stat.st_mode), "device")
    if kind == "dir":
        return Entry(found.path, "unreadable" if found.closed else "dir", mode)
    if kind == "link":
        return Entry(found.path, "link", mode, found.stat.st_size, target=read_link(found))
    if kind != "file":
        return Entry(found.path, kind, mode)
    read = read_whole(found, limit)
    if read is None:
        return Entry(found.path, "unreadable", mode, found.stat.st_size)
    sha256, size, data = read
    if blobs is not None and data is not None:
        blobs.put(data)
    return Entry(found.path, "file", mode, size, sha256, stored=blobs is not None and data is not None)


def _refusal(root: Path, refused: list[Entry]) -> BenchError:
    first, more = refused[0], len(refused) - 1
    if first.type == "unreadable":
        sentence = f"{root / first.path} cannot be read; mend its mode or remove it."
    else:
        sentence = (
            f"{root / first.path} is {REFUSED[first.type]}, and a world holds only files and folders, "
            "because anything else leads out of the copy; replace it by what it stands for."
        )
    return BenchError(sentence + (f" ({more} more like it.)" if more else ""))
