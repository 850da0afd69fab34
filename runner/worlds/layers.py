"""A world that lies over its template: what changed is read from the upper layer, whatever the template's size.

The upper layer says what was touched; whether anything changed is decided by content, as for a copy."""

from __future__ import annotations

import os
import stat
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runner.blobs import BlobStore
from runner.paths import StrPath

from .aside import Layer
from .baseline import Baseline, State, examine
from .clock import GUARD, clock_of, times_can_be_trusted
from .mounting import MARKS, UPPER
from .rules import Rules
from .tree import Tree
from .walk import MAX_DEPTH, Found, below, enter, fingerprint, too_long

WHITEOUT = 0
"""The device number of what stands in the upper layer for a path that was removed."""


class Lower:
    """The template as states, without what the rules ignore; made once and shared by all trials."""

    def __init__(self, root: Path, template: Tree, rules: Rules) -> None:
        self.root, self.aside = root, list[str]()
        """`aside` names what of it the rules ignore, topmost paths alone."""
        self.states = dict(_states(template, rules, self.aside))
        self._order = sorted(self.states)

    def below(self, path: str) -> list[str]:
        """Name everything below a directory. "0" is the character after "/"."""
        return self._order[bisect_left(self._order, f"{path}/") : bisect_left(self._order, f"{path}0")]

    def is_folder(self, path: str) -> bool:
        state = self.states.get(path)
        return state is not None and state.type == "dir"


def _states(template: Tree, rules: Rules, aside: list[str]) -> Iterator[tuple[str, State]]:
    ignored: set[str] = set()
    for entry in template.entries:  # a directory comes before what is in it
        path, is_folder = entry.path, entry.type == "dir"
        within = path.rpartition("/")[0] in ignored
        if within or rules.ignored(path, is_folder):
            if is_folder:
                ignored.add(path)
            if not within:
                aside.append(path)
            continue
        status = (entry.size, -1, -1, -1, int(entry.mode, 8))
        yield path, State(status, entry.type, entry.sha256, entry.target, entry.stored)


class Layered(Mapping[str, State]):
    """The states of a world: those of the template, but for what stands in `over` (None: the path is gone)."""

    def __init__(self, lower: Mapping[str, State], over: Mapping[str, State | None]) -> None:
        self.lower, self.over = lower, over

    def __getitem__(self, path: str) -> State:
        state = self.over[path] if path in self.over else self.lower[path]
        if state is None:
            raise KeyError(path)
        return state

    def __iter__(self) -> Iterator[str]:
        yield from (path for path in self.lower if path not in self.over)
        yield from (path for path, state in self.over.items() if state is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True)
class LayeredBaseline(Baseline):
    """As a baseline of a copy; what nobody touched is never looked at."""

    lower: Lower = field(kw_only=True)
    layers: Path = field(kw_only=True)
    marks: str = field(kw_only=True)
    over: Mapping[str, State | None] = field(kw_only=True, default_factory=dict)

    @classmethod
    def taken(cls, world: Path, lower: Lower, layers: Path, style: str, blobs: BlobStore, rules: Rules) -> Baseline:
        """Take the world after setup: what setup wrote lies in the upper layer already."""
        trusted = times_can_be_trusted(layers)
        start = cls({}, 0, trusted, lower.root, lower=lower, layers=layers, marks=MARKS[style])
        return start.advanced(world, blobs, rules)

    def touched(self, after: Baseline) -> list[str]:
        assert isinstance(after, LayeredBaseline)
        closed = tuple(f"{path}/" for path, state in after.over.items() if state and state.type == "unreadable")
        paths = {**self.over, **after.over}
        other = [path for path in paths if self.states.get(path) is not after.states.get(path)]
        return [path for path in other if not (closed and path.startswith(closed))]

    def advanced(self, world: StrPath, blobs: BlobStore, rules: Rules) -> Baseline:
        clock = clock_of(self.layers)
        look = _Look(Path(world), self, blobs, rules)
        return LayeredBaseline(
            Layered(self.lower.states, look.over), clock, self.trusted, self.source, look.aside,
            lower=self.lower, layers=self.layers, marks=self.marks, over=look.over,
        )  # fmt: skip


