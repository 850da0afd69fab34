"""Two trials beside each other: what each left, what was observed, and each file between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchsite.diffs.limits import COUNTED_FILES
from benchsite.diffs.options import Options
from benchsite.readings.address import from_address
from benchsite.readings.diff import FileDiff, TwoSides, files_of
from benchsite.readings.movedlines import moved_lines
from benchsite.readings.shelf import Shelf

from .ends import SHOWS, WORDS, Ends, Show, Touched, Who, ends
from .observed import Line, observed, spent
from .pair import Pair
from .shown import Shown, view

ALIKE = 200


@dataclass(frozen=True)
class Group:
    """Files of one kind: who touched them. `same` ended alike and are only named."""

    who: Who
    words: str
    files: tuple[FileDiff, ...]
    same: tuple[Touched, ...] = ()
    more: int = 0
    """Paths that ended alike and are not named: a page has room for `ALIKE` of them."""


@dataclass(frozen=True)
class Files:
    """The part of a comparison about files. `total` counts what the view has to show, over all pages."""

    ends: Ends
    counts: list[tuple[Who, str, int]]
    show: Show
    options: Options
    groups: tuple[Group, ...]
    total: int
    page: int

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // COUNTED_FILES))

    @property
    def has_moved(self) -> bool:
        return self.options.moved == "off" or any(file.moved for file in self.files)

    @property
    def files(self) -> list[FileDiff]:
        return [file for group in self.groups for file in group.files]


@dataclass(frozen=True)
class Both:
    pair: Pair
    observed: tuple[Line, ...]
    spent: tuple[Line, ...]

    @property
    def differing(self) -> int:
        return sum(line.differs for line in self.observed)


@dataclass(frozen=True)
class OnePath(TwoSides):
    """A path between the two, by itself."""

    touched: Touched
    who: Who
    show: Show

    @property
    def words(self) -> str:
        return WORDS[self.who]


def both(pair: Pair) -> Both:
    return Both(pair, observed(pair), spent(pair))


def files(pair: Pair, show: Show, options: Options, page: int = 1) -> Files:
    """Compare a page of files; groups follow one another in the order of `WORDS`."""
    shelf = Shelf((), pair.a.run.bench_id)
    found = ends(pair, shelf)
    seen = view(pair, found.touched, show, shelf)
    page = min(max(1, page), max(1, -(-len(seen.shown) // COUNTED_FILES)))
    here = seen.shown[(page - 1) * COUNTED_FILES : page * COUNTED_FILES]
    shelf.expect(side.sha256 for one in here for side in one.change.sides if side)
    carried = moved_lines([one.change for one in seen.shown], shelf, options)
    made = list(files_of([one.change for one in here], shelf, options, carried))
    # a path that ends alike has nothing to show between A and B, and must not be passed over in silence
    alike = seen.same if show == "ab" and page == 1 else ()
    return Files(found, seen.counts(), show, options, _groups(here, made, alike), len(seen.shown), page)


def one_path(pair: Pair, address: str, show: Show, options: Options) -> OnePath | None:
    """Give one path's comparison; None where neither trial touched it or the view shows no difference."""
    path = from_address(address)
    shelf = Shelf((), pair.a.run.bench_id)
    found = ends(pair, shelf).touched
    touched = next((one for one in found if one.path == path), None)
    seen = view(pair, found, show, shelf) if touched else None
    one = seen.at(path) if seen and path else None
    if seen is None or touched is None or one is None:
        return None
    shelf.expect(side.sha256 for side in one.change.sides if side)
    carried = moved_lines([one.change for one in seen.shown], shelf, options)
    return OnePath(options, one.change, shelf, (), carried.get(one.change.path, {}), touched, one.who, show)


def _groups(here: Sequence[Shown], made: Sequence[FileDiff], same: Sequence[Touched]) -> tuple[Group, ...]:
    groups = []
    for who, words in WORDS.items():
        of = tuple(file for one, file in zip(here, made, strict=True) if one.who == who)
        alike = tuple(one for one in same if one.who == who)
        if of or alike:
            groups.append(Group(who, words, of, alike[:ALIKE], max(0, len(alike) - ALIKE)))
    return tuple(groups)


def show_of(word: Any) -> Show:
    """Read what is to be shown; anything else falls back to the end states, so that old links keep working."""
    return word if word in SHOWS else "ab"
