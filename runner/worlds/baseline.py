"""What a world holds at one moment, and how to look again without reading what nobody touched."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from runner.blobs import BlobStore
from runner.digests import sha256
from runner.paths import StrPath

from .aside import Aside, Seen
from .changes import Side
from .clock import GUARD, clock_of, times_can_be_trusted
from .copying import Copied
from .rules import Rules
from .tree import Entry, Tree
from .walk import TYPES, Fingerprint, Found, fingerprint, git_mode, listings, read_link, read_whole

NOWHERE: Fingerprint = (-1, -1, -1, -1, -1)


class State(NamedTuple):
    """One path at one moment."""

    fingerprint: Fingerprint
    type: str
    sha256: str | None = None
    target: str | None = None
    stored: bool = False

    def side(self, stored: bool | None = None) -> Side:
        size, mode = self.fingerprint[0], self.fingerprint[4]
        return Side(
            type=self.type,
            mode=git_mode(mode),
            size=size if self.type in ("file", "link") or (self.type == "unreadable" and stat.S_ISREG(mode)) else 0,
            sha256=self.sha256,
            stored=self.stored if stored is None else stored,
            target=self.target,
        )


States = Mapping[str, State]


@dataclass(frozen=True)
class Baseline:
    """A world as it was: what changes are measured against. `clock` is the file system's time when it was taken."""

    states: States
    clock: int
    trusted: bool
    source: StrPath | None = None
    """The template the world was copied from: it still has the bytes that a change replaced."""
    aside: Seen = field(default_factory=dict)
    """What the rules ignore."""

    def touched(self, after: Baseline) -> list[str]:
        """Name the paths that have another state afterwards, or none. What a closed directory hides is not gone."""
        hidden = tuple(path + "/" for path, state in after.states.items() if state.type == "unreadable")
        other = [path for path, state in after.states.items() if self.states.get(path) is not state]
        gone = [path for path in self.states if path not in after.states and not (hidden and path.startswith(hidden))]
        return other + gone

    def advanced(self, world: StrPath, blobs: BlobStore, rules: Rules) -> Baseline:
        """The world as it is now; only what was touched is read. The clock comes first: writers may be left."""
        clock, aside = clock_of(world), Aside()
        return Baseline(_look(world, self, blobs, rules, aside), clock, self.trusted, self.source, aside)

    def keep_before(self, path: str, blobs: BlobStore, limit: int) -> bool:
        """See to it that the bytes of a changed file, as they were, are a blob; False where that cannot be."""
        state = self.states[path]
        if state.type != "file" or state.sha256 is None or state.fingerprint[0] > limit:
            return False
        if state.stored or blobs.has(state.sha256):
            return True
        return self.source is not None and _store(f"{os.fspath(self.source)}/{path}", state.sha256, blobs)


def take_baseline(
    world: StrPath, template: Tree | None, blobs: BlobStore, rules: Rules, copied: Copied | None = None
) -> Baseline:
    """Take the world after setup. What `copied` left and nobody touched is not read: its sha256 stands in the template.

    What setup wrote is stored, so that the side before a change of it can be shown.
    """
    trusted, known = times_can_be_trusted(world), template.by_path if template else {}
    if (
        copied
        and copied.alone
        and known.keys() == copied.prints.keys()
        and not (template and rules.leave_out(template))
    ):
        return Baseline(_as_copied(known, copied.prints), clock_of(world), trusted, copied.source)
    surely, prints = copied.clock - GUARD if copied and trusted else 0, copied.prints if copied else {}
    states, aside = dict[str, State](), Aside()
    for prefix, folder, entries, closed in listings(world, rules, aside.see):
        for name, status in entries:
            path, now = prefix + name, fingerprint(status)
            entry = known.get(path)
            if entry and now[2] < surely and prints.get(path) == now:
                states[path] = State(now, entry.type, entry.sha256, None, entry.stored)
            else:
                of_template = State(NOWHERE, "file", entry.sha256, None, entry.stored) if entry else None
                found = Found(path, name, folder, status, closed)
                states[path] = examine(found, now, of_template, blobs, rules.max_bytes)
    return Baseline(states, clock_of(world), trusted, copied.source if copied else None, aside)


def _as_copied(known: Mapping[str, Entry], prints: Mapping[str, Fingerprint]) -> States:
    """What a world holds that nobody was in since its copy ended: that is known without a look at it."""
    return {path: State(prints[path], entry.type, entry.sha256, None, entry.stored) for path, entry in known.items()}


def _look(world: StrPath, known: Baseline, blobs: BlobStore, rules: Rules, aside: Aside) -> dict[str, State]:
    states: dict[str, State] = {}
    before, surely = known.states, known.clock - GUARD if known.trusted else 0
    for prefix, folder, entries, closed in listings(world, rules, aside.see):
        for name, status in entries:
            path, now = prefix + name, fingerprint(status)
            was = before.get(path)
            if was is not None and was[0] == now and now[2] < surely and not closed:
                states[path] = was
            else:
                states[path] = examine(Found(path, name, folder, status, closed), now, was, blobs, rules.max_bytes)
    return states


def examine(found: Found, now: Fingerprint, was: State | None, blobs: BlobStore, limit: int) -> State:
    kind = TYPES.get(stat.S_IFMT(now[4]), "device")
    if kind == "link":
        return State(now, kind, target=read_link(found))
    if kind != "file":
        return State(now, "unreadable" if found.closed else kind)
    read = read_whole(found, limit)
    if read is None:
        return State(now, "unreadable")
    digest, size, data = read
    if was is not None and was.sha256 == digest:
        return was if was.fingerprint == now else State(now, kind, digest, None, was.stored)
    if data is not None:
        blobs.put(data)
    return State((size, *now[1:]), kind, digest, None, data is not None)


def _store(file: StrPath, digest: str, blobs: BlobStore) -> bool:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as opened:
            data = opened.read()
    except OSError:
        return False
    return sha256(data) == digest and blobs.put(data) == digest
