"""Lines that a change moved, found once for all its files and kept: each file of it asks again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from benchsite.diffs.carried import Block, Moved, Stretch, blocks, by_line, stretches
from benchsite.diffs.files import Changed
from benchsite.diffs.limits import CARRIED_BYTES, CARRIED_FILES
from benchsite.diffs.lines import ENGINE
from benchsite.diffs.options import Options
from benchsite.diffs.rows import Line

from .filediff import bytes_of, standing
from .shelf import Shelf, diff_cache

FORMAT = 2
Of = Mapping[Line, Moved]


def moved_lines(changes: Sequence[Changed], shelf: Shelf, options: Options) -> Mapping[str, Of]:
    """Give, by path, the moved lines of each file. Generated files are left aside, and so are changes of too many."""
    every = (change for change in changes if not (change.folded or change.same_bytes))
    own = list(islice(every, CARRIED_FILES + 1))
    if options.moved == "off" or not own or len(own) > CARRIED_FILES:
        return {}
    shelf.expect(side.sha256 for change in own for side in change.sides if side)
    key = ["moved", FORMAT, ENGINE, options.space, standing(own, shelf)]
    found = diff_cache().get(key, lambda: [list(vars(one).values()) for one in _blocks(own, shelf, options)])
    return by_line(Block(*one) for one in found)


def _blocks(changes: Sequence[Changed], shelf: Shelf, options: Options) -> tuple[Block, ...]:
    gone: list[Stretch] = []
    come: list[Stretch] = []
    spent, shelf.spent = shelf.spent, 0
    for change in changes:
        if shelf.spent > CARRIED_BYTES:
            break
        old, new = ((bytes_of(side, shelf) if side else b"") for side in change.sides)
        if old is None or new is None:
            continue
        went, came = stretches(change, old, new, options, diff_cache())
        gone, come = gone + went, come + came
    shelf.spent = spent
    return blocks(gone, come)
