"""A trial's worlds: as it began, and as it was left, kept or rebuilt from template and changes; losses are named."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from benchsite.diffs.dangers import Pill, split_name
from benchsite.diffs.files import Changed, read_record
from runner.digests import digest as digest_of
from runner.errors import RunnerError
from runner.worlds.changes import Change, ChangeSet, Side
from runner.worlds.tree import Entry, Tree

from . import words
from .records import changes_of, tree_of
from .shelf import Shelf
from .trialhead import Seen

At = Literal["end", "start"]
SETUP = (
    "The bench has a setup: of what it wrote only those files are here that the agent changed; "
    "the rest of it was not recorded."
)
NO_SETUP = ("", digest_of(""))
"""The hash of a setup that is not there, as the runner writes it and as older runs left it out."""
LOST_SHOWN = 50


@dataclass(frozen=True)
class Lost:
    path: str
    why: str

    @property
    def name(self) -> list[str | Pill]:
        return split_name(self.path)


@dataclass(frozen=True)
class World:
    """All entries by path. `source` says how they came about; `gone` are files that were there at the start."""

    entries: dict[str, Entry]
    source: Literal["kept", "rebuilt", "start"]
    lost: tuple[Lost, ...] = ()
    notes: tuple[str, ...] = ()
    refused: str = ""

    @property
    def lost_shown(self) -> tuple[Lost, ...]:
        return self.lost[:LOST_SHOWN]

    @property
    def lost_more(self) -> int:
        return max(0, len(self.lost) - LOST_SHOWN)

    @property
    def files(self) -> int:
        return sum(entry.type != "dir" for entry in self.entries.values())

    @property
    def size(self) -> int:
        return sum(entry.size or 0 for entry in self.entries.values() if entry.type == "file")


def shelf_of(seen: Seen) -> Shelf:
    return Shelf([seen.trial.kept, seen.trial.changes, seen.run.version.template], seen.run.bench_id)


def world_of(seen: Seen, shelf: Shelf, at: At = "end") -> World:
    if at == "start":
        return _start(seen, shelf)
    if seen.trial.kept:
        tree, refused = record_of_world(shelf, seen.trial.kept)
        return World(whole(tree.entries) if tree else {}, "kept", refused=refused)
    return _rebuilt(seen, shelf)


def changed_of(seen: Seen, shelf: Shelf) -> dict[str, Changed]:
    """Give the agent's changes by path, for marks; a record that cannot be read marks nothing."""
    try:
        found = shelf.parsed(seen.trial.changes, read_record) if seen.trial.changes else None
    except RunnerError:
        return {}
    return {change.path: change for change in found or ()}


def entry_of(path: str, side: Any) -> Entry:
    return Entry(path, side.type, side.mode, side.size, side.sha256, side.target, side.stored)


def whole(entries: Iterable[Entry]) -> dict[str, Entry]:
    """Index entries by path and add the folders that only their files tell of."""
    found = {entry.path: entry for entry in entries}
    for path in list(found):
        while path := path.rpartition("/")[0]:
            if path not in found:
                found[path] = Entry(path, "dir", "040000")
    return found


def _start(seen: Seen, shelf: Shelf) -> World:
    """The template, and over it what setup had made of the files that the agent changed later."""
    template, refused = record_of_world(shelf, seen.run.version.template)
    if template is None:
        return World({}, "start", refused=f"The start world cannot be shown. {refused}")
    record, why = _record(seen, shelf)
    entries = {entry.path: entry for entry in template.entries}
    known = {change.path: change.before for change in record.changes} if record else {}
    entries.update({path: entry_of(path, side) for path, side in known.items() if side is not None})
    lost = tuple(_lost(path, side) for path, side in known.items() if side is not None and not _whole(side))
    notes = _about_setup(seen) + ((f"What setup changed is not in it. {why}",) if why and _about_setup(seen) else ())
    return World(whole(entries.values()), "start", lost, notes)


def _rebuilt(seen: Seen, shelf: Shelf) -> World:
    """Lay the agent's changes over the start world. What the record holds no bytes of is named, never guessed."""
    template, refused = record_of_world(shelf, seen.run.version.template)
    record, why = _record(seen, shelf)
    if template is None or record is None:
        return World({}, "rebuilt", refused=f"The workspace was not kept and cannot be rebuilt. {refused or why}")
    entries = {entry.path: entry for entry in template.entries if entry.path not in record.removed}
    for path in record.made:
        entries[path] = Entry(path, "dir", "040000")
    for change in record.changes:
        entries.pop(change.path, None)
        if change.after is not None:
            entries[change.path] = entry_of(change.path, change.after)
    lost = (*_not_rebuilt(record.changes), *(Lost(path, "the capture ignores it") for path in seen.ignored))
    return World(whole(entries.values()), "rebuilt", lost, _about_setup(seen))


def _not_rebuilt(changes: Iterable[Change]) -> Iterable[Lost]:
    for change in changes:
        if change.after is not None and not _whole(change.after):
            yield _lost(change.path, change.after)


def _whole(side: Side) -> bool:
    """Tell whether the record can give this side back."""
    return side.type in ("link", "dir") or (side.type == "file" and side.stored)


def _lost(path: str, side: Side) -> Lost:
    if side.type == "file":
        return Lost(path, f"its {words.size(side.size)} were too large to be stored")
    return Lost(path, "it could not be read" if side.type == "unreadable" else f"it is a {noun(side.type)}")


def noun(type: str) -> str:
    return {"fifo": "named pipe", "unreadable": "file that could not be read", "link": "symbolic link"}.get(type, type)


def _about_setup(seen: Seen) -> tuple[str, ...]:
    return () if seen.run.version.hashes.get("setup", "") in NO_SETUP else (SETUP,)


def _record(seen: Seen, shelf: Shelf) -> tuple[ChangeSet | None, str]:
    digest = seen.trial.changes
    if not digest:
        return None, "No change record was written for this trial."
    try:
        return shelf.parsed(digest, changes_of), shelf.why.get(digest, "")
    except RunnerError as error:
        return None, str(error)


def record_of_world(shelf: Shelf, digest: str) -> tuple[Tree | None, str]:
    """Read the record of a world; without it, say why it is not here."""
    if not digest:
        return None, "The run carries no record of the start world."
    try:
        found = shelf.parsed(digest, tree_of)
    except RunnerError as error:
        return None, str(error)
    return found, "" if found is not None else shelf.why.get(digest, "The tree's record is not here.")
