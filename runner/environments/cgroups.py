"""Control groups, version 2 or 1, where this user may make them: only these limit all processes of a trial at once."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

from runner import keeper
from runner.errors import EnvironmentRefused

CONTROLLERS = ("memory", "pids")
PREFIX = "benchsite-"
JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs" || exit 125; shift; done; shift; exec "$@"'
"""A shell moves itself into the groups and becomes the command: nothing can be started before it is inside."""
OURS = 2
"""The processes that a sandbox needs for itself."""


@dataclass(frozen=True)
class Parents:
    """For each controller the folder in which a group can be made."""

    version: int
    folders: dict[str, Path]


@functools.lru_cache(maxsize=1)
def parents() -> Parents | None:
    """Find out where groups can be made, by making one; None where this user may not."""
    own, mounts = _own(), _mounts()
    for found in (_unified(own, mounts), _each(own, mounts)):
        if found is not None and _works(found):
            return found
    return None


def _own(file: str = "/proc/self/cgroup") -> dict[str, str]:
    """Controller -> path of this process's group; version 2 has the name ""."""
    lines = Path(file).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    rows = (line.split(":", 2) for line in lines)
    return {name: path for _, names, path in rows for name in names.split(",")}


def _mounts() -> dict[str, tuple[str, Path]]:
    """Controller -> (root, folder) of its hierarchy."""
    found: dict[str, tuple[str, Path]] = {}
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        left, _, right = line.partition(" - ")
        fields, (kind, _, options) = left.split(), right.split(" ", 2)
        if kind == "cgroup2":
            found[""] = fields[3], Path(fields[4])
        elif kind == "cgroup":
            found |= {name: (fields[3], Path(fields[4])) for name in options.split(",") if name in CONTROLLERS}
    return found


def _unified(own: dict[str, str], mounts: dict[str, tuple[str, Path]]) -> Parents | None:
    """The nearest group above this process that hands both controllers on and belongs to this user."""
    if "" not in own or "" not in mounts:
        return None
    base, here = mounts[""][1], _below(own[""], mounts[""])
    for folder in (here, *here.parents):
        with contextlib.suppress(OSError):
            handed_on = (folder / "cgroup.subtree_control").read_text().split()
            if set(CONTROLLERS) <= {*handed_on} and os.access(folder / "cgroup.procs", os.W_OK):
                return Parents(2, dict.fromkeys(CONTROLLERS, folder))
        if folder == base:
            break
    return None


def _each(own: dict[str, str], mounts: dict[str, tuple[str, Path]]) -> Parents | None:
    if not all(name in own and name in mounts for name in CONTROLLERS):
        return None
    return Parents(1, {name: _below(own[name], mounts[name]) for name in CONTROLLERS})


def _below(path: str, mount: tuple[str, Path]) -> Path:
    root, folder = mount
    inside = path.removeprefix(root) if root != "/" else path
    found = folder / inside.strip("/")
    return found if found.is_dir() else folder


def _works(found: Parents) -> bool:
    try:
        group = Group.made(found, "probe", 1 << 30, 100)
    except EnvironmentRefused:
        return False
    group.close()
    return True


@dataclass
class Group:
    """One trial's group: one folder (version 2), or one for each controller."""

    version: int
    folders: dict[str, Path]
    seen: dict[str, int] = field(default_factory=dict)
    theirs: bool = False

    @classmethod
    def made(cls, found: Parents, name: str, memory: int | None, processes: int | None) -> Group:
        """The name says whose it is, so that a group left behind is known as such."""
        pid, began = keeper.process_of(os.getpid())
        group = cls(found.version, {one: at / f"{PREFIX}{pid}-{began}-{name}" for one, at in found.folders.items()})
        try:
            for folder in group.places:
                folder.mkdir()
            group._limit(memory, processes)
        except OSError as error:
            group.close()
            raise EnvironmentRefused(f"No control group can be made in {error.filename}: {error.strerror}.") from error
        return group

    @property
    def places(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(self.folders.values()))

    def _limit(self, memory: int | None, processes: int | None) -> None:
        unified = self.version == 2
        if memory is not None:
            _write(self.folders["memory"] / ("memory.max" if unified else "memory.limit_in_bytes"), memory)
            with contextlib.suppress(OSError):  # a kernel without swap has no such file
                swap = ("memory.swap.max", 0) if unified else ("memory.memsw.limit_in_bytes", memory)
                _write(self.folders["memory"] / swap[0], swap[1])
        if processes is not None:
            _write(self.folders["pids"] / "pids.max", processes + OURS)

    def joining(self, argv: list[str]) -> list[str]:
        """The command line that runs `argv` inside."""
        return ["/bin/sh", "-c", JOIN, "sh", *map(str, self.places), "--", *argv]

    def reached(self) -> tuple[str, ...]:
        """Name the limits that were reached since this was asked last."""
        told = "memory.events" if self.version == 2 else "memory.oom_control"
        counts = {
            "memory": _count(self.folders["memory"] / told, "oom_kill"),
            "processes": _count(self.folders["pids"] / "pids.events", "max"),
        }
        grown = tuple(name for name, count in counts.items() if count > self.seen.get(name, 0))
        self.seen = counts
        return grown

    def close(self, patience: float = 5.0) -> None:
        """End what is still inside, then remove the group."""
        limit = time.monotonic() + patience
        for folder in () if self.theirs else self.places:
            while folder.is_dir():
                _kill(folder)
                try:
                    folder.rmdir()
                    break
                except OSError as error:
                    if time.monotonic() > limit:
                        told = f"The control group {folder} cannot be removed yet ({error.strerror})"
                        raise EnvironmentRefused(f"{told}; `benchsite clean` tries again.") from error
                time.sleep(0.001)


def of_process(pid: int) -> Group | None:
    """The group that another program made for a process, to be read only; None where it cannot be seen."""
    mounts, own = _mounts(), _own(f"/proc/{pid}/cgroup")
    if all(name in own and name in mounts for name in CONTROLLERS):
        return Group(1, {name: _below(own[name], mounts[name]) for name in CONTROLLERS}, theirs=True)
    return Group(2, dict.fromkeys(CONTROLLERS, _below(own[""], mounts[""])), theirs=True) if "" in mounts else None


def left_behind() -> list[Path]:
    """Groups whose runner is gone."""
    found = parents()
    folders = dict.fromkeys(found.folders.values()) if found else ()
    return [group for folder in folders for group in sorted(folder.glob(f"{PREFIX}*")) if _owner_gone(group.name)]


def remove(folder: Path) -> None:
    Group(2, {"all": folder}).close()


def _owner_gone(name: str) -> bool:
    named = re.fullmatch(rf"{PREFIX}(\d+)-(\d+)-.*", name)
    return named is not None and keeper.process_of(int(named[1])) != (int(named[1]), int(named[2]))


def _write(file: Path, value: int) -> None:
    file.write_text(str(value))


def _count(file: Path, name: str) -> int:
    with contextlib.suppress(OSError):
        for line in file.read_text().splitlines():
            key, _, value = line.partition(" ")
            if key == name:
                return int(value)
    return 0


def _kill(folder: Path) -> None:
    with contextlib.suppress(OSError):
        for pid in (folder / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
