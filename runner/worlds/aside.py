"""What a capture leaves aside: whether an agent touched it is worth knowing, since the record cannot give it back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from runner.errors import RunnerError
from runner.processes import output_of

from .places import remove_tree
from .rules import Rules

CACHES = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".coverage"})
"""What programs write for themselves alone; nobody grades it."""
Times = Mapping[str, int]
"""Name -> ctime in ns."""


def left_aside(world: Path, rules: Rules) -> Times:
    """Look at the ignored entries of the world's own folder; deeper ones are caches nearly always."""
    try:
        with os.scandir(world) as entries:
            return {
                entry.name: entry.stat(follow_symlinks=False).st_ctime_ns
                for entry in entries
                if entry.name not in CACHES and rules.ignored(entry.name, entry.is_dir(follow_symlinks=False))
            }
    except OSError:
        return {}


def touched(before: Times, after: Times) -> tuple[str, ...]:
    """Name what was made, written to at its top, or removed."""
    return tuple(sorted(name for name in {*before, *after} if before.get(name) != after.get(name)))


def bring_back(name: str, kept: Path, world: Path) -> bool:
    """Copy an ignored entry from a kept world, whole; False where that world has none."""
    source, target = kept / name, world / name
    if not os.path.lexists(source):
        return False
    if os.path.lexists(target):
        remove_tree(target) if target.is_dir() and not target.is_symlink() else target.unlink()
    env = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    done, said = output_of(["cp", "-a", "--", str(source), str(target)], cwd=world, env=env, timeout=3600)
    if not done.ok:
        raise RunnerError(f"{name} could not be copied from the kept world: {said.strip()[-300:]}")
    return True
