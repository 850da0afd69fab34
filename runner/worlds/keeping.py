"""Keeping a world exactly as the agent left it, or letting go of it."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.blobs import BlobStore
from runner.errors import RunnerError
from runner.processes import output_of

from . import mounting
from .places import Place, drop_place, remove_tree
from .rules import Rules
from .tree import scan


@dataclass(frozen=True)
class Kept:
    """`path` is relative to the run directory; `blob` holds the tree (benchsite/tree/1)."""

    path: str
    blob: str
    files: int
    size: int


def kept_world(run_dir: Path, index: int, attempt: int) -> Path:
    """Say where the world of an attempt lies if it was kept."""
    return run_dir / "workspaces" / f"{index}-{attempt}"


def keep(
    place: Place,
    run_dir: Path,
    index: int,
    attempt: int,
    blobs: BlobStore,
    rules: Rules,
    template: Path | None = None,
    mounts: Mounts | None = None,
) -> Kept:
    """Put the whole world below the run, ignored files included; files of at most `max_bytes` become blobs.

    A world that lay over `template` is written out; one that was a copy is moved. One behind a wall of its own is only
    seen among the trial's `mounts`."""
    target = kept_world(run_dir, index, attempt)
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_tree(target)
    layered = layers_of(place)
    if place.disk.is_dir():
        if mounts is None:
            raise RunnerError("what it was mounted on went with the trial's process.")
        _copy_across(place.world, target, mounts.joining())
    elif layered is None:
        _move(place.world, target)
    else:
        _write_out(*layered, template, target)
    tree = scan(target, refuse=False, blobs=blobs, limit=rules.max_bytes)
    return Kept(f"workspaces/{target.name}", tree.store(blobs), tree.files, tree.size)


def discard(place: Place) -> None:
    """Remove what is left of an attempt: its world, HOME, TMPDIR and output."""
    drop_place(place)


def _move(world: Path, target: Path) -> None:
    try:
        world.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _copy_across(world, target)
        remove_tree(world)


def _copy_across(world: Path, target: Path, within: Sequence[str] = ()) -> None:
    """`cp -a` keeps links, fifos, modes and times, which is what "exactly as left" means."""
    argv = [*within, "cp", "-a", "--", str(world), str(target)]
    done, said = output_of(argv, cwd=world.parent, env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}, timeout=3600)
    if not done.ok and "No space left on device" in said:
        raise OSError(errno.ENOSPC, "No space left on device", str(target))
    if not done.ok:
        raise RunnerError(f"The world could not be kept in {target}: {said.strip()[-500:]}")


def layers_of(place: Place) -> tuple[str, Path] | None:
    """Find the layers that a trial left, and their style; None where its world was a copy."""
    found = ((style, place.layers(style)) for style in mounting.STYLES)
    return next(((style, layers) for style, layers in found if layers.is_dir()), None)


def _write_out(style: str, layers: Path, template: Path | None, target: Path) -> None:
    """Mount the layers once more, in a process of their own: the kernel alone knows what they mean."""
    work, merged = layers / mounting.WORK, layers / "merged"
    remove_tree(work)  # the trial's mount may not be quite gone yet; it has that one
    for folder in (work, merged):
        folder.mkdir(exist_ok=True)
    _copy_across(merged, target, [*script(), "--in", style, str(template), str(layers), str(merged)])


class Mounts:
    """The mounts of a trial's process, which stay while this is open, also when that process has been killed."""

    def __init__(self, pid: int) -> None:
        self._descriptors = {name: os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY) for name in ("user", "mnt")}

    def joining(self) -> list[str]:
        """Words to put before a command that is to see them."""
        own = os.stat("/proc/self/ns/user").st_ino  # noqa: PTH116  a link that leads nowhere for Path
        other = os.fstat(self._descriptors["user"]).st_ino != own
        paths = {name: f"/proc/{os.getpid()}/fd/{number}" for name, number in self._descriptors.items()}
        return [*script(), "--join", paths["user"] if other else "-", paths["mnt"]]

    def close(self) -> None:
        for descriptor in self._descriptors.values():
            os.close(descriptor)
        self._descriptors = {}


def script() -> list[str]:
    """Start `mounting` as a program. -I -S: no site, nothing from the environment; it is up in half the time."""
    python: str = getattr(sys, "_base_executable", "") or sys.executable
    return [python, "-I", "-S", os.fspath(mounting.__file__)]
