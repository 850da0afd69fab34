"""The trials behind a comparison's numbers, as filters of a run's list: only where the list's count is the number."""

from __future__ import annotations

from typing import Any

from .lines import Line
from .numbers import NumbersPage

Listed = tuple[str, dict[str, Any]]
"""A run and the filters of its list of trials."""


def planned(page: NumbersPage, place: int) -> Listed | None:
    """All trials of a side. A subject has several runs, and a run may have cells that are left out: no list is that."""
    side, shared = page.columns[place].side, page.flips.subjects
    if side.of.kind == "cell":
        return side.run.ulid, {"cell": side.members[0].key10}
    whole = side.of.kind == "run" and (shared is None or all(member.subject in shared for member in side.members))
    return (side.run.ulid, {}) if whole else None


def observed(page: NumbersPage, place: int) -> Listed | None:
    """The trials whose values a side's coverage counts."""
    found = planned(page, place)
    if found is None or page.measure is None:
        return None
    return found[0], {**found[1], "measure": page.measure.key, "seen": "observed"}


def of_case(page: NumbersPage, place: int, line: Line) -> Listed | None:
    """The counted trials of a case on one side."""
    found, figure, measure = planned(page, place), line.squares[place].figure, page.measure
    if found is None or figure is None or measure is None or figure.n != _all(page, place, line):
        return None
    case = {"scenario": line.slug, "case": line.case or None}
    if measure.headline and measure.rate:
        return found[0], {**found[1], **case, "counted": page.policy.name}
    if page.policy.errors_fail and measure.worst is not None:
        return None
    return found[0], {**found[1], **case, "measure": measure.key, "seen": "observed"}


def _all(page: NumbersPage, place: int, line: Line) -> int:
    """How many trials of the case count on this side, whether or not the other side has their cell."""
    fails = page.policy.errors_fail and page.measure is not None and page.measure.worst is not None
    counts = [piece.counted for piece in page.flips.of_case(place, line)]
    return sum(one.n + (one.lapsed + one.blamed if fails else 0) for one in counts)
