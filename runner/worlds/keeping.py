"""Keeping a world exactly as the agent left it, or letting go of it."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from pathlib import Path

from runner.blobs import BlobStore
from runner.errors import RunnerError
from runner.processes import output_of

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


def keep(place: Place, run_dir: Path, index: int, attempt: int, blobs: BlobStore, rules: Rules) -> Kept:
    """Move the world below the run, ignored files included; files of at most `max_bytes` become blobs."""
    target = run_dir / "workspaces" / f"{index}-{attempt}"
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_tree(target)
    _move(place.world, target)
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


def _copy_across(world: Path, target: Path) -> None:
    """Another file system: `cp -a` keeps links, fifos, modes and times, which is what "exactly as left" means."""
    argv = ["cp", "-a", "--", str(world), str(target)]
    done, said = output_of(argv, cwd=world.parent, env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}, timeout=3600)
    if not done.ok and "No space left on device" in said:
        raise OSError(errno.ENOSPC, "No space left on device", str(target))
    if not done.ok:
        raise RunnerError(f"The world could not be kept in {target}: {said.strip()[-500:]}")
