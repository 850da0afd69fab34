"""What a capture ignores: whether an agent touched it is worth knowing, since the record cannot give it back."""

from __future__ import annotations

import os
import stat
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from runner.digests import sha256
from runner.errors import RunnerError
from runner.paths import check_relative, join_within
from runner.processes import output_of

from .places import remove_tree
from .rules import Rules
from .walk import below, enter

CACHES = ("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".coverage")
"""What programs write for themselves alone, wherever they run; nobody grades it (docs/decisions/0011)."""
BUILT = ("/node_modules/.cache/", "/node_modules/.vite/", "/node_modules/.vite-temp/")
_KNOWN = Rules(CACHES, 0)
NAMED = 100
"""More paths than that below one ignored folder are told as that folder."""
MOST, MOST_TEXT = 1000, 100_000
"""More names than that, or longer ones together, are told as the whole world: a line of a journal has an end."""
WHOLE = "."
Seen = Mapping[str, int]


class Aside(dict[str, int]):
    """Every ignored path but caches, with what a write to it changes: a file's ctime in ns, nothing for a folder, of
    which it is enough that it is there. What is in a folder stands for itself."""

    def see(self, folder: int, prefix: str, name: str) -> None:
        """Take an ignored entry of an open directory, and all below it."""
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return  # removed under our hands by a process the agent left
        self._note(folder, prefix, name, status)
        if stat.S_ISDIR(status.st_mode) and not is_cache(prefix, name):
            self._below(folder, prefix, name)

    def _below(self, folder: int, prefix: str, name: str) -> None:
        inner = enter(folder, name)
        if inner is None:
            return
        try:
            for above, descriptor, entries, _ in below(inner, f"{prefix}{name}/", _KNOWN, prefix.count("/") + 1):
                for one, status in entries:
                    self._note(descriptor, above, one, status)
        finally:
            os.close(inner)

    def _note(self, folder: int, prefix: str, name: str, status: os.stat_result) -> None:
        if is_cache(prefix, name):
            return
        if stat.S_ISDIR(status.st_mode):
            self[prefix + name] = 0
        elif name == "index" and prefix.endswith(".git/"):
            self[prefix + name] = _staged(name, folder)
        else:
            self[prefix + name] = status.st_ctime_ns


class Layer(Aside):
    """As an upper layer tells it: `tops` are the ignored paths of the template, of which no more than that is known.
    A folder counts where the template has none at that path, or where it `hides` the one there."""

    def __init__(self, world: Path, lower: Path, tops: Iterable[str], hides: Callable[[int], bool]) -> None:
        found = (top for top in tops if not is_cache("", top) and _kind(world / top) == _kind(lower / top))
        super().__init__(dict.fromkeys(found, 0))
        self._lower, self._hides = lower, hides

    def see_instead(self, folder: int, prefix: str, name: str) -> None:
        """Take an entry of a folder that hides the template's, as the world shows it."""
        self.see(folder, prefix, name)
        if self.get(prefix + name) == 0:
            self[prefix + name] = 1

    def _note(self, folder: int, prefix: str, name: str, status: os.stat_result) -> None:
        lies_over = stat.S_ISDIR(status.st_mode) and (self._lower / prefix / name).is_dir()
        if not lies_over:
            super()._note(folder, prefix, name, status)
        elif not is_cache(prefix, name) and (inner := enter(folder, name)) is not None:
            try:
                if self._hides(inner):
                    self[prefix + name] = 1
            finally:
                os.close(inner)


def _kind(path: Path) -> int | None:
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except OSError:
        return None


def is_cache(prefix: str, name: str) -> bool:
    """Is this what a program wrote for itself, or a folder of such? Nobody asks about what is in that."""
    if name.rpartition("/")[2] in _KNOWN.names or name.endswith(".pyc"):
        return True
    path = f"{prefix}{name}"
    return "node_modules/." in path and any(part in f"/{path}/" for part in BUILT)


def _staged(name: str, folder: int) -> int:
    """A number for what git has staged: `git status` writes the index anew with other times, which changes nothing."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read()
    except OSError:
        return -1
    try:
        entries = _entries(data)
    except (struct.error, ValueError):
        entries = data
    return int(sha256(entries)[:15], 16)


def _entries(data: bytes) -> bytes:
    """Mode, object, flags and name of each entry of an index, without times; of a format not known here, all of it."""
    magic, version, count = struct.unpack_from(">4sLL", data)
    if magic != b"DIRC" or version not in (2, 3):
        return data
    parts, at = [], 12
    for _ in range(count):
        extended = 2 if version == 3 and data[at + 60] & 0x40 else 0
        end = data.index(b"\0", at + 62 + extended)
        parts += [data[at + 24 : at + 28], data[at + 40 : end], b"\0"]
        at += (end - at + 8) // 8 * 8
    return b"".join(parts)


def touched(before: Seen, after: Seen, rules: Rules) -> tuple[str, ...]:
    """Name what was made, written to or removed; a folder that came or went stands for all that was in it."""
    names = list[str]()
    paths = (path for path in {**before, **after} if before.get(path) != after.get(path))
    for path in sorted(paths, key=lambda path: path.split("/")):
        if not names or not path.startswith(f"{names[-1]}/"):
            names.append(path)
    return names_of(names, rules)


def names_of(names: list[str], rules: Rules) -> tuple[str, ...]:
    """Cut a long list short: by ignored folders, then by the world itself."""
    if len(names) > NAMED:
        tops = [_top(name, rules) for name in names]
        count = Counter(tops)
        names = list(dict.fromkeys(t if count[t] > NAMED else name for t, name in zip(tops, names, strict=True)))
    return tuple(names) if len(names) <= MOST and sum(map(len, names)) <= MOST_TEXT else (WHOLE,)


def _top(name: str, rules: Rules) -> str:
    parts = name.split("/")
    above = ("/".join(parts[:end]) for end in range(1, len(parts)))
    return next((path for path in above if rules.ignored(path, is_dir=True)), name)


def told(names: Iterable[str]) -> list[str]:
    """Say of ignored paths why they are missing."""
    return [f"{shown(name)}: the capture ignores it" for name in names]


def shown(name: str) -> str:
    return "more paths than can be named" if name == WHOLE else name


def bring_back(names: Iterable[str], kept: Path, world: Path) -> None:
    """Make ignored paths what they are in a kept world: copied whole, or gone where that has none."""
    for name in names:
        for one in sorted({*os.listdir(kept), *os.listdir(world)}) if name == WHOLE else (name,):  # noqa: PTH208
            _bring_back(one, kept, world)


def _bring_back(name: str, kept: Path, world: Path) -> None:
    above, _, last = check_relative(name).rpartition("/")
    source, target = ((join_within(root, above) if above else root) / last for root in (kept, world))
    if os.path.lexists(target):
        remove_tree(target) if target.is_dir() and not target.is_symlink() else target.unlink()
    if not os.path.lexists(source):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    env = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    done, said = output_of(["cp", "-a", "--", str(source), str(target)], cwd=world, env=env, timeout=3600)
    if not done.ok:
        raise RunnerError(f"{name} could not be copied from the kept world: {said.strip()[-300:]}")
