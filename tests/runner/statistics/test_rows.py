from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.replay import Attempt, Observation
from runner.statistics import slots, tallies
from runner.statistics.counted import spent
from runner.statistics.rows import observed, stored

from .make import APPROACH, FILES, NOTES, RESOLVED, SCORE, make_row


def test_a_slot_counts_states_outcomes_and_faults_without_zeros() -> None:
    rows = [
        make_row(outcome="solved", cost=0.1, seconds=2.0, tokens=10),
        make_row(number=2, outcome="unsolved", cost=0.2),
        make_row(number=3, state="run_error", fault="timeout", seconds=5.0, tokens=7),
        make_row(number=4, state="excluded"),
    ]
    slot = slots(rows)[0, 0, 0]
    assert slot.planned == 4
    assert slot.states == {"scored": 2, "solved": 1, "unsolved": 1, "run_error": 1, "excluded": 1}
    assert slot.faults == {"timeout": 1}
    assert (slot.cost, slot.seconds, slot.tokens) == (pytest.approx(0.3), 7.0, 17)
    assert (slot.cost_n, slot.seconds_n, slot.tokens_n) == (2, 2, 2)
    assert spent(slot.states, slot.cost, slot.cost_n) == slot.cost


def test_unknown_cost_is_not_zero() -> None:
    slot = slots([make_row(), make_row(number=2, state="not_run")])[0, 0, 0]
    assert (slot.cost, slot.seconds, slot.tokens) == (None, None, None)
    partly = slots([make_row(cost=0.5), make_row(number=2)])[0, 0, 0]
    assert (partly.cost, partly.cost_n) == (0.5, 1)
    whole = spent(partly.states, partly.cost, partly.cost_n)
    assert whole is None, "what two scored trials cost is unknown where one does not tell"


def test_a_tally_parts_observed_invalid_and_missing() -> None:
    rows = [
        make_row(values={"files": 3.0}),
        make_row(number=2, values={"files": 5.0}),
        make_row(number=3, invalid=frozenset({"files"})),
        make_row(number=4),
        make_row(number=5, state="run_error", values={"files": 100.0}),
    ]
    tally = tallies(rows, [FILES])[0, 0, 0, "files"]
    assert (tally.n, tally.invalid, tally.missing) == (2, 1, 1)
    assert (tally.sum, tally.sumsq, tally.min, tally.max) == (8.0, 34.0, 3.0, 5.0)


def test_a_slot_without_scored_trials_has_tallies_of_nothing() -> None:
    tally = tallies([make_row(state="run_error")], [FILES, APPROACH])
    assert tally[0, 0, 0, "files"][:4] == (0, 0, 0, None)
    assert tally[0, 0, 0, "approach"].shares == {}


def test_a_category_is_counted_and_a_text_has_no_numbers() -> None:
    rows = [
        make_row(number=n, values={"approach": v, "notes": "x"}) for n, v in enumerate(["patch", "rewrite", "patch"])
    ]
    made = tallies(rows, [APPROACH, NOTES])
    assert made[0, 0, 0, "approach"].shares == {"patch": 2, "rewrite": 1}
    assert made[0, 0, 0, "notes"].n == 3
    assert made[0, 0, 0, "notes"].sum is None
    assert made[0, 0, 0, "notes"].shares == {}


@given(st.lists(st.lists(st.floats(-1e9, 1e9), max_size=12), min_size=1, max_size=6))
def test_quartiles_equal_numpys(groups: list[list[float]]) -> None:
    rows = [
        make_row(scenario=s, number=n, values={"score": v}) for s, vs in enumerate(groups) for n, v in enumerate(vs)
    ]
    made = tallies(rows, [SCORE])
    for scenario, values in enumerate(groups):
        if values:
            tally = made[0, scenario, 0, "score"]
            theirs = np.quantile(values, [0, 0.25, 0.5, 0.75, 1])
            assert [tally.min, tally.q1, tally.median, tally.q3, tally.max] == pytest.approx(theirs.tolist(), abs=1e-4)
            assert tally.sum == pytest.approx(sum(values), abs=1e-4)


def test_the_order_of_rows_does_not_change_a_digit() -> None:
    draw = random.Random(5)
    rows = [make_row(n % 3, n % 7, 0, n, values={"score": draw.random()}, cost=draw.random()) for n in range(400)]
    mixed = draw.sample(rows, len(rows))
    assert tallies(mixed, [SCORE]) == tallies(rows, [SCORE])
    assert slots(mixed) == slots(rows)


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        (RESOLVED, "yes"),
        (FILES, float("nan")),
        (FILES, float("inf")),
        (FILES, 10**400),
        (FILES, None),
        (APPROACH, "guess"),
        (APPROACH, 1),
        (NOTES, True),
        (FILES, [1]),
        (FILES, -1e308),
        (RESOLVED, 7),
        (FILES, {"n": 1}),
    ],
)
def test_a_value_that_cannot_be_of_its_measure_is_invalid(measure: object, value: object) -> None:
    assert stored(measure, value) is None  # type: ignore[arg-type]


def test_observations_of_unknown_measures_are_left_aside() -> None:
    seen = {"resolved": Observation("resolved", True), "files": Observation("files", "x"), "odd": Observation("odd", 1)}
    values, invalid = observed({"resolved": RESOLVED, "files": FILES}, Attempt(0, 1, observations=seen))
    assert values == {"resolved": 1.0}
    assert invalid == {"files"}
