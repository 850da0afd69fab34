"""What the agent changed: the list of files, and each file compared; what evaluation wrote stands apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchsite.artifacts.store import BlobRefused
from benchsite.diffs.compare import Comparison
from benchsite.diffs.dangers import Pill, split_name
from benchsite.diffs.files import Changed, read_record
from benchsite.diffs.limits import COUNTED_BYTES, COUNTED_FILES, INLINE_FILES, INLINE_ROWS, PAGE_COLOURED
from benchsite.diffs.options import Options
from benchsite.diffs.pretty import is_json
from benchsite.diffs.tree import Node, tree
from runner.blobs import BlobStore
from runner.digests import digest
from runner.errors import RunnerError
from runner.worlds.changes import ChangeSet
from runner.worlds.patch import git_patch, ignored_comments

from .address import from_address, to_address
from .artifact import Raw
from .failing import By, failing
from .filediff import FileDiff, compared, comparison, counts_of
from .moved import of_record
from .movedlines import Of, moved_lines
from .records import changes_of
from .shelf import Shelf
from .trialhead import Head, find, totals

STAGES = {"agent": "the agent", "evaluation": "evaluation"}


@dataclass(frozen=True)
class Item:
    """A row of the list of files: a folder, or a file where `file` is given."""

    node: Node
    file: FileDiff | None

    @property
    def name(self) -> list[str | Pill]:
        return split_name(self.node.name)


@dataclass(frozen=True)
class Changes:
    """`stages` are (name, words, files); `files` are those of one page. `refused` says why there is nothing."""

    head: Head
    options: Options
    stages: tuple[tuple[str, str, int], ...]
    files: tuple[FileDiff, ...]
    letters: dict[str, int]
    refused: str = ""
    page: int = 1
    left_out: int = 0
    """Files that no failure names, where only those are wanted that one does."""

    @property
    def total(self) -> int:
        return sum(self.letters.values())

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // COUNTED_FILES))

    @property
    def tree(self) -> tuple[Item, ...]:
        counts = [(file.added or 0, file.deleted or 0) for file in self.files]
        nodes = tree([file.change.path for file in self.files], counts)
        return tuple(Item(node, None if node.place is None else self.files[node.place]) for node in nodes)

    @property
    def ignored(self) -> tuple[list[str | Pill], ...]:
        """What the agent touched and no record has, in parts that can be shown."""
        return tuple(map(split_name, self.head.ignored)) if self.options.stage == "agent" else ()

    @property
    def has_json(self) -> bool:
        return any(is_json(file.change.path) for file in self.files)

    @property
    def has_moved(self) -> bool:
        return self.options.moved == "off" or any(file.moved for file in self.files)

    @property
    def has_failures(self) -> bool:
        """Is there anything that could name a file, or is it asked all the same?"""
        return self.head.shown_state != "solved" or bool(self.head.trial.flags) or self.options.files != "all"

    @property
    def paths(self) -> int:
        """A moved file is one file and two paths."""
        return self.total + self.letters.get("R", 0)

    @property
    def added(self) -> int:
        return sum(file.added or 0 for file in self.files)

    @property
    def deleted(self) -> int:
        return sum(file.deleted or 0 for file in self.files)


@dataclass(frozen=True)
class TwoSides:
    """A file's two sides, whoever compares them; `revision` names the answer: digests, blob states and options."""

    options: Options
    change: Changed
    shelf: Shelf
    named: tuple[str, ...]
    moved: Of

    @property
    def revision(self) -> str:
        states = [self.shelf.state(side.sha256) if side and side.sha256 else "" for side in self.change.sides]
        sides = [side and (side.type, side.mode, side.sha256, side.target) for side in self.change.sides]
        moved = [self.change.status, self.change.old_path, self.change.likeness]
        return digest(
            [self.change.path, moved, sides, states, self.options.query(), self.options.start, self.named, self._ends()]
        )

    def file(self, *, asked: bool = True) -> FileDiff:
        """Compare the file; one that is `asked` for is open however long it is."""
        made = compared(self.change, self.shelf, self.options, asked=asked, start=self.options.start)
        return replace(made, named=self.named, moved=self.moved)

    def _ends(self) -> list[Any]:
        return [[line, one.path, one.line] for line, one in self.moved.items() if one.first]

    def comparison(self) -> Comparison:
        return comparison(self.change, self.shelf, self.options)

    def raw(self, which: str) -> Raw | None:
        """Give the bytes of the old or the new side."""
        side = {"old": self.change.before, "new": self.change.after}.get(which)
        name = (which == "old" and self.change.old_path) or self.change.path
        file = self.shelf.open(side.sha256) if side and side.sha256 and side.stored else None
        return Raw.of(file, name.rsplit("/", 1)[-1]) if file else None


@dataclass(frozen=True)
class OneFile(TwoSides):
    """A changed file of a trial by itself."""

    head: Head


