"""What the agent changed: the list of files, and each file compared; what evaluation wrote stands apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import Any

from benchsite.artifacts.store import BlobRefused
from benchsite.diffs import facts
from benchsite.diffs.compare import Comparison, compare
from benchsite.diffs.dangers import Pill, split_name
from benchsite.diffs.files import Changed, Side, read_record
from benchsite.diffs.limits import (
    CLICK_ROWS,
    COUNTED_BYTES,
    COUNTED_FILES,
    HEX_HEAD,
    INLINE_FILES,
    INLINE_ROWS,
    MAX_BYTES,
)
from benchsite.diffs.moves import with_moves
from benchsite.diffs.options import Options
from benchsite.diffs.rows import Fold, Row, between
from runner.blobs import BlobStore
from runner.digests import digest
from runner.errors import RunnerError
from runner.worlds.changes import ChangeSet
from runner.worlds.patch import git_patch

from .address import from_address, to_address
from .artifact import Raw
from .preview import image_type
from .records import changes_of
from .shelf import Shelf, diff_cache
from .trialhead import Head, find, totals

STAGES = {"agent": "the agent", "evaluation": "evaluation"}


@dataclass(frozen=True)
class FileDiff:
    """One file on the page. Without `comparison` it is fetched when wanted; without `open` it waits for a click."""

    change: Changed
    address: str
    added: int | None
    deleted: int | None
    comparison: Comparison | None = None
    rows: tuple[Row | Fold, ...] = ()
    rest: int = 0
    open: bool = False
    old_image: bool = False
    new_image: bool = False
    hex: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...] = ()

    @property
    def name(self) -> list[str | Pill]:
        return split_name(self.change.path)

    @property
    def old_name(self) -> list[str | Pill]:
        return split_name(self.change.old_path)

    @property
    def base(self) -> list[str | Pill]:
        return split_name(self.change.path.rsplit("/", 1)[-1])

    @property
    def viewed_key(self) -> str:
        """Name this pair of contents: a viewed mark holds for these bytes only."""
        sides = (self.change.before, self.change.after)
        return digest([side.sha256 if side else "" for side in sides] + [self.address])[:16]


@dataclass(frozen=True)
class Group:
    folder: list[str | Pill]
    files: tuple[FileDiff, ...]


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

    @property
    def total(self) -> int:
        return sum(self.letters.values())

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // COUNTED_FILES))

    @property
    def groups(self) -> tuple[Group, ...]:
        def folder(file: FileDiff) -> str:
            return file.change.path.rpartition("/")[0]

        ordered = sorted(self.files, key=folder)
        return tuple(Group(split_name(name), tuple(files)) for name, files in groupby(ordered, key=folder))

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

    @property
    def revision(self) -> str:
        states = [self.shelf.state(side.sha256) if side and side.sha256 else "" for side in _sides(self.change)]
        sides = [side and (side.type, side.mode, side.sha256, side.target) for side in _sides(self.change)]
        return digest([self.change.path, sides, states, self.options.query()])

    def file(self, *, asked: bool = True) -> FileDiff:
        """Compare the file; one that is `asked` for is open however long it is."""
        return compared(self.change, self.shelf, self.options, asked=asked)

    def between(self, fold: Fold) -> tuple[Row, ...]:
        """Give the rows a fold left out, as far as the file really has them."""
        made = _compare(self.change, self.shelf, self.options)
        if made.old is None or made.new is None or fold.old < 1 or fold.new < 1:
            return ()
        count = min(fold.count, len(made.old) - fold.old + 1, len(made.new) - fold.new + 1, CLICK_ROWS)
        return tuple(between(made.old, made.new, Fold(fold.old, fold.new, count)))

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
    shelf = Shelf(records.values(), head.run.bench_id)
    found, refused = _read(shelf, records.get(options.stage, ""), options.stage)
    shelf.expect(side.sha256 for change in found for side in _sides(change) if side)
    joined = _with_renames(found, shelf)
    counts = head.stage_counts()
    stages = tuple((name, STAGES[name], counts.get(name, 0)) for name in STAGES if name in records)
    page = min(max(1, page), max(1, -(-len(joined) // COUNTED_FILES)))
    here = joined[(page - 1) * COUNTED_FILES : page * COUNTED_FILES]
    return Changes(head, options, stages, tuple(files_of(here, shelf, options)), totals(joined), refused, page)


def one_file(user: Any, ulid: str, index: int, address: str, options: Options) -> OneFile | None:
    head = find(user, ulid, index)
    path = from_address(address)
    if head is None or path is None:
        return None
    records = _records(head)
    shelf = Shelf([records.get(options.stage, "")], head.run.bench_id)
    found, _ = _read(shelf, records.get(options.stage, ""), options.stage)
    shelf.expect(side.sha256 for change in found for side in _sides(change) if side)
    joined = _with_renames(found, shelf)
    change = next((change for change in joined if change.path == path), None)
    return OneFile(options, change, shelf, head) if change else None


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
    data = git_patch(_readable(found, shelf), _ShelfStore(shelf))
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
    value = shelf.json(record)
    if value is None:
        return (), shelf.why.get(record, "The change record is not here.")
    try:
        return read_record(value), ""
    except RunnerError as error:
        return (), str(error)


def _with_renames(found: tuple[Changed, ...], shelf: Shelf) -> tuple[Changed, ...]:
    joined = with_moves(found, lambda side: _bytes(side, shelf) if shelf.spent < COUNTED_BYTES else None)
    # the search has a budget of its own: a page with many moved files still shows its first ones
    shelf.spent = 0
    return joined


def files_of(found: Iterable[Changed], shelf: Shelf, options: Options) -> Iterable[FileDiff]:
    rows = 0
    for place, change in enumerate(found):
        affordable = shelf.spent < COUNTED_BYTES
        if place < INLINE_FILES and rows < INLINE_ROWS and affordable:
            file = compared(change, shelf, options)
            rows += len(file.rows) if file.open else 0
            yield file
        elif affordable:
            made = _compare(change, shelf, options)
            yield FileDiff(change, to_address(change.path), made.added, made.deleted)
        else:
            yield FileDiff(change, to_address(change.path), None, None)


def compared(change: Changed, shelf: Shelf, options: Options, *, asked: bool = False) -> FileDiff:
    """Compare a file; the rows of one that stays folded are not made, they can be a hundred thousand."""
    made = _compare(change, shelf, options)
    rows = made.rows(options) if asked or not made.folded else iter(())
    shown = tuple(islice(rows, CLICK_ROWS))
    old, new = (shelf.head(side.sha256, HEX_HEAD) if side and side.stored else None for side in _sides(change))
    return FileDiff(
        change=change,
        address=to_address(change.path),
        added=made.added,
        deleted=made.deleted,
        comparison=made,
        rows=shown,
        rest=sum(1 for _ in rows),
        open=asked or not made.folded,
        old_image=made.kind == "binary" and bool(image_type(old or b"")),
        new_image=made.kind == "binary" and bool(image_type(new or b"")),
        hex=_hex(old, new) if made.kind == "binary" else (),
    )


def _hex(old: bytes | None, new: bytes | None) -> tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...]:
    sides = (("before", old), ("after", new))
    return tuple((name, tuple(facts.hex_head(data))) for name, data in sides if data is not None)


def _compare(change: Changed, shelf: Shelf, options: Options) -> Comparison:
    old, new = (_bytes(side, shelf) if side else None for side in _sides(change))
    return compare(change, old, new, options, diff_cache())


def _bytes(side: Side, shelf: Shelf) -> bytes | None:
    if side.type != "file" or not side.stored or not side.sha256:
        return b"" if side.type == "file" and side.size == 0 else None
    # the size is a claim of whoever wrote the record; one byte over the limit is enough to say "too large"
    return shelf.head(side.sha256, MAX_BYTES + 1)


def _sides(change: Changed) -> tuple[Side | None, Side | None]:
    return change.before, change.after
