"""What one view of two end states has to show: their files, with those joined that were moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchsite.diffs.files import Changed, Side
from benchsite.readings.moved import joined, start_world
from benchsite.readings.shelf import Shelf

from .ends import WORDS, Show, Touched, Who
from .pair import Pair


@dataclass(frozen=True)
class Shown:
    """A file of the view, and who touched it; a moved one is one file at two paths."""

    who: Who
    change: Changed


@dataclass(frozen=True)
class View:
    """`same` are touched paths that this view shows no difference at."""

    shown: tuple[Shown, ...]
    same: tuple[Touched, ...]

    def counts(self) -> list[tuple[Who, str, int]]:
        """Count files by who touched them, a moved one once."""
        found: list[Who] = [one.who for one in (*self.shown, *self.same)]
        return [(who, words, found.count(who)) for who, words in WORDS.items() if who in found]

    def at(self, path: str) -> Shown | None:
        """Find a file by its path, or by the one it was moved from."""
        named = (one for one in self.shown if one.change.path == path)
        moved = (one for one in self.shown if one.change.old_path == path and one.change.status == "renamed")
        return next(named, None) or next(moved, None)


def view(pair: Pair, touched: Sequence[Touched], show: Show, shelf: Shelf) -> View:
    """Lay out a view in the order of `WORDS`, then of paths."""
    who = {one.path: one.who for one in touched}
    changes = {one.path: change for one in touched if (change := one.change(show))}
    made = joined(tuple(changes.values()), shelf, lambda: _start(pair, who, show, shelf))
    order = list(WORDS)
    shown = sorted((Shown(_whose(change, who), change) for change in made), key=lambda one: order.index(one.who))
    return View(tuple(shown), tuple(one for one in touched if one.path not in changes))


def _whose(change: Changed, who: Mapping[str, Who]) -> Who:
    """Of a moved file both paths count: what one trial did to the one and the other to the other, both did."""
    paths = [change.path, *([change.old_path] if change.status == "renamed" else [])]
    found = {who[path] for path in paths}
    return found.pop() if len(found) == 1 else "differ"


def _start(pair: Pair, touched: Mapping[str, Who], show: Show, shelf: Shelf) -> Mapping[str, Side]:
    """Give what a copy may come from: the start world, or between two end states what neither touched of it."""
    if show != "ab":
        return start_world((pair.a if show == "a" else pair.b).run.version.template, shelf)
    world = start_world(pair.a.run.version.template, shelf) if pair.same_start else {}
    return {path: side for path, side in world.items() if path not in touched}
