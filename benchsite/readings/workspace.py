"""The world a trial left: the kept one, or one rebuilt from template and changes, which names what is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from benchsite.diffs.dangers import Pill, split_name
from benchsite.diffs.facts import Fact
from benchsite.diffs.files import LETTERS, Changed, read_record
from runner.errors import RunnerError
from runner.worlds.tree import Entry, Tree

from . import words
from .address import from_address, to_address
from .artifact import Raw
from .preview import Preview, preview
from .records import changes_of, tree_of
from .shelf import Shelf, diff_cache
from .trialhead import Head, find

ROWS = 2_000
"""Entries of one listing; a folder that holds more says how many are left out."""
ORDER = {"dir": 0}


@dataclass(frozen=True)
class World:
    """All entries by path. `rebuilt`: this is no kept workspace; `lost` are paths that could not be rebuilt."""

    entries: dict[str, Entry]
    rebuilt: bool = False
    lost: tuple[str, ...] = ()
    refused: str = ""


@dataclass(frozen=True)
class Item:
    """One line of the tree. `letter` is a change's status; folders count the changes below them."""

    entry: Entry
    depth: int
    address: str
    letter: str
    changes: int
    open: bool
    here: bool

    @property
    def name(self) -> list[str | Pill]:
        return split_name(self.entry.path.rsplit("/", 1)[-1])

    @property
    def path_parts(self) -> list[str | Pill]:
        return split_name(self.entry.path)

    @property
    def target(self) -> list[str | Pill]:
        return split_name(self.entry.target or "")


@dataclass(frozen=True)
class Browser:
    """`chosen` is the entry asked for (None: the root); `crumbs` are (name, address) of it and its parents."""

    head: Head
    world: World
    items: tuple[Item, ...]
    left_out: int
    chosen: Entry | None
    crumbs: tuple[tuple[list[str | Pill], str], ...]
    preview: Preview | None
    listing: tuple[Item, ...]
    address: str
    deleted: tuple[Item, ...]
    letter: str
    files: int
    size: int

    @property
    def link_target(self) -> list[str | Pill]:
        return split_name((self.chosen.target if self.chosen else "") or "")

    @property
    def lost(self) -> list[list[str | Pill]]:
        return [split_name(path) for path in self.world.lost[:50]]


def browse(user: Any, ulid: str, index: int, address: str) -> Browser | None:
    head = find(user, ulid, index)
    path = from_address(address) if address else ""
    if head is None or path is None:
        return None
    shelf = Shelf([head.trial.kept, head.trial.changes, head.run.version.template], head.run.bench_id)
    world = _world(head, shelf)
    if path and path not in world.entries:
        return None
    changed = _changed(head, shelf)
    chosen = world.entries.get(path) if path else None
    items = _tree(world, changed, path)
    listing = [item for item in items if item.entry.path.rpartition("/")[0] == path] if not _is_file(chosen) else []
    return Browser(
        head=head,
        world=world,
        items=tuple(items[:ROWS]),
        left_out=max(0, len(items) - ROWS),
        chosen=chosen,
        crumbs=_crumbs(path),
        preview=_preview(shelf, chosen),
        listing=tuple(listing[:ROWS]),
        address=address,
        deleted=tuple(_deleted(changed)) if not path else (),
        letter=_letter(changed, path),
        files=sum(entry.type != "dir" for entry in world.entries.values()),
        size=sum(entry.size or 0 for entry in world.entries.values() if entry.type == "file"),
    )


def raw_file(user: Any, ulid: str, index: int, address: str) -> Raw | None:
    head = find(user, ulid, index)
    path = from_address(address)
    if head is None or path is None:
        return None
    shelf = Shelf([head.trial.kept, head.trial.changes, head.run.version.template], head.run.bench_id)
    entry = _world(head, shelf).entries.get(path)
    if entry is None or entry.type != "file" or not entry.sha256 or not entry.stored:
        return None
    file = shelf.open(entry.sha256)
    return Raw.of(file, path.rsplit("/", 1)[-1]) if file else None


def _world(head: Head, shelf: Shelf) -> World:
    if head.trial.kept:
        tree, refused = _tree_of(shelf, head.trial.kept)
        return World(_whole(tree.entries) if tree else {}, refused=refused)
    return _rebuilt(head, shelf)


