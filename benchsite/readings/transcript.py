"""What was said and done: normalised steps, paged on the server, searched there, long outputs folded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchsite.diffs.stepindex import FILTERS, PAGE

from .artifact import Raw
from .shelf import Shelf
from .stepfind import LONGEST, find_steps, pattern_of
from .steps import Placed, page_of, page_with, place, total
from .steptext import Shown, show
from .trialhead import Head, Seen, find


@dataclass(frozen=True)
class Source:
    """One request's transcript and raw output, as blobs."""

    request: int
    transcript: str
    output: str


@dataclass(frozen=True)
class Transcript:
    """`total` steps match `role` and `words`; `bounded` says in words that not everything was searched."""

    head: Head
    attempt: int
    sources: tuple[Source, ...]
    steps: tuple[Shown, ...]
    total: int
    page: int
    role: str
    words: str
    counts: dict[str, int]
    refused: tuple[str, ...]
    bounded: str = ""

    @property
    def choices(self) -> list[tuple[str, int]]:
        return [(name, self.counts[name]) for name in FILTERS if name and self.counts.get(name)]

    @property
    def several(self) -> bool:
        return len(self.sources) > 1

    @property
    def place(self) -> str:
        """Where a step found or filtered stands among all steps, but for its number."""
        return f"?attempt={self.attempt}&" if self.words or self.role else ""

    @property
    def attempt_numbers(self) -> list[int]:
        return [attempt.number for attempt in self.head.attempts]

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // PAGE))

    @property
    def first(self) -> int:
        return (self.page - 1) * PAGE + 1 if self.total else 0

    @property
    def last(self) -> int:
        return min(self.page * PAGE, self.total)


def transcript(
    user: Any, ulid: str, index: int, page: int, attempt: int | None, role: str, at: str = "", words: str = ""
) -> Transcript | None:
    """Give one page of a transcript; `at`, as `request-step`, asks for the page that holds that step."""
    head = find(user, ulid, index)
    if head is None:
        return None
    number = attempt or (head.final.number if head.final else 1)
    sources = sources_of(head, number)
    shelf = Shelf((source.transcript for source in sources), head.run.bench_id)
    placed = placed_of(sources, shelf)
    role, words = role if role in FILTERS else "", words.strip()[:LONGEST]
    if words:
        found = find_steps(placed, shelf, words, role, max(1, page))
        steps, many, bounded = list(found.steps), found.total, found.bounded
    else:
        many, bounded = total(placed, role), ""
        page = page_with(placed, at) if at else min(max(1, page), max(1, -(-many // PAGE)))
        steps = list(page_of(placed, shelf, role, page))
    pattern = pattern_of(words) if words else None
    shown = tuple(show(step, request, pattern) for request, step in steps)
    counts = {name: total(placed, name) for name in FILTERS}
    refused = tuple(shelf.why.values())
    return Transcript(head, number, sources, shown, many, max(1, page), role, words, counts, refused, bounded)


def raw_transcript(page: Transcript, which: str) -> Raw | None:
    """Give the bytes of one request: `transcript-1` or `output-1`."""
    kind, _, number = which.partition("-")
    source = next((s for s in page.sources if str(s.request) == number), None)
    digest = {"transcript": source.transcript, "output": source.output}.get(kind) if source else None
    file = Shelf([digest], page.head.run.bench_id).open(digest) if digest else None
    if file is None or source is None:
        return None
    ending = "jsonl" if kind == "transcript" else "txt"
    return Raw.of(file, f"trial-{page.head.index}-{kind}-{source.request}.{ending}")


def sources_of(seen: Seen, attempt: int | None = None) -> tuple[Source, ...]:
    rows = [row for row in seen.record(attempt).get("requests") or [] if isinstance(row, dict)]
    numbers = [int(row.get("number") or n) for n, row in enumerate(rows, 1)]
    if len({*numbers}) < len(numbers):  # no step could be told from another one's
        numbers = [*range(1, len(rows) + 1)]
    return tuple(
        Source(number, row.get("transcript") or "", row.get("output") or "")
        for number, row in zip(numbers, rows, strict=True)
    )


def placed_of(sources: tuple[Source, ...], shelf: Shelf) -> list[Placed]:
    """Index the transcripts that may be shown; the shelf says why others may not."""
    return place([(source.request, source.transcript) for source in sources if source.transcript], shelf)
