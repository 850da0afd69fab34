"""Which changed files are old ones under new names: moved or copied, found by digest first, then by shared lines."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .files import Changed, Read, Side, Status
from .limits import RENAME_BYTES, RENAME_FILES, RENAME_SHARE, RENAME_WORK


@dataclass(frozen=True)
class Source:
    """Where content came from. A `gone` source is used up by one move; the others can be copied any number of times."""

    path: str
    side: Side
    gone: bool


Pair = tuple[Source, Changed, float]
Expect = Callable[[Sequence[Side]], object]


def with_moves(
    changes: Sequence[Changed], read: Read, start: Mapping[str, Side] | None = None, expect: Expect = lambda sides: None
) -> tuple[Changed, ...]:
    """Join what was deleted and added again elsewhere; name the source of what was copied.

    Sources are the files of `start` (all that stood there before) where it is given, else the changed ones alone;
    only changed ones are compared by their lines. `expect` is told at once of all that may then be read.
    """
    come = [change for change in changes if change.status == "added" and _has_content(change.after)]
    sources = [
        Source(change.path, change.before, change.after is None)
        for change in changes
        if change.before is not None and _has_content(change.before)
    ]
    if not come or not (sources or start):
        return tuple(changes)
    pairs = _by_digest([*sources, *_untouched(changes, start or {})], come)
    left, missing = _left(sources, pairs), _missing(come, pairs)
    if left and missing and max(len(left), len(missing)) <= RENAME_FILES:
        expect([*(source.side for source in left), *(change.after for change in missing if change.after)])
        pairs += _by_lines(left, missing, read)
    return _joined(changes, pairs)


def _joined(changes: Sequence[Changed], pairs: list[Pair]) -> tuple[Changed, ...]:
    found = {new.path: _renamed(source, new, share) for source, new, share in pairs}
    moved = {source.path for source, _, _ in pairs if source.gone}
    kept = (found.get(change.path, change) for change in changes if change.path not in moved or change.path in found)
    return tuple(kept)


def _renamed(source: Source, new: Changed, share: float) -> Changed:
    status: Status = "renamed" if source.gone else "copied"
    return Changed(new.path, status, source.side, new.after, source.path, int(share * 100))


def _has_content(side: Side | None) -> bool:
    return side is not None and side.type == "file" and side.size > 0


def _untouched(changes: Sequence[Changed], start: Mapping[str, Side]) -> Iterator[Source]:
    changed = {change.path for change in changes}
    for path, side in start.items():
        if path not in changed and _has_content(side):
            yield Source(path, side, False)


def _by_digest(sources: Iterable[Source], come: Sequence[Changed]) -> list[Pair]:
    waiting: dict[str, list[Source]] = defaultdict(list)
    for source in sources:
        if source.side.sha256:
            waiting[source.side.sha256].append(source)
    found: list[Pair] = []
    for change in come:
        same = waiting.get(change.after.sha256 if change.after else "", [])
        if same:
            source = min(same, key=lambda one: _liking(one, change)) if len(same) > 1 else same[0]
            if source.gone:
                # it has moved once; whatever else has its content is a copy
                same[same.index(source)] = Source(source.path, source.side, False)
            found.append((source, change, 1.0))
    return found


def _liking(source: Source, change: Changed) -> tuple[bool, bool]:
    """Of several equal files one that is gone has most likely moved, and of those the one that kept its name."""
    return not source.gone, source.path.rsplit("/", 1)[-1] != change.path.rsplit("/", 1)[-1]


def _left(sources: list[Source], pairs: list[Pair]) -> list[Source]:
    used = {source.path for source, _, _ in pairs if source.gone}
    return [source for source in sources if source.path not in used]


def _missing(come: list[Changed], pairs: list[Pair]) -> list[Changed]:
    told = {change.path for _, change, _ in pairs}
    return [change for change in come if change.path not in told]


def _by_lines(sources: list[Source], come: list[Changed], read: Read) -> list[Pair]:
    old = {source.path: bag for source in sources if (bag := _bag(source.side, read))}
    new = {change.path: bag for change in come if (bag := _bag(change.after, read))} if old else {}
    rated = sorted(_rated(sources, come, old, new), key=lambda row: (-row[2], not row[0].gone, row[1].path))
    found: list[Pair] = []
    used: set[str] = set()
    told: set[str] = set()
    for source, change, share in rated:
        if source.path not in used and change.path not in told:
            used |= {source.path} if source.gone else set()
            told.add(change.path)
            found.append((source, change, min(share, 0.99)))
    return found


def _rated(
    sources: list[Source], come: list[Changed], old: dict[str, Counter[bytes]], new: dict[str, Counter[bytes]]
) -> Iterator[Pair]:
    work = 0
    for a in (source for source in sources if source.path in old):
        for b in (change for change in come if change.path in new):
            # a record from outside may hold hundreds of large files on either side; give up rather than hang
            work += 1 + min(len(old[a.path]), len(new[b.path]))
            if work > RENAME_WORK:
                return
            share = _share(old[a.path], new[b.path])
            if share >= RENAME_SHARE:
                yield a, b, share


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
