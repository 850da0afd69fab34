"""Which words of a changed line changed: pairs within a replaced block, marks as integer extents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from .limits import ISLAND, MARK_CHARS, MARK_SHARE, MARK_TOKENS, PAIR_PRODUCT, PAIR_SHARE

Extent = tuple[int, int]
TOKEN = re.compile(r"\w+|[^\S\n]+|.", re.DOTALL)


def pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int | None, int | None]]:
    """Put the lines of a replaced block side by side, in order: alike ones together, the rest beside what is left.

    A pair of lines that are not alike shares a row all the same, as every side-by-side view does; `marks` then
    finds too much changed and stays silent.
    """
    anchors = _anchors(old, new) if 0 < len(old) * len(new) <= PAIR_PRODUCT else []
    found: list[tuple[int | None, int | None]] = []
    a = b = 0
    for i, j in [*anchors, (len(old), len(new))]:
        found += _beside(a, i, b, j)
        if i < len(old):
            found.append((i, j))
        a, b = i + 1, j + 1
    return found


def marks(old: str, new: str) -> tuple[tuple[Extent, ...], tuple[Extent, ...]]:
    """Find the changed stretches of two paired lines; empty on both sides when marks would not help."""
    if max(len(old), len(new)) > MARK_CHARS:
        return (), ()
    left, right = TOKEN.findall(old), TOKEN.findall(new)
    if max(len(left), len(right)) > MARK_TOKENS:
        return (), ()
    gone, come = _changed(left, right)
    a, b = _join(gone, old), _join(come, new)
    if _share(a, old) > MARK_SHARE or _share(b, new) > MARK_SHARE:
        return (), ()
    return a, b


def likeness(old: str, new: str) -> float:
    """Rate two lines from 0 to 1 by the words they share, whatever their order and indent."""
    return _overlap(_bag(old), _bag(new))


def _bag(line: str) -> Counter[str]:
    return Counter(token for token in TOKEN.findall(line[:MARK_CHARS]) if not token.isspace())


def _overlap(a: Counter[str], b: Counter[str]) -> float:
    total = _weight(a) + _weight(b)
    return 2 * _weight(a & b) / total if total else 0.0


def _weight(bag: Counter[str]) -> int:
    return sum(len(token) * count for token, count in bag.items())


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Choose pairs in order with the greatest total likeness (the alignment known from sequences)."""
    left, right = [_bag(line) for line in old], [_bag(line) for line in new]
    rows, columns = len(left), len(right)
    alike = [[_overlap(a, b) for b in right] for a in left]
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            paired = alike[i][j] + best[i + 1][j + 1] if alike[i][j] >= PAIR_SHARE else 0.0
            best[i][j] = max(paired, best[i + 1][j], best[i][j + 1])
    return _walk(alike, best, rows, columns)


def _walk(alike: list[list[float]], best: list[list[float]], rows: int, columns: int) -> list[tuple[int, int]]:
    found, i, j = [], 0, 0
    while i < rows and j < columns:
        if alike[i][j] >= PAIR_SHARE and best[i][j] == alike[i][j] + best[i + 1][j + 1]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return found


def _beside(a0: int, a1: int, b0: int, b1: int) -> list[tuple[int | None, int | None]]:
    rows = max(a1 - a0, b1 - b0)
    return [(a0 + n if a0 + n < a1 else None, b0 + n if b0 + n < b1 else None) for n in range(rows)]


def _changed(left: list[str], right: list[str]) -> tuple[list[Extent], list[Extent]]:
    a, b = _starts(left), _starts(right)
    old: list[Extent] = []
    new: list[Extent] = []
    for tag, i0, i1, j0, j1 in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        same = _same_blanks("".join(left[i0:i1]), "".join(right[j0:j1]))
        gone, come = (a[i0] + same, a[i1]), (b[j0] + same, b[j1])
        old += [_slide(gone, "".join(left)) if tag == "delete" else gone] if gone[1] > gone[0] else []
        new += [_slide(come, "".join(right)) if tag == "insert" else come] if come[1] > come[0] else []
    return old, new


def _slide(extent: Extent, line: str) -> Extent:
    """Move a stretch that may stand in several places to where a reader would put it: behind a blank."""
    start, end = extent
    while start > 0 and line[start - 1] == line[end - 1]:
        start, end = start - 1, end - 1
    best = extent
    while True:
        if start == 0 or line[start - 1].isspace():
            best = (start, end)
        if end == len(line) or line[start] != line[end]:
            return best
        start, end = start + 1, end + 1


def _same_blanks(old: str, new: str) -> int:
    """Measure the blanks two stretches share at their head: of a deeper indent only the new blanks are marked."""
    if old.strip() or new.strip():
        return 0
    pairs = zip(old, new, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))


def _starts(tokens: list[str]) -> list[int]:
    starts = [0]
    for token in tokens:
        starts.append(starts[-1] + len(token))
    return starts


def _join(extents: Sequence[Extent], line: str) -> tuple[Extent, ...]:
    """Join marks over islands too small to read; a run of blanks is no island worth keeping either."""
    joined: list[Extent] = []
    for start, end in extents:
        between = line[joined[-1][1] : start] if joined else ""
        if joined and (len(between) < ISLAND or between.isspace()):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return tuple(joined)


def _share(extents: Sequence[Extent], line: str) -> float:
    solid = len(line.strip()) or 1
    return sum(len(line[start:end].strip()) for start, end in extents) / solid