class _Look:
    """One look at an upper layer. `over` is what it found."""

    def __init__(self, world: Path, known: LayeredBaseline, blobs: BlobStore, rules: Rules) -> None:
        self.world, self.lower, self.marks = world, known.lower, known.marks
        self.known, self.surely = known.over, known.clock - GUARD if known.trusted else 0
        self.blobs, self.rules = blobs, rules
        self.over: dict[str, State | None] = {}
        self.aside = Layer(world, self.lower.root, self.lower.aside, self._marked)
        upper = os.open(known.layers / UPPER, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            self._look(upper, "", 0)
        finally:
            os.close(upper)

    def _look(self, folder: int, prefix: str, depth: int) -> None:
        for name, status in _entries(folder):
            path, is_folder = prefix + name, stat.S_ISDIR(status.st_mode)
            if self.rules.ignored(path, is_folder):
                self._remove(path)
                self.aside.see(folder, prefix, name)
            elif stat.S_ISCHR(status.st_mode) and status.st_rdev == WHITEOUT:
                self._remove(path)
            elif is_folder:
                self._folder(Found(path, name, folder, status), depth + 1)
            else:
                self._hide(path)
                self._note(Found(path, name, folder, status))

    def _folder(self, found: Found, depth: int) -> None:
        """A directory of both layers is read from the upper one. Any other (new, renamed, made again) is read whole,
        as the kernel shows it: it may show files of the template in another place."""
        inner = enter(found.folder, found.name) if depth <= MAX_DEPTH and not too_long(found.path) else None
        if inner is None:
            self._hide(found.path)
            self._note(found._replace(closed=True))
            return
        try:
            self._note(found)
            if self.lower.is_folder(found.path) and not self._marked(inner):
                self._look(inner, f"{found.path}/", depth)
            else:
                self._hide(found.path)
                self._read_whole(found.path, depth)
        finally:
            os.close(inner)

    def _marked(self, folder: int) -> bool:
        return any(_has_mark(folder, self.marks + name) for name in ("opaque", "redirect"))

    def _read_whole(self, path: str, depth: int) -> None:
        folder = _open_below(self.world, path)
        if folder is None:
            return  # removed under our hands
        try:
            for prefix, inner, entries, closed in below(folder, f"{path}/", self.rules, depth, self.aside.see_instead):
                for name, status in entries:
                    self._note(Found(prefix + name, name, inner, status, closed))
        finally:
            os.close(folder)

    def _note(self, found: Found) -> None:
        now, was = fingerprint(found.stat), self.known.get(found.path)
        if was is None or was[0] != now or now[2] >= self.surely or found.closed:
            was = examine(found, now, was or self.lower.states.get(found.path), self.blobs, self.rules.max_bytes)
        self.over[found.path] = was

    def _remove(self, path: str) -> None:
        if path in self.lower.states:
            self.over[path] = None
            self._hide(path)

    def _hide(self, path: str) -> None:
        """What the template has below a path can't be seen any more."""
        if self.lower.is_folder(path):
            self.over.update(dict.fromkeys(self.lower.below(path)))


def _entries(folder: int) -> list[tuple[str, os.stat_result]]:
    entries = []
    with os.scandir(folder) as found:
        for entry in found:
            try:
                entries.append((entry.name, entry.stat(follow_symlinks=False)))
            except FileNotFoundError:
                continue  # removed under our hands by a process the agent left
    return entries


def _has_mark(folder: int, name: str) -> bool:
    try:
        return bool(os.getxattr(folder, name))
    except OSError:
        return False


def _open_below(world: Path, path: str) -> int | None:
    """Open a directory of the world, never through a link."""
    folder: int | None = os.open(world, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for name in path.split("/"):
        assert folder is not None
        inner = enter(folder, name)
        os.close(folder)
        folder = inner
        if folder is None:
            break
    return folder
