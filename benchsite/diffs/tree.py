"""Changed files as a tree, in the order of their paths: chains of lone folders in one row, counts summed upwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

DEEPEST = 20
"""Folders below this one are told in their files' names: hostile paths can be a thousand folders deep."""
Count = tuple[int, int]


@dataclass(frozen=True)
class Node:
    """A row of the tree. `place` is the file's place in what was given, None for a folder."""

    name: str
    depth: int
    added: int
    deleted: int
    place: int | None = None


@dataclass
class _Folder:
    folders: dict[str, _Folder] = field(default_factory=dict)
    files: list[tuple[str, int]] = field(default_factory=list)

    def places(self) -> Iterator[int]:
        yield from (place for _, place in self.files)
        for folder in self.folders.values():
            yield from folder.places()


def order(path: str) -> list[str]:
    """The key that sorts paths as the tree lists them: name by name, so that a folder's files stay together."""
    return path.split("/")


def tree(paths: Sequence[str], counts: Sequence[Count]) -> tuple[Node, ...]:
    """Lay out paths, each with its (added, deleted) lines, from top to bottom."""
    root = _Folder()
    for place, path in enumerate(paths):
        folders, name = _parts(path)
        here = root
        for folder in folders:
            here = here.folders.setdefault(folder, _Folder())
        here.files.append((name, place))
    return tuple(_walk(root, 0, counts))


def _walk(folder: _Folder, depth: int, counts: Sequence[Count]) -> Iterator[Node]:
    below: list[tuple[list[str], _Folder | int]] = [(order(name), place) for name, place in folder.files]
    below += [([name], inner) for name, inner in folder.folders.items()]
    for (name, *deeper), one in sorted(below, key=lambda row: row[0]):
        if isinstance(one, int):
            yield Node("/".join([name, *deeper]), depth, *counts[one], one)
            continue
        while not one.files and len(one.folders) == 1:
            ((more, one),) = one.folders.items()
            name = f"{name}/{more}"
        yield Node(name, depth, *_sum(one, counts))
        yield from _walk(one, depth + 1, counts)


def _sum(folder: _Folder, counts: Sequence[Count]) -> Count:
    found = [counts[place] for place in folder.places()]
    return sum(added for added, _ in found), sum(deleted for _, deleted in found)


def _parts(path: str) -> tuple[list[str], str]:
    parts = path.split("/")
    cut = min(DEEPEST, len(parts) - 1)
    return parts[:cut], "/".join(parts[cut:])