def _rebuilt(head: Head, shelf: Shelf) -> World:
    """Lay the agent's changes over the start world. What the record holds no bytes of is named, never guessed."""
    template, refused = _tree_of(shelf, head.run.version.template)
    value = shelf.json(head.trial.changes) if head.trial.changes else None
    if template is None or value is None:
        why = refused or shelf.why.get(head.trial.changes, "") or "No change record was written for this trial."
        return World({}, True, refused=f"The workspace was not kept and cannot be rebuilt. {why}")
    try:
        record = changes_of(value)
    except RunnerError as error:
        return World({}, True, refused=f"The workspace was not kept and cannot be rebuilt. {error}")
    entries = {entry.path: entry for entry in template.entries if entry.path not in record.removed}
    for path in record.made:
        entries[path] = Entry(path, "dir", "040000")
    for change in record.changes:
        entries.pop(change.path, None)
        if change.after is not None:
            side = change.after
            entries[change.path] = Entry(
                change.path, side.type, side.mode, side.size, side.sha256, side.target, side.stored
            )
    return World(_whole(entries.values()), True, tuple(record.incomplete()))


def _tree_of(shelf: Shelf, digest: str) -> tuple[Tree | None, str]:
    if not digest:
        return None, "The run carries no record of the start world."
    value = shelf.json(digest)
    if value is None:
        return None, shelf.why.get(digest, "The tree's record is not here.")
    try:
        return tree_of(value), ""
    except RunnerError as error:
        return None, str(error)


def _whole(entries: Iterable[Entry]) -> dict[str, Entry]:
    """Index entries by path and add the folders that only their files tell of."""
    found = {entry.path: entry for entry in entries}
    for path in list(found):
        while path := path.rpartition("/")[0]:
            if path not in found:
                found[path] = Entry(path, "dir", "040000")
    return found


def _changed(head: Head, shelf: Shelf) -> dict[str, Changed]:
    value = shelf.json(head.trial.changes) if head.trial.changes else None
    try:
        return {change.path: change for change in read_record(value)} if value is not None else {}
    except RunnerError:
        return {}


def _tree(world: World, changed: dict[str, Changed], path: str) -> list[Item]:
    """List the root and every folder on the way to `path`, each with what is directly in it."""
    open_folders = {""}
    for end, char in enumerate(path):
        if char == "/":
            open_folders.add(path[:end])
    if path and path in world.entries and world.entries[path].type == "dir":
        open_folders.add(path)
    below: Counter[str] = Counter(folder for name in changed for folder in _parents(name))
    children: dict[str, list[Entry]] = {}
    for entry in world.entries.values():
        parent = entry.path.rpartition("/")[0]
        if parent in open_folders:
            children.setdefault(parent, []).append(entry)
    return list(_walk("", children, open_folders, changed, below, path))


def _walk(
    folder: str,
    children: dict[str, list[Entry]],
    open_folders: set[str],
    changed: dict[str, Changed],
    below: Counter[str],
    path: str,
) -> Iterable[Item]:
    for entry in sorted(children.get(folder, []), key=lambda e: (ORDER.get(e.type, 1), e.path)):
        shown = entry.type == "dir" and entry.path in open_folders
        yield Item(
            entry=entry,
            depth=min(entry.path.count("/"), 12),
            address=to_address(entry.path),
            letter=_letter(changed, entry.path),
            changes=below[entry.path],
            open=shown,
            here=entry.path == path,
        )
        if shown:
            yield from _walk(entry.path, children, open_folders, changed, below, path)


def _parents(path: str) -> Iterable[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _letter(changed: dict[str, Changed], path: str) -> str:
    return LETTERS[changed[path].status] if path in changed else ""


def _deleted(changed: dict[str, Changed]) -> Iterable[Item]:
    for change in changed.values():
        if change.status == "deleted" and change.before:
            side = change.before
            entry = Entry(change.path, side.type, side.mode, side.size, side.sha256, side.target, side.stored)
            yield Item(entry, 0, to_address(change.path), "D", 0, False, False)


def _crumbs(path: str) -> tuple[tuple[list[str | Pill], str], ...]:
    parts = path.split("/") if path else []
    return tuple((split_name(part), to_address("/".join(parts[: n + 1]))) for n, part in enumerate(parts))


def _is_file(entry: Entry | None) -> bool:
    return entry is not None and entry.type != "dir"


def _preview(shelf: Shelf, entry: Entry | None) -> Preview | None:
    """Look into a file; anything that is none is shown as what it is."""
    if entry is None or entry.type == "dir":
        return None
    if entry.type == "link":
        return Preview("none", (Fact("warn", "A symbolic link. It is shown, never followed."),))
    if entry.type != "file":
        nouns = {"fifo": "named pipe", "unreadable": "file that could not be read"}
        return Preview("none", (Fact("warn", f"A {nouns.get(entry.type, entry.type)}: there is no content to show."),))
    if not entry.stored or not entry.sha256:
        if entry.size == 0:
            return Preview("empty", (Fact("info", "The file is empty."),))
        return Preview("none", (Fact("warn", f"Its {words.size(entry.size)} were too large to be stored."),))
    return preview(shelf, entry.sha256, entry.size, entry.path, diff_cache())
