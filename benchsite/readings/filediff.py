"""One changed file for a page: compared as far as it is shown at once, as a picture or as bytes where it is no text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from benchsite.diffs import facts
from benchsite.diffs.carried import Moved
from benchsite.diffs.compare import FORMAT, Comparison, compare, count
from benchsite.diffs.dangers import Pill, split_name
from benchsite.diffs.files import Changed, Side
from benchsite.diffs.images import HEAD, Image, image
from benchsite.diffs.limits import CLICK_ROWS, FIRST_ROWS, HEX_HEAD, IMAGE_BYTES, MAX_BYTES
from benchsite.diffs.lines import ENGINE
from benchsite.diffs.options import Options
from benchsite.diffs.rows import Fold, Line, Row
from runner.digests import digest

from .address import to_address
from .shelf import Shelf, diff_cache

HexRows = tuple[tuple[str, str, str, bool], ...]
"""Rows of (offset, bytes, printable, whether the other side has other bytes there)."""
HEX_ROW = 16
Counts = tuple[int | None, int | None]
"""Lines added and deleted; None where they cannot be told."""


@dataclass(frozen=True)
class FileDiff:
    """One file on the page. Without `comparison` it is fetched when wanted; without `open` it waits for a click.

    `more` is the line that the rows not shown begin with, `start` the line that the shown ones were asked from.
    """

    change: Changed
    address: str
    added: int | None
    deleted: int | None
    comparison: Comparison | None = None
    rows: tuple[Row | Fold, ...] = ()
    more: Line | None = None
    start: Line | None = None
    open: bool = False
    old_image: Image | None = None
    new_image: Image | None = None
    hex: tuple[tuple[str, HexRows], ...] = ()
    named: tuple[str, ...] = ()
    """What tells of this file where a trial failed, in words."""
    moved: Mapping[Line, Moved] = field(default_factory=dict)

    @property
    def name(self) -> list[str | Pill]:
        return split_name(self.change.path)

    @property
    def old_name(self) -> list[str | Pill]:
        return split_name(self.change.old_path)

    @property
    def base(self) -> list[str | Pill]:
        return split_name(self.change.path.rsplit("/", 1)[-1])

    @cached_property
    def viewed_key(self) -> str:
        """Name this pair of contents: a viewed mark holds for these bytes only."""
        return digest([side.sha256 if side else "" for side in self.change.sides] + [self.address])[:16]

    def slim(self) -> FileDiff:
        """Give it without its texts, once its rows are written."""
        made = self.comparison and replace(self.comparison, old=None, new=None, codes=())
        return replace(self, rows=(), comparison=made)


def compared(
    change: Changed, shelf: Shelf, options: Options, *, asked: bool = False, start: Line | None = None
) -> FileDiff:
    """Compare a file; one that is `asked` for is open however long it is, and asked `start` shows all from there on.

    The rows of one that stays folded are not made: they can be a hundred thousand.
    """
    made = comparison(change, shelf, options)
    opened = asked or not made.folded
    rows, more = made.take(options, CLICK_ROWS if start else FIRST_ROWS, start) if opened else ((), None)
    old, new = (_head(side, shelf) if made.kind == "binary" else b"" for side in (change.before, change.after))
    return FileDiff(
        change=change,
        address=to_address(change.path),
        added=made.added,
        deleted=made.deleted,
        comparison=made,
        rows=rows,
        more=more,
        start=start,
        open=opened,
        old_image=_image(change.before, old),
        new_image=_image(change.after, new),
        hex=_hex(change, made, shelf),
    )


def comparison(change: Changed, shelf: Shelf, options: Options) -> Comparison:
    old, new = (bytes_of(side, shelf) if side else None for side in (change.before, change.after))
    return compare(change, old, new, options, diff_cache())


def counts(change: Changed, shelf: Shelf, options: Options) -> Counts:
    old, new = (bytes_of(side, shelf) if side else None for side in (change.before, change.after))
    return count(change, old, new, options, diff_cache())


def counts_of(changes: Sequence[Changed], shelf: Shelf, options: Options, budget: int) -> list[Counts]:
    """Count many files' lines while the shelf has read less than `budget`; kept as one answer for all of them.

    It is named by digests and by what may be read, so that hundreds of files need not be opened to be counted again.
    """
    key = ["counts", FORMAT, ENGINE, options.space, options.json, standing(changes, shelf)]
    found = diff_cache().get(
        key, lambda: [counts(one, shelf, options) if shelf.spent < budget else (None, None) for one in changes]
    )
    return [(added, deleted) for added, deleted in found]


def standing(changes: Sequence[Changed], shelf: Shelf) -> list[list[Any]]:
    """Name what changes are made of, for a cache: paths, digests and what may be read of them."""
    return [[change.path, *(_standing(side, shelf) for side in change.sides)] for change in changes]


def _standing(side: Side | None, shelf: Shelf) -> list[Any] | None:
    if side is None:
        return None
    state = shelf.state(side.sha256) if side.sha256 else ""
    return [side.type, side.mode, side.size, side.sha256, side.stored, state]


def bytes_of(side: Side, shelf: Shelf) -> bytes | None:
    if side.type != "file" or not side.stored or not side.sha256:
        return b"" if side.type == "file" and side.size == 0 else None
    # the size is a claim of whoever wrote the record; one byte over the limit is enough to say "too large"
    return shelf.head(side.sha256, MAX_BYTES + 1)


def _head(side: Side | None, shelf: Shelf) -> bytes:
    return (shelf.head(side.sha256, HEAD) if side and side.stored else None) or b""


def _image(side: Side | None, head: bytes) -> Image | None:
    return image(head) if side is not None and side.size <= IMAGE_BYTES else None


def _hex(change: Changed, made: Comparison, shelf: Shelf) -> tuple[tuple[str, HexRows], ...]:
    """Show the heads of both sides; where these are the same, the bytes around the first that differs."""
    if made.kind != "binary":
        return ()
    first = made.first_difference if change.before and change.after and made.first_difference else 0
    start = 0 if first < HEX_HEAD else max(0, first // HEX_ROW - 2) * HEX_ROW
    sides = (("before", change.before), ("after", change.after))
    heads = {
        name: (shelf.head(side.sha256, start + HEX_HEAD) or b"")[start:]
        for name, side in sides
        if side is not None and side.stored
    }
    rows = {name: facts.hex_head(data, start) for name, data in heads.items() if data}
    found = []
    for name, listed in rows.items():
        others = {row[0]: row[1] for other, there in rows.items() if other != name for row in there}
        alone = len(rows) < 2
        found.append((name, tuple((*row, not alone and others.get(row[0]) != row[1]) for row in listed)))
    return tuple(found)