def changes(user: Any, ulid: str, index: int, options: Options, page: int = 1) -> Changes | None:
    head = find(user, ulid, index)
    if head is None:
        return None
    records = _records(head)
    shelf = Shelf([*records.values(), head.run.version.template], head.run.bench_id)
    record = records.get(options.stage, "")
    found, refused = _read(shelf, record, options.stage)
    listed = _with_moves(record, found, shelf, head, options.stage)
    counts = head.stage_counts()
    stages = tuple((name, STAGES[name], counts.get(name, 0)) for name in STAGES if name in records)
    named, carried = _named(head, listed, options), moved_lines(listed, shelf, options)
    every, listed = len(listed), listed if named is None else tuple(one for one in listed if _says(one, named))
    page = min(max(1, page), max(1, -(-len(listed) // COUNTED_FILES)))
    here = listed[(page - 1) * COUNTED_FILES : page * COUNTED_FILES]
    shelf.expect(side.sha256 for change in here for side in change.sides if side)
    files = (replace(file, named=_says(file.change, named or {})) for file in files_of(here, shelf, options, carried))
    return Changes(head, options, stages, tuple(files), totals(listed), refused, page, every - len(listed))


def one_file(user: Any, ulid: str, index: int, address: str, options: Options) -> OneFile | None:
    head = find(user, ulid, index)
    path = from_address(address)
    if head is None or path is None:
        return None
    record = _records(head).get(options.stage, "")
    shelf = Shelf([record], head.run.bench_id)
    found, _ = _read(shelf, record, options.stage)
    listed = _with_moves(record, found, shelf, head, options.stage)
    change = next((change for change in listed if change.path == path), None)
    shelf.expect(side.sha256 for side in change.sides if side) if change else None
    named = _says(change, _named(head, listed, options) or {}) if change else ()
    if change is None:
        return None
    carried = moved_lines(listed, shelf, options)
    return OneFile(options, change, shelf, named, carried.get(change.path, {}), head)


def _named(head: Head, listed: tuple[Changed, ...], options: Options) -> By | None:
    """Give what failures name where only such files are wanted."""
    return failing(head, listed, head.run.bench_id) if options.files == "failed" else None


def _says(change: Changed, named: By) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*named.get(change.path, ()), *named.get(change.old_path, ()))))


def patch(user: Any, ulid: str, index: int, stage: str) -> Raw | None:
    """Write a stage as one patch; bytes that may not be shown are left out and named in it."""
    from io import BytesIO

    head = find(user, ulid, index)
    if head is None:
        return None
    record = _records(head).get(stage)
    shelf = Shelf([record], head.run.bench_id)
    value = shelf.json(record)
    if value is None:
        return None
    try:
        found = changes_of(value)
    except RunnerError:
        return None
    shelf.expect(found.digests())
    aside = ignored_comments(head.ignored) if stage == "agent" else b""
    data = aside + git_patch(_readable(found, shelf), _ShelfStore(shelf), shelf.why)
    return Raw(BytesIO(data), len(data), f"{ulid}-trial-{index}-{stage}.patch")


class _ShelfStore(BlobStore):
    """What the patch writer reads from: every byte goes through the door that obeys blob states."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    def read(self, digest: str) -> bytes:
        data = self.shelf.read(digest)
        if data is None:
            raise BlobRefused(digest, "refused", self.shelf.why[digest])
        return data


def _readable(found: ChangeSet, shelf: Shelf) -> ChangeSet:
    def side(value: Any) -> Any:
        kept = value is not None and value.stored and value.sha256 and shelf.readable(value.sha256)
        return value if kept or value is None or not value.stored else replace(value, stored=False)

    rows = tuple(replace(c, before=side(c.before), after=side(c.after)) for c in found.changes)
    return replace(found, changes=rows)


def _records(head: Head) -> dict[str, str]:
    """Give the blob of each stage's change record."""
    found = {"agent": head.trial.changes} if head.trial.changes else {}
    evaluation = (head.record().get("changes") or {}).get("evaluation") or {}
    if evaluation.get("blob"):
        found["evaluation"] = str(evaluation["blob"])
    return found


def _read(shelf: Shelf, record: str, stage: str) -> tuple[tuple[Changed, ...], str]:
    if not record:
        return (), f"No change record of {STAGES[stage]} was written for this trial."
    try:
        found = shelf.parsed(record, read_record)
    except RunnerError as error:
        return (), str(error)
    return (found, "") if found is not None else ((), shelf.why.get(record, "The change record is not here."))


def _with_moves(record: str, found: tuple[Changed, ...], shelf: Shelf, head: Head, stage: str) -> tuple[Changed, ...]:
    """Find moves, and copies of what stood in the start world; evaluation did not begin with that one."""
    return of_record(record, found, shelf, head.run.version.template if stage == "agent" else "") if found else ()


def files_of(found: Sequence[Changed], shelf: Shelf, options: Options, carried: Mapping[str, Of]) -> Iterable[FileDiff]:
    """Compare the first files whole and count the lines of the rest, as far as a page can afford it."""
    rows = coloured = taken = 0
    for change in found[:INLINE_FILES]:
        if rows >= INLINE_ROWS or coloured >= PAGE_COLOURED or shelf.spent >= COUNTED_BYTES:
            break
        taken += 1
        file = compared(change, shelf, options)
        rows += len(file.rows)
        coloured += file.comparison.coloured if file.comparison else 0
        yield replace(file, moved=carried.get(change.path, {}))
    rest = found[taken:]
    for change, many in zip(rest, counts_of(rest, shelf, options, COUNTED_BYTES) if rest else (), strict=True):
        yield FileDiff(change, to_address(change.path), *many)
