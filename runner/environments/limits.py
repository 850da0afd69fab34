"""Limits of one trial: what a control group, the kernel's limits of a process, or a watch on its folders holds."""

from __future__ import annotations

import os
import platform
import re
import resource
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runner.processes import Done
from runner.worlds.walls import Wall

from .cgroups import Group

PER_NAMESPACE = (5, 14)
"""Since this kernel RLIMIT_NPROC counts within a user namespace, and not all that the user runs on the machine."""
LOOKED_EVERY = 0.2
WALKING = 10
"""The watch looks again after at least this many times what the last look took."""


@dataclass(frozen=True)
class Resources:
    """Bytes of memory, number of processes, bytes of disk; None is no limit."""

    memory: int | None = None
    processes: int | None = None
    disk: int | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Resources:
        return cls(*(row.get(name) for name in ("memory", "processes", "disk")))

    @property
    def declared(self) -> tuple[str, ...]:
        return tuple(name for name in ("memory", "processes", "disk") if getattr(self, name) is not None)

    @property
    def by_group(self) -> bool:
        """Whether there is something to hold for a control group."""
        return self.memory is not None or self.processes is not None


def by_process(name: str) -> str:
    """How the kernel's limits of a process hold this limit; "" where they do not. Nothing of theirs binds root."""
    if os.getuid() == 0 or name not in ("memory", "processes"):
        return ""
    if name == "memory":
        return "rlimit, of each process"
    found = re.match(r"(\d+)\.(\d+)", platform.release())
    return "rlimit" if found and (int(found[1]), int(found[2])) >= PER_NAMESPACE else ""


def limit_process(pid: int, limits: Resources, group: Group | None) -> None:
    """Set on process 1 of a sandbox what everything it starts inherits: what no group holds, and the largest file."""
    wanted = {resource.RLIMIT_FSIZE: limits.disk}
    if group is None:
        wanted |= {resource.RLIMIT_DATA: limits.memory, resource.RLIMIT_NPROC: limits.processes}
    for which, value in wanted.items():
        if value is not None:
            resource.prlimit(pid, which, (value, value))


class DiskWatch:
    """Adds up what some folders hold. A large tree is looked at less often, so that looking stays cheap; and at once
    where the file system has lost as much room since the last look as the limit had left. That is asked every time,
    for it costs next to nothing: it may be others who write, so half of the time at most goes into looking."""

    def __init__(self, folders: Sequence[Path], limit: int) -> None:
        self._folders, self._limit, self._more = folders, limit, limit // 4
        self._left, self._free = self._more, self._room()
        self._soonest, self._next = 0.0, time.monotonic() + LOOKED_EVERY

    def __call__(self) -> tuple[str, ...]:
        if time.monotonic() < (self._soonest if self._free - self._room() > self._left else self._next):
            return ()
        return self.look()

    def look(self) -> tuple[str, ...]:
        began, free = time.monotonic(), self._room()
        total = sum(held_by(folder) for folder in self._folders)
        now = time.monotonic()
        self._soonest, self._next = now + (now - began), now + max(LOOKED_EVERY, (now - began) * WALKING)
        self._left, self._free = max(0, self._limit - total), free
        if total <= self._limit:
            return ()
        self._limit, self._left = total + self._more, self._more  # what it wrote stays, and can be graded
        return ("disk",)

    def _room(self) -> int:
        """What the file system of the folders still has."""
        try:
            status = os.statvfs(self._folders[0])
        except OSError:
            return 0
        return status.f_bavail * status.f_frsize


def held_by(folder: Path) -> int:
    """Bytes that a tree takes up on disk; no link is followed, and what vanishes meanwhile is nothing."""
    total, waiting, seen = 0, [str(folder)], set[tuple[int, int]]()
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    if status.st_nlink > 1 and not entry.is_dir(follow_symlinks=False):
                        if (status.st_dev, status.st_ino) in seen:
                            continue
                        seen.add((status.st_dev, status.st_ino))
                    total += status.st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue
    return total


class Guard:
    """What is asked while a command of a trial runs, and after it."""

    def __init__(self, group: Group | None = None, disk: DiskWatch | None = None, wall: Wall | None = None) -> None:
        self.group, self._disk, self._wall = group, disk, wall

    @property
    def watch(self) -> Callable[[], tuple[str, ...]] | None:
        return self._look if self._wall else self._disk

    def _look(self) -> tuple[str, ...]:
        assert self._wall is not None
        self._wall.watch()
        return self._disk() if self._disk else ()

    def told(self, done: Done) -> Done:
        """Name the limits that were reached beside the one the command was stopped for."""
        found = [self.group.reached() if self.group else (), self._wall.told() if self._wall else ()]
        if self._disk and "disk" not in done.over:
            found += self._disk.look(), _too_large(done)  # what ended before it was looked at
        reached = tuple(dict.fromkeys(name for names in found for name in names))
        return replace(done, over=(*done.over, *reached)) if reached else done

    def close(self) -> None:
        if self.group is not None:
            self.group.close()


def _too_large(done: Done) -> tuple[str, ...]:
    """The kernel ends who makes a file larger than the limit, though the disk be empty: a hole takes no room. A shell
    says it of what it started. Who ignores the signal gets an error, and nobody else hears of it."""
    return ("disk",) if done.signal == signal.SIGXFSZ or done.exit_code == 128 + signal.SIGXFSZ else ()
