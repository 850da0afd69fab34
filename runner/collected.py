"""What became of each declared path: the manifest of one collection, and the proof that its bytes are still those."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from .blobs import BlobStore, is_digest
from .digests import sha256
from .errors import RunnerError

if TYPE_CHECKING:
    from .worlds.tree import Entry, Tree

Status = Literal["collected", "missing", "excluded", "failed", "not_collected"]
STATUSES: dict[str, str] = {
    "collected": "It was carried out and stored.",
    "missing": "Nothing was there; what that means is the verifier's business.",
    "excluded": "All that was there is left out by its exclude rules.",
    "failed": "It could not be carried out, so the trial was not graded.",
    "not_collected": "Something before it had failed.",
}
RESTORABLE = frozenset({"collected", "missing", "excluded"})


@dataclass(frozen=True)
class Collected:
    """One declared path. `tree` is the blob (benchsite/tree/1) that names the sha256 of each file below it; of a single
    file it has that file alone, by its name."""

    path: str
    status: Status
    kind: str = ""
    files: int = 0
    size: int = 0
    tree: str | None = None
    exclude: tuple[str, ...] = ()
    reason: str = ""

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Collected:
        """Read an entry; ValueError for what is none."""
        if row.get("status") not in STATUSES:
            raise ValueError(f"{str(row.get('status'))[:40]!r} is none of {', '.join(STATUSES)}")
        tree = row.get("tree")
        if tree is not None and not (isinstance(tree, str) and is_digest(tree)):
            raise ValueError(f"{str(tree)[:80]!r} stands where a sha256 digest should")
        return cls(
            path=str(row["path"]),
            status=cast(Status, row["status"]),
            kind=str(row.get("kind") or ""),
            files=int(row.get("files") or 0),
            size=int(row.get("size") or 0),
            tree=tree,
            exclude=tuple(str(rule) for rule in row.get("exclude") or ()),
            reason=str(row.get("reason") or ""),
        )

    def to_json(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if value not in ("", 0, None, ())}


def tree_of(entry: Collected, blobs: BlobStore) -> Tree:
    """Read what an entry names and prove it: the tree and each file behind it still have the digest they are named by.
    RunnerError says what has not."""
    from .worlds.tree import Tree

    assert entry.tree is not None
    tree = Tree.from_json(json.loads(proven(blobs, entry.tree, f"the list of files of {entry.path}")))
    for file in _files(tree):
        proven(blobs, file.sha256 or "", f"{entry.path} ({file.path})")
    return tree


def proven(blobs: BlobStore, digest: str, what: str) -> bytes:
    """Read a blob whose bytes are what its name says, or say what is wrong with it."""
    try:
        data = blobs.read(digest)
    except FileNotFoundError as error:
        raise RunnerError(f"{what} is gone from the store (blob {digest[:12]}…)") from error
    if sha256(data) != digest:
        raise RunnerError(f"{what} is not what was stored (blob {digest[:12]}… holds other bytes)")
    return data


def digests_of(entries: Iterable[Collected]) -> Iterator[str]:
    yield from (entry.tree for entry in entries if entry.tree)


def _files(tree: Tree) -> list[Entry]:
    return [file for file in tree.entries if file.type == "file"]
