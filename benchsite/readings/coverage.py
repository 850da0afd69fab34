"""What of everything that was planned to be measured was: every declared measure of every planned trial."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.db.models import BooleanField, Exists, OuterRef, Q, Subquery, Sum
from django.db.models.lookups import Exact, IsNull

from benchsite.runs.models import Observation, Run, Tally

from .counts import Counts
from .leaderboard import MeasureFacts
from .words import STATE_WORDS

SEEN = ("observed", "invalid", "missing")
OUTCOMES = frozenset({"scored", "solved", "unsolved", "measured"})


@dataclass(frozen=True)
class Covered:
    """One measure: expected = observed + invalid + unobserved + the trials of `left_out`'s states."""

    measure: MeasureFacts
    expected: int
    observed: int
    invalid: int
    unobserved: int


@dataclass(frozen=True)
class Coverage:
    """`left_out`: (state, its word, its trials) for every state that no measure was observed in."""

    rows: tuple[Covered, ...]
    left_out: tuple[tuple[str, str, int], ...]

    @property
    def never(self) -> list[str]:
        """Name the measures that no trial observed, though some were scored."""
        return [row.measure.name for row in self.rows if not row.observed and row.invalid + row.unobserved]


def coverage(gaps: Mapping[int, tuple[int, int]], measures: list[MeasureFacts], total: Counts) -> Coverage:
    """Scored trials are told by measure, the others by their state. `gaps`: (invalid, missing) by measure."""
    rows = tuple(_covered(measure, total, *gaps.get(measure.id, (0, 0))) for measure in measures)
    return Coverage(rows, tuple(_left_out(total)))


def _covered(measure: MeasureFacts, total: Counts, invalid: int, missing: int) -> Covered:
    return Covered(measure, total.planned, total.scored - invalid - missing, invalid, missing)


def _left_out(total: Counts) -> Iterator[tuple[str, str, int]]:
    for state, word in STATE_WORDS.items():
        if state not in OUTCOMES and total.states[state]:
            yield state, word, total.states[state]


def was_seen(measure: int, what: str, value: str = "") -> Q:
    """The condition that a scored trial observed a measure (as this category), observed it invalidly, or not at all.

    The one row there may be is asked for by its value: from EXISTS, PostgreSQL makes a walk over all observations.
    """
    rows = Observation.objects.filter(trial=OuterRef("pk"), measure=measure, **({"text": value} if value else {}))
    valid = Subquery(rows.values("valid")[:1], output_field=BooleanField())
    found = IsNull(valid, True) if what == "missing" else Exact(valid, what == "observed")
    return Q(state="scored", withdrawn=False) & Q(found)


def seen_in(run: Run, measures: list[MeasureFacts], key: str, what: str, value: str = "") -> tuple[int, Q] | None:
    """How many trials of a run `was_seen` finds, and the cases in cells that have them; None where no rollup tells.

    Counted row by row, every trial of the run is looked at; so it is for a list of few that begins from no case.
    """
    measure = next(one for one in measures if one.key == key)
    if value and measure.type != "category":
        return None
    tallies = Tally.objects.filter(run=run, measure=measure.id)
    if value:
        many = sum(shares.get(value, 0) for shares in tallies.values_list("shares", flat=True))
        having = Q(shares__has_key=value)
    else:
        column = {"observed": "n"}.get(what, what)
        many = tallies.aggregate(many=Sum(column))["many"] or 0
        having = Q(**{f"{column}__gt": 0})
    return many, Q(Exists(tallies.filter(having, cell=OuterRef("cell"), case=OuterRef("case"))))
