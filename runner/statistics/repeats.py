"""What N tries of the same case say of k tries: pass@k (at least one succeeds) and pass^k (all do)."""

from __future__ import annotations

from collections.abc import Iterable
from math import comb
from typing import NamedTuple

import numpy as np

from .pooled import pooled
from .rows import Key

MOST = 10
"""A curve goes up to this k."""


class Tried(NamedTuple):
    """A case in a cell: n counted trials, c of them successes."""

    scenario: Key
    n: int
    c: int


class RepeatFigures(NamedTuple):
    """`some` is pass@k, `every` is pass^k; both pooled as a standing is. n and c sum over the cases that count.

    `short` cases have under k counted trials: nothing unbiased can be said of them, so they are left out.
    """

    k: int
    some: float | None
    some_lo: float | None
    some_hi: float | None
    every: float | None
    every_lo: float | None
    every_hi: float | None
    n: int
    c: int
    cases: int
    short: int


def pass_at(n: int, c: int, k: int) -> float:
    """Estimate without bias that at least one of k tries succeeds: 1 - C(n - c, k) / C(n, k)."""
    _check(n, c, k)
    return 1 - comb(n - c, k) / comb(n, k)


def pass_all(n: int, c: int, k: int) -> float:
    """Estimate without bias that all of k tries succeed: C(c, k) / C(n, k)."""
    _check(n, c, k)
    return comb(c, k) / comb(n, k)


def _check(n: int, c: int, k: int) -> None:
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"pass@k needs 0 <= c <= n and 1 <= k <= n, not n={n}, c={c}, k={k}")


def repeats(cases: Iterable[Tried], k: int) -> RepeatFigures:
    """Pool pass@k and pass^k of one cell over its cases."""
    tried = list(cases)
    enough = [one for one in tried if one.n >= k]
    scenarios = [one.scenario for one in tried]
    some = pooled(scenarios, [pass_at(one.n, one.c, k) if one.n >= k else np.nan for one in tried], rate=True)
    every = pooled(scenarios, [pass_all(one.n, one.c, k) if one.n >= k else np.nan for one in tried], rate=True)
    n, c = sum(one.n for one in enough), sum(one.c for one in enough)
    return RepeatFigures(k, *some[:3], *every[:3], n, c, len(enough), len(tried) - len(enough))


def curve(cases: Iterable[Tried]) -> list[RepeatFigures]:
    """Give k = 1, 2, ... as far as every case that was counted at all has trials, at most up to MOST."""
    tried = list(cases)
    least = min((one.n for one in tried if one.n), default=0)
    return [repeats(tried, k) for k in range(1, min(least, MOST) + 1)]
