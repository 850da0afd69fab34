"""Which files changed, read from a change record (benchsite/changes/1), renames found again by content."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from runner import paths
from runner.blobs import is_digest
from runner.digests import sha256
from runner.errors import PathRefused, RunnerError

from .limits import FOLDED_FOLDERS, FOLDED_NAMES, RENAME_BYTES, RENAME_FILES, RENAME_SHARE, RENAME_WORK

FORMAT = "benchsite/changes/1"
Status = Literal["added", "deleted", "modified", "renamed", "mode", "type"]
LETTERS: dict[Status, str] = {"added": "A", "deleted": "D", "modified": "M", "renamed": "R", "mode": "X", "type": "T"}
Read = Callable[["Side"], bytes | None]
"""Gives a side's bytes; None where they are not stored or must not be shown."""


@dataclass(frozen=True)
class Side:
    """A path as one side has it. Only files have bytes, and only small enough ones are `stored`."""

    type: str
    mode: str = ""
    size: int = 0
    sha256: str = ""
    stored: bool = False
    target: str = ""


@dataclass(frozen=True)
class Changed:
    """One changed path. `old_path` and `likeness` (percent) are a rename's."""

    path: str
    status: Status
    before: Side | None
    after: Side | None
    old_path: str = ""
    likeness: int = 100

    @property
    def letter(self) -> str:
        return LETTERS[self.status]

    @property
    def same_bytes(self) -> bool:
        return bool(self.before and self.after and self.before.sha256 and self.before.sha256 == self.after.sha256)

    @property
    def mode_changed(self) -> bool:
        sides = (self.before, self.after)
        return all(side is not None and side.type == "file" for side in sides) and (
            self.before.mode != self.after.mode  # type: ignore[union-attr]  # both are there
        )

    @property
    def folded(self) -> bool:
        """Tell generated files: lock files and what package managers put down."""
        parts = self.path.split("/")
        return parts[-1] in FOLDED_NAMES or not FOLDED_FOLDERS.isdisjoint(parts[:-1])

    @property
    def fragment(self) -> str:
        return anchor(self.path)


def anchor(path: str) -> str:
    """Name a file within a page: a hash of its path, never its position."""
    return "f" + sha256(path.encode("utf-8", "surrogateescape"))[:7]


def read_record(record: Any) -> tuple[Changed, ...]:
    """Read a change record that may come from anywhere; a damaged one is refused in one sentence."""
    try:
        if record["format"] != FORMAT:
            raise RunnerError(f"The change record has the format {record['format']!r}, not {FORMAT}.")
        return tuple(sorted((_changed(row) for row in record["changes"]), key=lambda change: change.path))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, PathRefused) as error:
        raise RunnerError(f"The change record is damaged: {error}.") from error


def with_renames(changes: Sequence[Changed], read: Read) -> tuple[Changed, ...]:
    """Join deleted and added files that are one file moved: by digest first, then by shared lines."""
    gone = [change for change in changes if change.status == "deleted" and _is_file(change.before)]
    come = [change for change in changes if change.status == "added" and _is_file(change.after)]
    if not gone or not come or max(len(gone), len(come)) > RENAME_FILES:
        return tuple(changes)
    pairs = [*_by_digest(gone, come)]
    taken = {change.path for pair in pairs for change in pair[:2]}
    rest = ([c for c in gone if c.path not in taken], [c for c in come if c.path not in taken])
    pairs += _by_lines(*rest, read)
    moved = {new.path: _rename(old, new, share) for old, new, share in pairs}
    left = {old.path for old, _, _ in pairs}
    joined = (moved.get(change.path, change) for change in changes if change.path not in left or change.path in moved)
    return tuple(joined)


def _changed(row: dict[str, Any]) -> Changed:
    path = paths.check_relative(paths.from_json(row["path"]))
    before, after = _side(row.get("before")), _side(row.get("after"))
    return Changed(path, _status(before, after), before, after)


def _side(row: dict[str, Any] | None) -> Side | None:
    if row is None:
        return None
    digest = row.get("sha256") or ""
    if digest and not is_digest(digest):
        raise ValueError(f"{digest!r} is not a digest")
    target = paths.from_json(row["target"]) if row.get("target") else ""
    mode, size = str(row.get("mode") or ""), int(row.get("size") or 0)
    return Side(str(row["type"]), mode, size, digest, bool(row.get("stored")), target)


def _status(before: Side | None, after: Side | None) -> Status:
    if before is None or after is None:
        return "added" if before is None else "deleted"
    if before.type != after.type:
        return "type"
    same = before.sha256 == after.sha256 and before.target == after.target
    return "mode" if same and before.mode != after.mode else "modified"


def _is_file(side: Side | None) -> bool:
    return side is not None and side.type == "file" and side.size > 0


def _rename(old: Changed, new: Changed, share: float) -> Changed:
    return replace(new, status="renamed", before=old.before, old_path=old.path, likeness=int(share * 100))


def _by_digest(gone: Iterable[Changed], come: Iterable[Changed]) -> list[tuple[Changed, Changed, float]]:
    waiting: dict[str, list[Changed]] = defaultdict(list)
    for change in gone:
        if change.before and change.before.sha256:
            waiting[change.before.sha256].append(change)
    found = []
    for change in come:
        same = waiting.get(change.after.sha256 if change.after else "", [])
        if same:
            # of several equal files the one that kept its name has most likely moved
            name = change.path.rsplit("/", 1)[-1]
            old = next((c for c in same if c.path.rsplit("/", 1)[-1] == name), same[0])
            same.remove(old)
            found.append((old, change, 1.0))
    return found


def _by_lines(gone: list[Changed], come: list[Changed], read: Read) -> list[tuple[Changed, Changed, float]]:
    old = {change.path: bag for change in gone if (bag := _bag(change.before, read))}
    new = {change.path: bag for change in come if (bag := _bag(change.after, read))} if old else {}
    rated = sorted(_rated(gone, come, old, new), key=lambda row: (-row[0], row[1].path, row[2].path))
    found: list[tuple[Changed, Changed, float]] = []
    left, right = set(old), set(new)
    for share, a, b in rated:
        if a.path in left and b.path in right:
            left.remove(a.path)
            right.remove(b.path)
            found.append((a, b, min(share, 0.99)))
    return found


def _rated(
    gone: list[Changed], come: list[Changed], old: dict[str, Counter[bytes]], new: dict[str, Counter[bytes]]
) -> Iterator[tuple[float, Changed, Changed]]:
    work = 0
    for a in (change for change in gone if change.path in old):
        for b in (change for change in come if change.path in new):
            # a record from outside may hold hundreds of large files on either side; give up rather than hang
            work += 1 + min(len(old[a.path]), len(new[b.path]))
            if work > RENAME_WORK:
                return
            share = _share(old[a.path], new[b.path])
            if share >= RENAME_SHARE:
                yield share, a, b


def _bag(side: Side | None, read: Read) -> Counter[bytes]:
    """Weigh a file's lines by their length, so that blank lines and braces make no two files alike."""
    if side is None or side.size > RENAME_BYTES:
        return Counter()
    lines = Counter((read(side) or b"").split(b"\n"))
    return Counter({line: count * len(line) for line, count in lines.items() if line.strip()})


def _share(old: Counter[bytes], new: Counter[bytes]) -> float:
    small, large = sorted((old.total(), new.total()))
    if small < large * RENAME_SHARE:
        return 0.0
    return (old & new).total() / large
