"""What an address asks besides what is compared. Every state of the page is one of these, and has one address."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from benchsite.readings.counts import DEFAULT_POLICY

SHOWS = ("differ", "better", "worse", "same", "apart", "all")
SORTS = ("change", "name")


@dataclass(frozen=True)
class Asked:
    """`side`: whose cases are shown, by its place among the `of`s from 1 on; 0: those of any side.

    `want`: a difference one would like to see, in points for a rate, else in the measure's unit; 0: the default.
    """

    policy: str = DEFAULT_POLICY
    measure: str = ""
    show: str = "differ"
    side: int = 0
    sort: str = "change"
    first: int = 1
    want: float = 0.0

    def pairs(self, **changed: Any) -> list[tuple[str, str]]:
        """What is not as it is by default, in a fixed order."""
        asked, plain = replace(self, **changed), Asked()
        return [
            (name, f"{value:g}" if isinstance(value, float) else str(value))
            for name, value in vars(asked).items()
            if value != getattr(plain, name)
        ]

    def query(self, of: Iterable[object], **changed: Any) -> str:
        rest = urlencode(self.pairs(**changed), safe=":/")
        return f"?{'&'.join(filter(None, (_named(tuple(map(str, of))), rest)))}"


@lru_cache(maxsize=64)
def _named(of: tuple[str, ...]) -> str:
    """What is compared, quoted once for all the choices of a page."""
    return urlencode([("of", one) for one in of], safe=":/")
