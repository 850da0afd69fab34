"""For a case that differs: two trials, one of each side, that show the difference."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import Min

from benchsite.readings.wholerows import whole_rows
from benchsite.runs.models import Trial

from .lines import Line
from .pieces import Piece, Read
from .sides import Member, Side

Named = tuple[str, int]
"""Run and index of a trial."""
End = tuple[list[Member], int]
"""Cells, the newest run's first, and a case."""
Ends = tuple[End, End]
"""Of the baseline, and of another side."""
Indexes = dict[tuple[int, int, str], int]


@dataclass(frozen=True)
class Flips:
    """Finds the trials only for the lines that are shown: at most two queries."""

    sides: Sequence[Side]
    found: Read
    subjects: frozenset[int] | None

    def of(self, lines: Sequence[Line]) -> dict[tuple[str, str, int], tuple[Named, Named]]:
        """Give, by (scenario, case, side), the baseline's trial and the other's; what was found before is known."""
        known, shown = self.found.flips, {(line.slug, line.case): line for line in lines}
        asked = [
            (line.slug, line.case, place, square.difference > 0)
            for line in lines
            for place, square in enumerate(line.squares)
            if square.difference
        ]
        new = {key: self._cells(shown[key[0], key[1]], key[2]) for key in asked if key not in known}
        indexes = self._indexes([(ends, key[3]) for key, ends in new.items() if ends])
        known.update({key: _pick(indexes, *ends, up=key[3]) if ends else None for key, ends in new.items()})
        return {(slug, case, place): pair for slug, case, place, up in asked if (pair := known[slug, case, place, up])}

    def _cells(self, line: Line, place: int) -> Ends | None:
        """The cells that part most on this case; of a subject, all its runs."""
        own = [self._pieces(side, line) for side in (0, place)]
        if not all(own):
            return None
        if self.subjects is None:
            one, two = own[0][0], own[1][0]
        else:
            second = {piece.subject: piece for piece in own[1]}
            both = [(piece, second[piece.subject]) for piece in own[0] if piece.subject in second]
            if not both:
                return None
            one, two = max(both, key=_apart)
        return (self._members(0, one), one.case), (self._members(place, two), two.case)

    def _pieces(self, side: int, line: Line) -> list[Piece]:
        return [piece for piece in self.of_case(side, line) if piece.counted.n]

    def of_case(self, side: int, line: Line) -> list[Piece]:
        return self.found.by_case(side).get((line.slug, line.case), [])

    def _members(self, side: int, piece: Piece) -> list[Member]:
        members = self.sides[side].members
        return (
            list(members)
            if self.sides[side].of.kind == "subject"
            else [m for m in members if m.subject == piece.subject]
        )

    def _indexes(self, wanted: Sequence[tuple[Ends, bool]]) -> Indexes:
        """The first scored trial by (cell, case, outcome): of the newest run, and of older ones where it lacks one."""
        ends = [(*end, outcome) for of, up in wanted for end, outcome in zip(of, _outcomes(up=up), strict=True)]
        newest = _least({_key(members[0], case) for members, case, _ in ends})
        lacking = [(members, case) for members, case, outcome in ends if (members[0].id, case, outcome) not in newest]
        return newest | _least({_key(member, case) for members, case in lacking for member in members[1:]})


def _key(member: Member, case: int) -> tuple[int, int, int]:
    return member.run.pk, member.id, case


def _least(cases: Collection[tuple[int, int, int]]) -> Indexes:
    """By (cell, case, outcome), the least index of a scored trial of these runs, cells and cases."""
    if not cases:
        return {}
    rows = Trial.objects.standing().scored().of_cases(sorted(cases))
    grouped = rows.values_list("cell_id", "case_id", "outcome").annotate(least=Min("index")).order_by()
    return {(cell, case, outcome): index for cell, case, outcome, index in whole_rows(grouped)}


def _apart(pair: tuple[Piece, Piece]) -> float:
    """By how much the means of two cells part."""
    one, two = pair[0].counted, pair[1].counted
    return abs(two.sum / two.n - one.sum / one.n)


def _outcomes(*, up: bool) -> tuple[str, str]:
    """The outcomes that show a change: of a trial of the baseline, and of one of the other side."""
    return ("unsolved", "solved") if up else ("solved", "unsolved")


def _pick(indexes: Indexes, one: End, two: End, *, up: bool) -> tuple[Named, Named] | None:
    """A solved and an unsolved trial, whichever side has which; of other measures, the first scored ones."""
    before, after = _outcomes(up=up)
    first, second = _find(indexes, *one, before), _find(indexes, *two, after)
    return (first, second) if first and second else None


def _find(indexes: Indexes, members: list[Member], case: int, outcome: str) -> Named | None:
    for wanted in (outcome, "measured", "solved", "unsolved"):
        for member in members:
            index = indexes.get((member.id, case, wanted))
            if index is not None:
                return member.run.ulid, index
    return None
