"""Putting collected paths back, at the same place in another environment: everything is proven before a byte is
written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from runner.blobs import BlobStore
from runner.collected import RESTORABLE, Collected, tree_of
from runner.environments.base import Session
from runner.errors import RunnerError
from runner.worlds.tree import Tree


def restore(entries: Iterable[Collected], session: Session, blobs: BlobStore, scratch: Path) -> None:
    """Restore what was collected, parents before what lies below them; RunnerError says what cannot be, and then
    nothing was written."""
    proven = _proven(entries, blobs)
    for entry, _ in proven:
        session.get(entry.path, scratch / "reach", 0)  # raises for a path that this environment has no place for
    for number, (entry, tree) in enumerate(proven):
        folder = scratch / f"{number}"
        _write(folder, tree, blobs)
        session.put(folder if entry.kind == "dir" else folder / tree.entries[0].path, entry.path)


def _proven(entries: Iterable[Collected], blobs: BlobStore) -> list[tuple[Collected, Tree]]:
    found = []
    for entry in sorted(entries, key=lambda entry: entry.path):
        if entry.status not in RESTORABLE:
            raise RunnerError(f"{entry.path} was not collected whole ({entry.status})")
        if entry.status == "collected":
            found.append((entry, tree_of(entry, blobs)))
    return found


def _write(folder: Path, tree: Tree, blobs: BlobStore) -> None:
    """Paths were checked to be relative when the tree was read. Links come last: nothing is written through one."""
    folder.mkdir(parents=True)
    for entry in sorted(tree.entries, key=lambda entry: (entry.type == "link", entry.path)):
        path = folder / entry.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if entry.type == "dir":
            path.mkdir(exist_ok=True)
        elif entry.type == "link" and entry.target is not None:
            path.symlink_to(entry.target)
        elif entry.sha256:
            path.write_bytes(blobs.read(entry.sha256))
            path.chmod(0o755 if entry.mode == "100755" else 0o644)
