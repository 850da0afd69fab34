"""Rows by the thousand are those that the ORM gives, of either database."""

from __future__ import annotations

from collections.abc import Callable

from django.db import connection
from django.db.models import F, TextField
from django.db.models.functions import Cast
from django.test.utils import CaptureQueriesContext

from benchsite.readings.wholerows import whole_rows
from benchsite.runs.models import Run, Slot, Tally


def test_rows_are_those_of_the_orm_and_are_counted_as_a_query(made: Callable[..., Run]) -> None:
    run = made(scenarios=2, trials=2)
    told = Slot.objects.filter(run=run).annotate(of=Cast("states", TextField())).order_by("id")
    seen = Tally.objects.filter(run=run).annotate(lapsed=F("invalid") + F("missing")).order_by("id")
    names = ("cell_id", "planned", "of", "cost", "seconds", "tokens", "cell__name")
    for query in (told.values_list(*names), seen.values_list("n", "lapsed", "sum", "sumsq", "min", "measure__key")):
        with CaptureQueriesContext(connection) as asked:
            rows = whole_rows(query)
        assert rows == list(query)
        assert len(rows) > 4
        assert len(asked) == 1


def test_a_condition_that_nothing_meets_is_not_asked(db: None) -> None:
    with CaptureQueriesContext(connection) as asked:
        assert whole_rows(Slot.objects.filter(pk__in=[]).values_list("pk")) == []
    assert not asked
