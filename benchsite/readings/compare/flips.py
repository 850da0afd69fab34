"""For a case that differs: two trials, one of each side, that show the difference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Min

from benchsite.runs.models import Trial

from .lines import Line
from .pieces import Piece, Read
from .sides import Member, Side

Named = tuple[str, int]
"""Run and index of a trial."""
Ends = tuple[tuple[list[Member], int], tuple[list[Member], int]]
"""Cells and a case of the baseline, and of another side."""
Indexes = dict[tuple[int, int, str], int]


@dataclass(frozen=True)
class Flips:
    """Finds the trials only for the lines that are shown: at most one query."""

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
        indexes = self._indexes(new.values())
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

    def _indexes(self, wanted: Iterable[Ends | None]) -> Indexes:
        """The first scored trial by (cell, case, outcome)."""
        named = {
            (member.run.pk, member.id, case) for ends in wanted if ends for members, case in ends for member in members
        }
        if not named:
            return {}
        rows = Trial.objects.standing().scored().of_cases(sorted(named))
        grouped = rows.values_list("cell_id", "case_id", "outcome").annotate(least=Min("index")).order_by()
        return {(cell, case, outcome): index for cell, case, outcome, index in grouped}


def _apart(pair: tuple[Piece, Piece]) -> float:
    """By how much the means of two cells part."""
    one, two = pair[0].counted, pair[1].counted
    return abs(two.sum / two.n - one.sum / one.n)


def _pick(
    indexes: Indexes, one: tuple[list[Member], int], two: tuple[list[Member], int], *, up: bool
) -> tuple[Named, Named] | None:
    """A solved and an unsolved trial, whichever side has which; of other measures, the first scored ones."""
    first = _find(indexes, *one, "unsolved" if up else "solved")
    second = _find(indexes, *two, "solved" if up else "unsolved")
    return (first, second) if first and second else None


def _find(indexes: Indexes, members: list[Member], case: int, outcome: str) -> Named | None:
    for wanted in (outcome, "measured", "solved", "unsolved"):
        for member in members:
            index = indexes.get((member.id, case, wanted))
            if index is not None:
                return member.run.ulid, index
    return None
