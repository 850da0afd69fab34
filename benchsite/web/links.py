"""Addresses that pages make often. A number's link asks for exactly the trials it counts."""

from __future__ import annotations

from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from django.urls import get_script_prefix, reverse

from benchsite.readings.counts import DEFAULT_POLICY
from benchsite.readings.trials import query_of


def address(name: str, *args: str) -> str:
    """Reverse what a page asks for hundreds of times: all that the answer depends on is what it is kept by."""
    return _reversed(get_script_prefix(), name, args)


@lru_cache(maxsize=1024)
def _reversed(prefix: str, name: str, args: tuple[str, ...]) -> str:
    return reverse(name, args=args)


def trials(ulid: str, **filters: Any) -> str:
    """The list of a run's trials under filters, in their canonical order."""
    query, here = query_of(filters), address("run_trials", ulid)
    return f"{here}?{query}" if query else here


def run(ulid: str, **asked: Any) -> str:
    """A run's page; defaults stay out of the address."""
    defaults = {"policy": DEFAULT_POLICY, "measure": "", "sort": "name", "first": 1, "every": False}
    pairs = [(name, value) for name, value in asked.items() if value != defaults.get(name)]
    here = address("run", ulid)
    return f"{here}?{urlencode(pairs, safe='/')}" if pairs else here


def compare_trials(*trials: tuple[str, int], **asked: str) -> str:
    """The comparison of trials named by run and index; of one alone, with the nearest solved trial."""
    named = [f"of=trial:{ulid}/{index}" for ulid, index in trials]  # nothing in these needs quoting
    rest = urlencode([(name, value) for name, value in asked.items() if value], safe=":/") if asked else ""
    return f"{address('compare')}?{'&'.join([*named, rest] if rest else named)}"


def unsolved_of(strip: Any) -> list[int]:
    """Of a strip of marks, the first unsolved trial and the nearest solved one of its case in it, if there is one."""
    missed = next((mark for mark in strip.marks if mark.status == "unsolved"), None)
    if missed is None:
        return []
    solved = [mark for mark in strip.marks if mark.status == "solved" and mark.case == missed.case]
    near = min(solved, key=lambda mark: abs(mark.number - missed.number), default=None)
    return [missed.index, near.index] if near else [missed.index]


def crumbs_of_run(run: Any, *more: tuple[str, str | None]) -> list[tuple[str, str | None]]:
    bench = run.bench
    trail: list[tuple[str, str | None]] = [
        ("Benches", reverse("benches")),
        (str(bench), reverse("bench", args=[bench.owner, bench.name])),
        (f"Run {run.label}", reverse("run", args=[run.ulid])),
        *more,
    ]
    return [*trail[:-1], (trail[-1][0], None)]


def crumbs_of_bench(bench: Any, *more: tuple[str, str | None]) -> list[tuple[str, str | None]]:
    trail: list[tuple[str, str | None]] = [
        ("Benches", reverse("benches")),
        (str(bench), reverse("bench", args=[bench.owner, bench.name])),
        *more,
    ]
    return [*trail[:-1], (trail[-1][0], None)]
