"""Which cases of two sides can be compared: the same scenario, unchanged, counted on both sides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Literal, NamedTuple

from .casefigure import CaseFigure, average

MEASURED_BY = ("schema", "template", "fixtures", "suite", "setup", "evaluation", "judge")
"""The parts of a definition that decide what a trial of a scenario measures; where one differs, nothing is paired."""

Why = Literal["", "changed", "only_base", "only_other", "uncounted_base", "uncounted_other", "uncounted"]
WHY: dict[str, str] = {
    "changed": "the scenario is another one",
    "only_base": "only in the baseline",
    "only_other": "not in the baseline",
    "uncounted_base": "nothing counted in the baseline",
    "uncounted_other": "nothing counted here",
    "uncounted": "nothing counted on either side",
}


class Part(NamedTuple):
    """One case in one cell of one side. `subject` is what cells of two runs are matched by."""

    subject: Hashable
    scenario: str
    case: str
    fingerprint: str
    figure: CaseFigure | None


class Pair(NamedTuple):
    """A case on both sides; where `why` says that it cannot be compared, its figures are not in any pooled number."""

    scenario: str
    case: str
    base: CaseFigure | None
    other: CaseFigure | None
    why: Why

    @property
    def comparable(self) -> bool:
        return not self.why


def shared_subjects(base: Sequence[Part], other: Sequence[Part]) -> frozenset[Hashable]:
    return frozenset(part.subject for part in base) & frozenset(part.subject for part in other)


def match(base: Sequence[Part], other: Sequence[Part], subjects: frozenset[Hashable] | None = None) -> list[Pair]:
    """Pair two sides case by case. With `subjects`, each cell is paired with the same cell of the other side."""
    one, two = _by_case(base, subjects), _by_case(other, subjects)
    return [_pair(key, one.get(key, {}), two.get(key, {}), cells=subjects is not None) for key in {**one, **two}]


def _by_case(
    parts: Sequence[Part], subjects: frozenset[Hashable] | None
) -> dict[tuple[str, str], dict[Hashable, Part]]:
    made: dict[tuple[str, str], dict[Hashable, Part]] = defaultdict(dict)
    for part in parts:  # thousands
        subject, scenario, case, _, _ = part
        if subjects is None or subject in subjects:
            made[scenario, case][subject] = part
    return made


def _pair(key: tuple[str, str], base: Mapping[Hashable, Part], other: Mapping[Hashable, Part], *, cells: bool) -> Pair:
    one = {subject: part.figure for subject, part in base.items() if part.figure}
    two = {subject: part.figure for subject, part in other.items() if part.figure}
    shared = [subject for subject in one if subject in two] if cells else []
    first = average([one[subject] for subject in shared] or list(one.values())) if one else None
    second = average([two[subject] for subject in shared] or list(two.values())) if two else None
    apart = cells and bool(one) and bool(two) and not shared
    return Pair(*key, first, second, "uncounted" if apart else _why(base, other, first, second))


def _why(
    base: Mapping[Hashable, Part],
    other: Mapping[Hashable, Part],
    first: CaseFigure | None,
    second: CaseFigure | None,
) -> Why:
    if not base or not other:
        return "only_base" if base else "only_other"
    if {part.fingerprint for part in base.values()} != {part.fingerprint for part in other.values()}:
        return "changed"
    if first and second:
        return ""
    return "uncounted_other" if first else "uncounted_base" if second else "uncounted"
