"""Lines that a change moved: stretches that went in one place and came in another, of the same file or of two."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .cache import Cache
from .compare import codes_of
from .decode import decode
from .files import Changed
from .limits import CARRIED_CHARS, CARRIED_LINES, CARRIED_PLACES, CARRIED_TOTAL, CARRIED_WORK
from .options import Options
from .rows import Line, Pages


@dataclass(frozen=True)
class Stretch:
    """Lines that went, or that came: their texts without indent, `first` counted from 0, `code` what they belong to."""

    path: str
    code: int
    first: int
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """`count` lines of `old` from line `at` on became those of `new` from line `to` on; paths as they are after it."""

    old: str
    at: int
    new: str
    to: int
    count: int


@dataclass(frozen=True)
class Moved:
    """Where one moved line has its other end; `first` begins a block of `count`."""

    path: str
    line: Line
    first: bool
    count: int


@dataclass
class _Coming:
    """The lines that came, by their text, and which of them are spoken for."""

    stretches: Sequence[Stretch]
    places: Mapping[str, list[tuple[int, int]]]
    used: set[tuple[int, int]] = field(default_factory=set)
    work: int = 0

    @classmethod
    def of(cls, stretches: Sequence[Stretch]) -> _Coming:
        places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, stretch in enumerate(stretches):
            for at, text in enumerate(stretch.texts):
                places[text].append((number, at))
        return cls(stretches, places)

    def longest(self, gone: Stretch, at: int) -> tuple[int, int, int]:
        """Find the longest run that equals what went from `at` on; gives stretch, place in it and length."""
        best = (0, 0, 0)
        places = self.places.get(gone.texts[at], [])
        for number, to in places if len(places) <= CARRIED_PLACES else []:
            here = self.stretches[number]
            if (here.path, here.code) == (gone.path, gone.code):
                continue  # in its own place it was indented anew, not moved
            if self.work > CARRIED_WORK:
                break
            length = self._run(gone, at, number, to)
            best = max(best, (number, to, length), key=lambda found: found[2])
        return best

    def _run(self, gone: Stretch, at: int, number: int, to: int) -> int:
        there, length = self.stretches[number].texts, 0
        most = min(len(gone.texts) - at, len(there) - to)
        while (
            length < most and gone.texts[at + length] == there[to + length] and (number, to + length) not in self.used
        ):
            length += 1
        self.work += length + 1
        return length


def blocks(gone: Sequence[Stretch], come: Sequence[Stretch]) -> tuple[Block, ...]:
    """Match what went with what came, the longest run first at each line, each line once; too much is not tried."""
    if not gone or not come or sum(len(one.texts) for one in (*gone, *come)) > CARRIED_TOTAL:
        return ()
    coming = _Coming.of(come)
    return tuple(block for stretch in gone for block in _of_stretch(stretch, coming))


def _of_stretch(gone: Stretch, coming: _Coming) -> Iterator[Block]:
    at = 0
    while at < len(gone.texts):
        number, to, length = coming.longest(gone, at) if gone.texts[at] else (0, 0, 0)
        if not _worth(gone.texts[at : at + length]):
            at += 1
            continue
        coming.used |= {(number, to + n) for n in range(length)}
        there = coming.stretches[number]
        yield Block(gone.path, gone.first + at + 1, there.path, there.first + to + 1, length)
        at += length


def _worth(texts: Sequence[str]) -> bool:
    """A brace or a lone word moves everywhere; a block is some lines with something in them."""
    solid = sum(1 for text in texts if text)
    return solid >= CARRIED_LINES and sum(sum(map(str.isalnum, text)) for text in texts) >= CARRIED_CHARS


def stretches(
    change: Changed, old: bytes, new: bytes, options: Options, cache: Cache
) -> tuple[list[Stretch], list[Stretch]]:
    """Give what went and what came in one file; nothing of one that is no text."""
    left, right = decode(old), decode(new)
    if left.binary or right.binary:
        return [], []
    codes = [code for code in codes_of(change, left, right, options, cache) if code.tag != "equal"]
    return (
        list(_cut(change.path, [(code.a0, code.a1) for code in codes], Pages.of(left))),
        list(_cut(change.path, [(code.b0, code.b1) for code in codes], Pages.of(right))),
    )


def _cut(path: str, spans: Iterable[tuple[int, int]], pages: Pages) -> Iterator[Stretch]:
    for code, (first, last) in enumerate(spans):
        if last > first:
            yield Stretch(path, code, first, tuple(text.strip() for text in pages.raw[first:last]))


def by_line(found: Iterable[Block]) -> dict[str, dict[Line, Moved]]:
    """Spread blocks over their lines, of both ends."""
    made: dict[str, dict[Line, Moved]] = defaultdict(dict)
    for one in found:
        for n in range(one.count):
            made[one.old]["L", one.at + n] = Moved(one.new, ("R", one.to + n), n == 0, one.count)
            made[one.new]["R", one.to + n] = Moved(one.old, ("L", one.at + n), n == 0, one.count)
    return dict(made)
