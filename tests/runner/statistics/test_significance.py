from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from runner.statistics.significance import DRAWS, EXACT, permutation_test, sign_test


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test_equals_scipys(wins: int, losses: int) -> None:
    if not wins + losses:
        assert sign_test(wins, losses) is None
        return
    assert sign_test(wins, losses) == pytest.approx(stats.binomtest(wins, wins + losses).pvalue)


def theirs(values: list[float]) -> float:
    test = stats.permutation_test(
        (np.asarray(values),), lambda x, axis: np.sum(x, axis=axis), permutation_type="samples", vectorized=True
    )
    return float(test.pvalue)


@pytest.mark.parametrize(
    "values", [[1.0, 2, 3, -1, 0.5], [1.0] * 6, [0.2, -0.2, 0.1], [0.5, 0, 0, 1, 1, 1, -0.25, 0.75, 0.1, 0.1]]
)
def test_the_permutation_test_equals_scipys(values: list[float]) -> None:
    assert permutation_test(values) == pytest.approx(theirs(values))


def test_it_is_worked_by_hand() -> None:
    assert permutation_test([1, 1, 1, 1, 1, 1]) == 2 / 64
    assert permutation_test([2, 1]) == 2 / 4
    assert permutation_test([1, -1]) == 1.0


def test_nothing_that_differs_has_no_p() -> None:
    assert permutation_test([]) is None
    assert permutation_test([0.0, 0.0]) is None


def test_units_without_difference_change_nothing_nor_does_their_order_or_the_baseline() -> None:
    values = np.random.default_rng(2).normal(0.3, 1, size=14)
    p = permutation_test(values)
    assert p == permutation_test([*values, 0, 0]) == permutation_test(values[::-1]) == permutation_test(-values)


def test_many_units_are_drawn_and_agree_with_the_exact_count() -> None:
    random = np.random.default_rng(5)
    values = random.integers(-2, 4, size=EXACT).astype(float)
    exact = permutation_test(values)
    drawn = permutation_test([*values, 1e-13])  # one more unit that all but vanishes: now signs are drawn
    assert exact and drawn
    assert drawn == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 9999) + 2e-4)


def test_false_alarms_are_no_more_frequent_than_promised() -> None:
    draws = np.random.default_rng(6).choice([-1.0, -0.5, 0.0, 0.5, 1.0], size=(1500, 9))
    alarms = np.mean([(permutation_test(row) or 1.0) <= 0.05 for row in draws])
    assert 0.01 < alarms <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 1500)


@pytest.mark.parametrize("units", [EXACT + 1, 40, 101])
def test_drawn_signs_sum_as_a_product_of_all_of_them_does(units: int) -> None:
    values = np.sort(np.abs(np.random.default_rng(units).normal(0.2, 1, units)))
    differences = values * np.where(np.arange(units) % 3, 1, -1)
    signs = np.random.default_rng(0).integers(0, 2, size=(DRAWS, units), dtype=np.int8) * 2.0 - 1.0
    reached = np.abs(signs @ values) >= abs(differences.sum()) - 1e-9 * values.sum()
    assert permutation_test(differences) == (reached.sum() + 1) / (DRAWS + 1)
