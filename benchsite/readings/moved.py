"""Moves and copies among changed files, found with the bytes a page may read."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from benchsite.diffs.files import Changed, Side, sides_of
from benchsite.diffs.limits import COUNTED_BYTES
from benchsite.diffs.moves import with_moves
from benchsite.diffs.tree import order
from runner.errors import RunnerError

from .filediff import bytes_of
from .records import tree_of
from .shelf import Shelf

KEPT_TREES = 4
KEPT = 4
ASKED_AT_ONCE = 1_000
Start = Callable[[], Mapping[str, Side]]
_kept: dict[tuple[str, str], tuple[Changed, ...]] = {}
_trees: dict[str, dict[str, Side]] = {}


def of_record(record: str, found: tuple[Changed, ...], shelf: Shelf, template: str) -> tuple[Changed, ...]:
    """Join the changes of a record that may be read, in the order of a tree; what came of a large one is kept.

    Only where no file had to be read for it: then it depends on nothing but the record and the start world's.
    """
    key = (record, template if template and shelf.readable(template) else "")
    known = _kept.get(key)
    if known is not None:
        return known
    made = _joined(found, shelf, lambda: start_world(key[1], shelf))
    listed = tuple(sorted(made, key=lambda change: order(change.path)))
    if len(found) > ASKED_AT_ONCE and not shelf.spent:
        while len(_kept) >= KEPT:
            _kept.pop(next(iter(_kept)), None)
        _kept[key] = listed
    shelf.spent = 0
    return listed


def joined(found: tuple[Changed, ...], shelf: Shelf, start: Start) -> tuple[Changed, ...]:
    """Join what was deleted and added again; name the source of what was copied, of all that `start` holds too."""
    made = _joined(found, shelf, start)
    # the search has a budget of its own: a page with many moved files still shows its first ones
    shelf.spent = 0
    return made


def _joined(found: tuple[Changed, ...], shelf: Shelf, start: Start) -> tuple[Changed, ...]:
    if len(found) <= ASKED_AT_ONCE:
        # one question for all sides; of thousands only what the search for moves reads
        shelf.expect(side.sha256 for change in found for side in change.sides if side)
    new = any(change.status == "added" and change.after and change.after.size for change in found)
    made = with_moves(
        found,
        lambda side: _affordable(side, shelf),
        start() if new else {},
        lambda sides: shelf.expect(side.sha256 for side in sides),
    )
    if len(found) <= ASKED_AT_ONCE:
        shelf.expect(change.before.sha256 for change in made if change.status == "copied" and change.before)
    return made


def start_world(digest: str, shelf: Shelf) -> dict[str, Side]:
    """Give what stood in a start world, where its record may be read. The last few are kept: each part asks again."""
    if not digest or not shelf.readable(digest):
        return {}
    if digest not in _trees:
        value = shelf.json(digest)
        try:
            found = sides_of(tree_of(value).entries) if value is not None else {}
        except RunnerError:
            found = {}
        while len(_trees) >= KEPT_TREES:
            _trees.pop(next(iter(_trees)), None)
        _trees[digest] = found
    return _trees.get(digest, {})


def _affordable(side: Side, shelf: Shelf) -> bytes | None:
    return bytes_of(side, shelf) if shelf.spent < COUNTED_BYTES else None
