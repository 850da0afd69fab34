from __future__ import annotations

import pytest

from runner.statistics.paired import paired
from runner.statistics.power import Needed
from runner.statistics.telling import chance, signed, span, told, told_needed

from .test_paired import ONE, TWO, pairs_of


def test_a_difference_is_told_in_points_with_its_interval() -> None:
    made = paired(pairs_of([0.1, 0.2, 0.1, 0.2, 0.1, 0.0], [0.9, 0.8, 1.0, 0.8, 0.9, 0.9]), "maximize")
    # differences .8 .6 .9 .6 .8 .9: sd .1366, and 2.5706 * .1366 / sqrt(6) = .1434
    assert told("B", "A", "solved", made, rate=True) == (
        "A is better than B: solved +76.7 points [+62.3, +91.0] over 6 scenarios."
    )
    assert told("B", "A", "solved", made._replace(verdict="lower"), rate=True).startswith("A has a lower solved than B")


def test_what_cannot_be_told_says_what_could_have_been_seen() -> None:
    made = paired(pairs_of(ONE, ONE[::-1]), "maximize")
    text = told("B", "A", "solved", made, rate=True)
    assert text.startswith("Not enough trials to tell A from B: solved 0.0 points [")
    assert text.endswith("points would likely be missed.")
    few = paired(pairs_of(ONE[:3], TWO[:3]), "maximize")
    assert told("B", "A", "solved", few, rate=True) == (
        "Not enough trials to tell A from B: solved +13.3 points over 3 scenarios; "
        "3 scenarios in common, and 5 are needed."
    )
    assert "no case in common" in told("B", "A", "solved", paired([], "maximize"), rate=True)


def test_a_target_is_told_as_a_distance() -> None:
    made = paired(pairs_of([5, 6, 5, 6, 7], [2, 3, 2, 2, 3]), "target(2)")
    text = told("B", "A", "size", made, rate=False, unit="files", objective="target(2)")
    assert text.startswith("A is better than B: distance of size from 2 −3.40 files [")


@pytest.mark.parametrize(
    ("value", "rate", "text"),
    [(0.041, True, "+4.1 points"), (-0.0004, True, "0.0 points"), (-12.5, False, "−12.5"), (1234.5, False, "+1,234")],
)
def test_numbers_carry_their_sign_unless_they_round_to_nothing(value: float, rate: bool, text: str) -> None:
    assert signed(value, rate=rate) == text


def test_spans_and_chances() -> None:
    assert span(-0.02, 0.1, rate=True) == "[−2.0, +10.0]"
    assert span(None, 0.1, rate=True) == ""
    assert [chance(p) for p in (None, 0.0001, 0.0312, 0.5)] == ["–", "<0.001", "0.031", "0.50"]


def test_what_it_takes_is_told_for_both_ways() -> None:
    both = told_needed(Needed(0.05, 40, 128), "scenarios", rate=True)
    assert both == (
        "To see 5.0 points with 80 % chance takes about 40 trials of each case or "
        "about 128 scenarios with as many trials as here."
    )
    assert "about 1 trial of each case" in told_needed(Needed(0.5, 1, 5), "scenarios", rate=True)
    assert "More trials of the same cases" in told_needed(Needed(0.05, None, 128), "scenarios", rate=True)
    assert "cannot be told" in told_needed(Needed(2.0, None, None), "cases", rate=False, of="files")
