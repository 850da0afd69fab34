"""What holds a trial's limit of disk here: the one place that decides. Tried, and never guessed."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import sys
from pathlib import Path

from runner.processes import output_of
from runner.surroundings import WATCHED
from runner.worlds import walls
from runner.worlds.places import drop_place, make_place
from runner.worlds.walls import IMAGE, TMPFS

from . import engines
from .cgroups import parents
from .limits import Resources

PART_OF_MEMORY = 4
"""All trials of a run together may take so much of this machine's memory for their files: a quarter."""
GROUPS = ("memory.max", "memory/memory.limit_in_bytes")
ROOT = Path(walls.__file__).parents[2]
_TRIES = itertools.count(1)


def held_by(limits: Resources, environment: str) -> tuple[str, str]:
    """Give what holds the limit, and why it is only watched where it is."""
    contained = environment == "container"
    if contained and not (engines.is_podman() and os.geteuid() == 0):
        return WATCHED, "docker, and podman without root, do not see what a trial mounts for itself alone"
    grouped = contained or parents() is not None  # a group counts what lies in memory as that of who wrote it
    reasons = [_not_in_memory(limits, grouped) or tried(TMPFS)]
    if not reasons[0]:
        return TMPFS, ""
    reasons.append(_no_image() or tried(IMAGE))
    return (WATCHED, "; ".join(reasons)) if reasons[1] else (IMAGE, "")


def _not_in_memory(limits: Resources, grouped: bool) -> str:
    assert limits.disk is not None
    if limits.memory is not None and grouped:
        return "files in memory would count against the trial's limit of memory"
    trials = os.cpu_count() or 1
    if (limits.disk + walls.head_room(limits.disk)) * trials > _memory() // PART_OF_MEMORY:
        return f"{trials} trials at a time would take more than a quarter of this machine's memory for their files"
    return ""


def _no_image() -> str:
    return "" if os.geteuid() == 0 else "a file system in a file takes root"


def _memory() -> int:
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for name in GROUPS:
        with contextlib.suppress(OSError, ValueError):
            found.append(int(Path("/sys/fs/cgroup", name).read_text()))
    return min(found)


@functools.lru_cache(maxsize=4)
def tried(wall: str) -> str:
    """Mount one of this kind where worlds live and fill it, in a process of its own; "" where that ended as it must."""
    place = make_place("trying-walls", os.getpid(), next(_TRIES))
    try:
        env = {**walls.QUIET, "PYTHONPATH": str(ROOT)}
        argv = [sys.executable, "-m", "runner.worlds.walls", wall, str(place.root)]
        _, said = output_of(argv, cwd=ROOT, env=env, timeout=60)
    finally:
        drop_place(place)
    answer = said.strip().splitlines()[-1] if said.strip() else "it said nothing"
    return "" if answer == "ok" else f"a file system of the kind {wall} cannot be had ({answer})"
