"""What is compared with what: `of=<kind>:<id>`, the first is the baseline. One address for all kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runner.errors import RunnerError

KINDS = ("run", "cell", "subject", "trial")
MOST = 6


class CompareRefused(RunnerError):
    """Things that cannot be compared; says why, in a sentence for the page."""


class NoMeasure(CompareRefused):
    """A measure that cannot be compared; `offered` are those that can."""

    def __init__(self, sentence: str, offered: Sequence[str]) -> None:
        super().__init__(sentence)
        self.offered = tuple(offered)


@dataclass(frozen=True)
class Of:
    kind: str
    id: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"


def read(asked: Sequence[str]) -> tuple[Of, ...]:
    """Read an address's `of`s: all of one kind, each once, in their order; none gives an empty tuple."""
    found = tuple(dict.fromkeys(_one(text) for text in asked))
    kinds = sorted({of.kind for of in found})
    if len(kinds) > 1:
        raise CompareRefused(f"A {kinds[0]} cannot be compared with a {kinds[1]}; name things of one kind.")
    if len(found) > MOST:
        raise CompareRefused(f"At most {MOST} things are compared at once; {len(found)} were named.")
    return found


def _one(text: str) -> Of:
    kind, colon, rest = text.partition(":")
    if kind not in KINDS or not colon or not rest:
        raise CompareRefused(
            f"{text[:80]!r} names nothing that can be compared; write of=KIND:ID with one of {', '.join(KINDS)}."
        )
    return Of(kind, rest)
