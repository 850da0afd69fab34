"""The workspace browser: the tree with status marks, one file or folder of it, and what became of that file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchsite.diffs.dangers import Pill, split_name
from benchsite.diffs.facts import Fact
from benchsite.diffs.files import LETTERS, Changed
from runner.worlds.tree import Entry

from . import words
from .address import from_address, to_address
from .artifact import Raw
from .filehistory import State, history
from .preview import Preview, preview
from .shelf import Shelf, diff_cache
from .trialhead import Head, find
from .worldfind import Found, Search, search
from .worlds import At, World, changed_of, entry_of, noun, shelf_of, world_of

ROWS = 2_000
"""Entries of one listing; a folder that holds more says how many are left out."""
ORDER = {"dir": 0}


@dataclass(frozen=True)
class Item:
    """One line of the tree. `letter` is a change's status; folders count the changes below them.

    `gone`: the agent deleted it; it can be seen in the start world.
    """

    entry: Entry
    depth: int
    address: str
    letter: str
    changes: int
    open: bool
    here: bool
    gone: bool = False

    @property
    def name(self) -> list[str | Pill]:
        return split_name(self.entry.path.rsplit("/", 1)[-1])

    @property
    def path_parts(self) -> list[str | Pill]:
        return split_name(self.entry.path)

    @property
    def target(self) -> list[str | Pill]:
        return split_name(self.entry.target or "")

    @property
    def icon(self) -> str:
        return {"dir": "folder", "link": "link"}.get(self.entry.type, "file")

    @property
    def noun(self) -> str:
        """Name what is no file, folder or link."""
        return "" if self.entry.type in ("file", "dir", "link") else noun(self.entry.type)


@dataclass(frozen=True)
class Browser:
    """`chosen` is the entry asked for (None: the root); `crumbs` are (name, address) of it and its parents."""

    head: Head
    at: At
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
    history: tuple[State, ...] = ()
    search: Search | None = None
    found: Found | None = None
    withheld: bool = False

    @property
    def link_target(self) -> list[str | Pill]:
        return split_name((self.chosen.target if self.chosen else "") or "")

    @property
    def in_folder(self) -> bool:
        return self.chosen is None or self.chosen.type == "dir"


def browse(
    user: Any, ulid: str, index: int, address: str, at: At = "end", asked: Search | None = None
) -> Browser | None:
    head = find(user, ulid, index)
    path = from_address(address) if address else ""
    if head is None or path is None:
        return None
    shelf = shelf_of(head)
    world, changed = world_of(head, shelf, at), changed_of(head, shelf)
    if path and path not in world.entries:
        return None
    chosen = world.entries.get(path) if path else None
    gone = {c.path: entry_of(c.path, c.before) for c in changed.values() if at == "end" and c.status == "deleted"}
    items = _tree({**gone, **world.entries}, changed, path, gone.keys() - world.entries.keys())
    folder = chosen is None or chosen.type == "dir"
    shown = _preview(shelf, chosen)
    listing = [item for item in items if item.entry.path.rpartition("/")[0] == path] if folder else []
    return Browser(
        head=head,
        at=at,
        world=world,
        items=tuple(items[:ROWS]),
        left_out=max(0, len(items) - ROWS),
        chosen=chosen,
        crumbs=_crumbs(path),
        preview=shown,
        listing=tuple(listing[:ROWS]),
        address=address,
        deleted=tuple(_item(entry, changed, gone=True) for entry in gone.values()) if not path else (),
        letter=_letter(changed, path),
        history=history(head, shelf, path) if chosen and not folder else (),
        withheld=chosen is not None and chosen.sha256 in shelf.why,
        search=asked,
        found=search(world, shelf, asked) if asked and not world.refused else None,
    )


def raw_file(user: Any, ulid: str, index: int, address: str, at: At = "end") -> Raw | None:
    head = find(user, ulid, index)
    path = from_address(address)
    if head is None or path is None:
        return None
    shelf = shelf_of(head)
    entry = world_of(head, shelf, at).entries.get(path)
    if entry is None or entry.type != "file" or not entry.sha256 or not entry.stored:
        return None
    file = shelf.open(entry.sha256)
    return Raw.of(file, path.rsplit("/", 1)[-1]) if file else None


def _tree(entries: Mapping[str, Entry], changed: Mapping[str, Changed], path: str, gone: Any) -> list[Item]:
    """List the root and every folder on the way to `path`, each with what is directly in it."""
    open_folders = {""}
    for end, char in enumerate(path):
        if char == "/":
            open_folders.add(path[:end])
    if path and entries[path].type == "dir":
        open_folders.add(path)
    below: Counter[str] = Counter(folder for name in changed for folder in _parents(name))
    children: dict[str, list[Entry]] = {}
    for entry in entries.values():
        parent = entry.path.rpartition("/")[0]
        if parent in open_folders:
            children.setdefault(parent, []).append(entry)

    def walk(folder: str) -> Iterable[Item]:
        for entry in sorted(children.get(folder, []), key=lambda e: (ORDER.get(e.type, 1), e.path)):
            shown = entry.type == "dir" and entry.path in open_folders
            here = entry.path == path
            many = below[entry.path]
            yield _item(entry, changed, gone=entry.path in gone, below=many, shown=shown, here=here)
            if shown:
                yield from walk(entry.path)

    return list(walk(""))


def _item(
    entry: Entry, changed: Mapping[str, Changed], *, gone: bool, below: int = 0, shown: bool = False, here: bool = False
) -> Item:
    depth = min(entry.path.count("/"), 12)
    letter = "D" if gone else _letter(changed, entry.path)
    return Item(entry, depth, to_address(entry.path), letter, below, shown, here, gone)


def _parents(path: str) -> Iterable[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _letter(changed: Mapping[str, Changed], path: str) -> str:
    return LETTERS[changed[path].status] if path in changed else ""


def _crumbs(path: str) -> tuple[tuple[list[str | Pill], str], ...]:
    parts = path.split("/") if path else []
    return tuple((split_name(part), to_address("/".join(parts[: n + 1]))) for n, part in enumerate(parts))


def _preview(shelf: Shelf, entry: Entry | None) -> Preview | None:
    """Look into a file; anything that is none is shown as what it is."""
    if entry is None or entry.type == "dir":
        return None
    if entry.type == "link":
        return Preview("none", (Fact("warn", "A symbolic link. It is shown, never followed."),))
    if entry.type != "file":
        return Preview("none", (Fact("warn", f"A {noun(entry.type)}: there is no content to show."),))
    if not entry.stored or not entry.sha256:
        if entry.size == 0:
            return Preview("empty", (Fact("info", "The file is empty."),))
        return Preview("none", (Fact("warn", f"Its {words.size(entry.size)} were too large to be stored."),))
    return preview(shelf, entry.sha256, entry.size, entry.path, diff_cache())
