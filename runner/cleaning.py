"""What dead runners left behind: worlds, sandboxes, containers and control groups. Nothing that lives is touched."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import keeper
from .cancelling import is_driven
from .credentials import take_back
from .environments import cgroups, container, engines
from .environments.limits import held_by
from .errors import RunnerError
from .processes import kill_tree
from .worlds.places import OWNER, Place, drop_place, worlds_root

NAMELESS = 86400.0
"""Seconds after which a world is left behind that does not say whose it is."""
_CONTAINER = re.compile(rf"{engines.LABEL}-(\d+)-(\d+)-.*")


@dataclass(frozen=True)
class Left:
    """`kind`: sandbox, container, group or world; `name` is what the machine calls it, `size` bytes of a world."""

    kind: str
    name: str
    size: int = 0

    def remove(self) -> None:
        if self.kind == "sandbox":
            kill_tree(int(self.name))
        elif self.kind == "container":
            container.remove(self.name)
        elif self.kind == "group":
            cgroups.remove(Path(self.name))
        else:
            take_back(Path(self.name))
            drop_place(Place(self.name))


def left_behind() -> list[Left]:
    """Find it all, processes first: a world can be removed once nothing writes to it any more."""
    places = [place for place in _places() if _is_stale(place)]
    found = [*_sandboxes(places), *_containers()]
    found += [Left("group", str(folder)) for folder in cgroups.left_behind()]
    return found + [Left("world", str(place.root), held_by(place.root)) for place in places]


def clean(*, dry_run: bool = False) -> list[tuple[Left, str]]:
    """Remove what was left behind, or only name it; beside each stands what kept it from being removed, or ""."""
    return [(left, "" if dry_run else _removed(left)) for left in left_behind()]


def _removed(left: Left) -> str:
    try:
        left.remove()
    except (RunnerError, OSError) as error:
        return str(error)
    return ""


def _places() -> Iterator[Place]:
    root = worlds_root()
    for run in sorted(root.iterdir()) if root.is_dir() else ():
        if run.is_dir() and not run.is_symlink():
            yield from (Place(str(one)) for one in sorted(run.iterdir()) if re.fullmatch(r"\d+-\d+", one.name))


def _is_stale(place: Place) -> bool:
    """Its maker is gone, and so is whoever drives its run: between the two a world is kept or put away."""
    try:
        pid, began, run = os.readlink(place.at(OWNER)).split(" ", 2)  # noqa: PTH115  it leads nowhere
        process = int(pid), int(began)
    except (OSError, ValueError):
        with contextlib.suppress(OSError):
            return time.time() - place.root.stat().st_mtime > NAMELESS
        return False
    return keeper.process_of(process[0]) != process and not (run and is_driven(Path(run)))


def _sandboxes(stale: list[Place]) -> Iterator[Left]:
    """A bubblewrap that shows one of these worlds, or one that is gone already."""
    root, worlds = os.fsencode(worlds_root()) + b"/", {os.fsencode(place.world) for place in stale}
    for entry in sorted(Path("/proc").glob("[0-9]*/cmdline")):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if not words[0].endswith(b"bwrap"):
            continue
        shown = {word for word in words if word.startswith(root) and word.endswith(b"/world")}
        if any(world in worlds or not os.path.lexists(world) for world in shown):
            yield Left("sandbox", entry.parent.name)


def _containers() -> Iterator[Left]:
    if container.unusable():
        return
    works, said = engines.ask("ps", "--all", "--filter", f"label={engines.LABEL}", "--format", "{{.Names}}")
    for name in said.splitlines() if works else ():
        named = _CONTAINER.fullmatch(name.strip())
        if named and keeper.process_of(int(named[1])) != (int(named[1]), int(named[2])):
            yield Left("container", name.strip())
