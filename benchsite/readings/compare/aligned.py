"""The alignment of two trials' transcripts, kept by the digests of both and by where it begins."""

from __future__ import annotations

from collections.abc import Sequence

from benchsite.diffs import lines
from benchsite.diffs.alignment import WINDOW, Alignment, Keys, Place, Span, align
from benchsite.diffs.stepindex import FORMAT
from benchsite.readings.shelf import Shelf, diff_cache
from benchsite.readings.steps import Placed, keys_of, total


def aligned(a: Sequence[Placed], b: Sequence[Placed], shelf: Shelf, start: Place) -> Alignment:
    """Align one window of steps; a place that is in neither transcript is the beginning."""
    if not (0 <= start[0] <= total(a, "") and 0 <= start[1] <= total(b, "")):
        start = (0, 0)
    names = [[one.digest for one in side] for side in (a, b)]
    key = ["aligned", FORMAT, lines.ENGINE, WINDOW, *names, *start]
    kept = diff_cache().look(key)
    if kept is None:
        made = align(Keys.joined(keys_of(a, shelf)), Keys.joined(keys_of(b, shelf)), start)
        diff_cache().put(key, _packed(made))
        return made
    spans = tuple(Span(*row) for row in kept["spans"])
    return Alignment(spans, start, (kept["end"][0], kept["end"][1]), kept["common"], kept["tail"])


def _packed(made: Alignment) -> dict[str, object]:
    spans = [[span.kind, span.a0, span.a1, span.b0, span.b1] for span in made.spans]
    return {"spans": spans, "end": made.end, "common": made.common, "tail": made.tail}
