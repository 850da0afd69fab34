"""Two change records in a row as one: what the agent did in earlier requests and in the latest."""

from __future__ import annotations

from dataclasses import replace

from runner.blobs import BlobStore
from runner.worlds.changes import Change, ChangeSet, Kind, Side, by_bytes
from runner.worlds.lines import count_lines


def compose(earlier: ChangeSet, later: ChangeSet, blobs: BlobStore) -> ChangeSet:
    """Give the changes from the start of `earlier` to the end of `later`; what was undone is in neither."""
    merged = {change.path: change for change in earlier.changes}
    for change in later.changes:
        first = merged.get(change.path)
        merged[change.path] = change if first is None else _joined(first, change, blobs)
    changes = sorted((c for c in merged.values() if not _same(c.before, c.after)), key=lambda c: by_bytes(c.path))
    return ChangeSet(
        tuple(changes),
        _folders(earlier.made, later.made, later.removed, earlier.removed),
        _folders(earlier.removed, later.removed, later.made, earlier.made),
    )


def _joined(first: Change, then: Change, blobs: BlobStore) -> Change:
    added, deleted = count_lines(first.before, then.after, blobs)
    kind: Kind = "deleted" if then.after is None else "added" if first.before is None else "modified"
    if then.after is not None and then.after.type == "link":
        kind = "link"
    return replace(then, kind=kind, before=first.before, lines_added=added, lines_deleted=deleted)


def _same(one: Side | None, other: Side | None) -> bool:
    """Whether a side's bytes are kept is no difference between worlds."""
    if one is None or other is None:
        return one is other
    return replace(one, stored=False) == replace(other, stored=False)


def _folders(
    first: tuple[str, ...], then: tuple[str, ...], undone: tuple[str, ...], before: tuple[str, ...]
) -> tuple[str, ...]:
    return tuple(sorted((set(first) - set(undone)) | (set(then) - set(before)), key=by_bytes))
