"""Walking a world that may be hostile and may still be written to: by directory descriptors, never through a link."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

from runner.digests import CHUNK

from .rules import Rules

_NO_RULES = Rules((), 0)
MAX_DEPTH = 200
"""A deeper directory is named and not entered: each level holds a descriptor."""
LONGEST = 3_840
"""Nor is one with a path of more bytes: no program opens by name what is in it, and records of it would have no end."""

SMALL = 1 << 16
"""Bytes that are asked for at least: room for so many costs nothing."""

Fingerprint = tuple[int, int, int, int, int]
"""Size, mtime, ctime (both in ns), inode and mode: with all five the same nothing was written."""

TYPES = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "dir",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFBLK: "device",
    stat.S_IFCHR: "device",
}


class Found(NamedTuple):
    """One path of a walk. `folder` is the open descriptor of its directory, good until the walk goes on."""

    path: str
    name: str
    folder: int
    stat: os.stat_result
    closed: bool = False
    """A directory that could not be entered."""


Listing = tuple[str, int, list[tuple[str, os.stat_result]], bool]
"""(prefix of the paths, the directory's descriptor, (name, status) of what is in it, closed). The descriptor is good
until the next listing. A directory that cannot be entered comes a second time, alone, as closed."""

SetAside = Callable[[int, str, str], None]
"""Called with (descriptor of the directory, prefix, name) of each entry that the rules ignore."""


def walk(root: str | os.PathLike[str]) -> Iterator[Found]:
    """Give every path below `root`; the last word on a path counts."""
    for prefix, folder, entries, closed in listings(root):
        for name, status in entries:
            yield Found(prefix + name, name, folder, status, closed)


def listings(
    root: str | os.PathLike[str], rules: Rules | None = None, aside: SetAside | None = None
) -> Iterator[Listing]:
    """Give a listing per directory, without what the rules ignore, for callers that loop over thousands of files."""
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield from below(descriptor, "", rules or _NO_RULES, 0, aside)
    finally:
        os.close(descriptor)


def below(folder: int, prefix: str, rules: Rules, depth: int, aside: SetAside | None = None) -> Iterator[Listing]:
    """Give the listings of an open directory, which lies so deep, and of all below it."""
    entries = _list(folder, prefix, rules, aside)
    yield prefix, folder, entries, False
    for name, status in entries:
        if not stat.S_ISDIR(status.st_mode):
            continue
        descriptor = enter(folder, name) if depth < MAX_DEPTH and not too_long(prefix + name) else None
        if descriptor is None:
            yield prefix, folder, [(name, status)], True
            continue
        try:
            yield from below(descriptor, f"{prefix}{name}/", rules, depth + 1, aside)
        finally:
            os.close(descriptor)


def _list(folder: int, prefix: str, rules: Rules, aside: SetAside | None) -> list[tuple[str, os.stat_result]]:
    names, folders, spec = rules.names, rules.folders, rules.spec
    entries = []
    with os.scandir(folder) as found:
        for entry in found:
            name = entry.name
            if (
                name in names
                or (folders and name in folders and entry.is_dir(follow_symlinks=False))
                or (spec is not None and rules.ignored(prefix + name, entry.is_dir(follow_symlinks=False)))
            ):
                if aside is not None:
                    aside(folder, prefix, name)
                continue
            try:
                entries.append((name, entry.stat(follow_symlinks=False)))
            except FileNotFoundError:
                continue  # removed under our hands by a process the agent left
    return entries


def too_long(path: str) -> bool:
    return len(path) * 4 > LONGEST and len(os.fsencode(path)) > LONGEST


def enter(folder: int, name: str) -> int | None:
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return None


def fingerprint(status: os.stat_result) -> Fingerprint:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_mode


def git_mode(mode: int) -> str:
    """Give a mode as git keeps it: a file is executable or not, all else is its type. The umask leaves no trace."""
    if stat.S_ISREG(mode):
        return "100755" if mode & 0o100 else "100644"
    return f"{stat.S_IFMT(mode):06o}"


def read_link(found: Found) -> str | None:
    try:
        return os.readlink(found.name, dir_fd=found.folder)
    except OSError:
        return None


def read_whole(found: Found, limit: int) -> tuple[str, int, bytes | None] | None:
    """Hash a file: (sha256, size, its bytes when they are at most `limit`). None when it cannot be read."""
    try:
        descriptor = os.open(
            found.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=found.folder
        )
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None  # replaced by something else since it was listed
        return _read(descriptor, limit, min(max(SMALL, status.st_size + 1), CHUNK))
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _read(descriptor: int, limit: int, most: int) -> tuple[str, int, bytes | None]:
    """At most `most` bytes at once: for what is asked for room is made, and a world has many small files."""
    hashed, size, kept = hashlib.sha256(), 0, bytearray()
    while chunk := os.read(descriptor, most):
        size += len(chunk)
        hashed.update(chunk)
        if size <= limit:
            kept += chunk
    return hashed.hexdigest(), size, bytes(kept) if size <= limit else None
