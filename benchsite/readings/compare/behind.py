"""The trials behind a comparison's numbers: a run's list where its count is the number, else one over several runs."""

from __future__ import annotations

from typing import Any, NamedTuple

from .lines import Line
from .numbers import NumbersPage
from .pooled import Behind


class Listed(NamedTuple):
    """A run and the filters of its list of trials."""

    run: str
    filters: dict[str, Any]


def planned(page: NumbersPage, place: int) -> Listed | Behind:
    """All trials of a side. A subject has several runs, and a run may have cells that are left out."""
    return _whole(page, place) or Behind(place + 1, "planned")


def observed(page: NumbersPage, place: int) -> Listed | Behind:
    """The trials whose values a side's coverage counts."""
    found = _whole(page, place)
    if found is None or page.measure is None:
        return Behind(place + 1, "observed")
    return Listed(found.run, {**found.filters, "measure": page.measure.key, "seen": "observed"})


def of_case(page: NumbersPage, place: int, line: Line) -> Listed | Behind | None:
    """The counted trials of a case on one side."""
    found, figure, measure = _whole(page, place), line.squares[place].figure, page.measure
    if figure is None or measure is None:
        return None
    fails = page.policy.errors_fail and measure.worst is not None
    plain = measure.headline and measure.rate
    if found is None or figure.n != _all(page, place, line, fails=fails) or (fails and not plain):
        return Behind(place + 1, "counted", line.slug, line.case)
    case = {**found.filters, "scenario": line.slug, "case": line.case or None}
    how = {"counted": page.policy.name} if plain else {"measure": measure.key, "seen": "observed"}
    return Listed(found.run, {**case, **how})


def _whole(page: NumbersPage, place: int) -> Listed | None:
    """A side that is one list of one run."""
    if not page.whole[place]:
        return None
    side = page.columns[place].side
    return Listed(side.run.ulid, {"cell": side.members[0].key10} if side.of.kind == "cell" else {})


def _all(page: NumbersPage, place: int, line: Line, *, fails: bool) -> int:
    """How many trials of the case count on this side, whether or not the other side has their cell."""
    counts = [piece.counted for piece in page.flips.of_case(place, line)]
    return sum([one.n + one.lapsed + one.blamed for one in counts] if fails else [one.n for one in counts])
