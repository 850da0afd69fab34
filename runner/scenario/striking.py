"""Striking a login out of the names in a world, and out of what its links lead to, before any of it is recorded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from runner.redaction import Redactor
from runner.worlds.walk import MAX_DEPTH, enter, too_long

LONGEST = 255
"""Bytes of a name."""


def strike_names(world: Path, tokens: Redactor) -> Iterator[tuple[str, list[str]]]:
    """Rename what has a token in its name; gives each path as it is then, and what stood there."""
    folder = os.open(world, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield from _below(folder, "", tokens, 0)
    finally:
        os.close(folder)


def _below(folder: int, prefix: str, tokens: Redactor, depth: int) -> Iterator[tuple[str, list[str]]]:
    """From the deepest up, by descriptors: who still writes here can lead it nowhere."""
    with os.scandir(folder) as found:
        entries = [(entry.name, entry.is_dir(follow_symlinks=False), entry.is_symlink()) for entry in found]
    for name, is_folder, is_link in entries:
        if is_folder and depth < MAX_DEPTH and not too_long(prefix + name):
            inner = enter(folder, name)
            if inner is not None:
                try:
                    yield from _below(inner, f"{prefix}{name}/", tokens, depth + 1)
                finally:
                    os.close(inner)
        target = _target(folder, name) if is_link else ""
        if names := tokens.names_in([os.fsencode(f"{name}\0{target}")]):
            yield prefix + _struck(folder, name, target, tokens), names


def _struck(folder: int, name: str, target: str, tokens: Redactor) -> str:
    new = _free(folder, _clean(name, tokens)) if _clean(name, tokens) != name else name
    if target and _clean(target, tokens) != target:
        os.unlink(name, dir_fd=folder)
        os.symlink(_clean(target, tokens), new, dir_fd=folder)
    elif new != name:
        os.rename(name, new, src_dir_fd=folder, dst_dir_fd=folder)
    return new


def _clean(text: str, tokens: Redactor) -> str:
    return os.fsdecode(tokens.strike(os.fsencode(text)))


def _free(folder: int, name: str) -> str:
    """Give a name that nothing here has, as like this one as can be."""
    name = os.fsdecode(os.fsencode(name.replace("/", "_"))[: LONGEST - 8])
    taken, number, free = set(os.listdir(folder)), 1, name
    while free in taken:
        number, free = number + 1, f"{name}~{number + 1}"
    return free


def _target(folder: int, name: str) -> str:
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError:
        return ""
