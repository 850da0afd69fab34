"""Laying a change record over a world: how an earlier agent's work is put back where a trial needs it."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from runner.blobs import BlobStore
from runner.digests import sha256_file
from runner.errors import PathRefused
from runner.paths import join_within

from .changes import Change, ChangeSet, Side
from .places import remove_tree

REMADE = {"fifo": stat.S_IFIFO, "socket": stat.S_IFSOCK}
"""Places where processes met: what is left of them without those is their name and kind."""
Find = Callable[[Change], Path | None]
"""Gives a file on this machine that holds the bytes a path had after the change."""


def finder(blobs: BlobStore, kept: Path | None) -> Find:
    """Look for bytes in the store, then in the kept world; what was written to since, or damaged, is not taken."""

    def find(change: Change) -> Path | None:
        side = change.after
        if side is None or side.sha256 is None:
            return None
        stored = [blobs.path(side.sha256)] if blobs.has(side.sha256) else []
        return next((file for file in (*stored, *_kept(kept, change.path)) if sha256_file(file) == side.sha256), None)

    return find


def _kept(kept: Path | None, path: str) -> list[Path]:
    try:
        file = None if kept is None else join_within(kept, path)
    except PathRefused:
        return []
    return [file] if file is not None and file.is_file() and not file.is_symlink() else []


def sources_of(changes: ChangeSet, find: Find) -> tuple[dict[str, Path], list[str]]:
    """Give where the bytes of each file lie, and the names of what cannot be put back, each with the reason."""
    found: dict[str, Path] = {}
    lost = []
    for change in changes.changes:
        if change.after is None or change.after.type in ("link", *REMADE):
            continue
        source = find(change)
        if source is None:
            lost.append(f"{change.path}: {why_lost(change.after.type, change.after.size)}")
        else:
            found[change.path] = source
    return found, lost


def why_lost(type: str, size: int) -> str:
    if type == "file":
        return f"its {size:,} bytes were not stored (larger than max_bytes of the capture, or removed since)"
    return f"it was a {type}" if type != "unreadable" else "it could not be read"


def apply(world: Path, changes: ChangeSet, sources: Mapping[str, Path]) -> None:
    """Make the world what it was after the changes. Nothing is written through a link: links are made last."""
    for change in changes.changes:
        _clear(_place(world, change.path), keep_folder=False)
    for path in sorted(changes.removed, key=lambda path: path.count("/"), reverse=True):
        _empty(_place(world, path))
    for path in sorted(changes.made):
        place = _place(world, path)
        _clear(place, keep_folder=True)
        place.mkdir(parents=True, exist_ok=True)
    for change in changes.changes:
        if change.after is not None and change.path in sources:
            _write(_place(world, change.path), change.after, sources[change.path])
    for change in changes.changes:
        if change.after is not None and change.after.type in REMADE:
            remake(_place(world, change.path), change.after.type)
        if change.after is not None and change.after.target is not None:
            place = _place(world, change.path)
            _clear(place, keep_folder=False)
            place.symlink_to(change.after.target)


def _place(world: Path, path: str) -> Path:
    """Name a path of the world; a folder above it that leads out is refused, the path itself may be such a link."""
    above, _, name = path.rpartition("/")
    return (join_within(world, above) if above else world) / name


def _write(place: Path, side: Side, source: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, place)
    place.chmod(0o755 if side.mode == "100755" else 0o644)


def remake(place: Path, type: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    os.mknod(place, REMADE[type] | 0o644)


def _clear(place: Path, *, keep_folder: bool) -> None:
    if place.is_dir() and not place.is_symlink():
        if not keep_folder:
            remove_tree(place)
    elif os.path.lexists(place):
        place.unlink()


def _empty(place: Path) -> None:
    """A folder that holds what the record does not know of (ignored files) stays."""
    try:
        place.rmdir()
    except OSError:
        return
