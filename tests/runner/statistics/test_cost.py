from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from runner.statistics.cost import Spent, cost_per_success, fieller


def spent(*rows: tuple[float | None, int]) -> list[Spent]:
    return [Spent(f"s{place}", cost, successes) for place, (cost, successes) in enumerate(rows)]


def test_it_is_everything_spent_over_everything_solved() -> None:
    made = cost_per_success(spent((1.0, 2), (3.0, 0), (2.0, 1)))
    assert (made.value, made.cost, made.successes) == (2.0, 6.0, 3)
    assert made.lo is None


def test_unknown_costs_are_left_out_with_their_successes() -> None:
    made = cost_per_success(spent((1.0, 1), (None, 5)))
    assert (made.value, made.successes, made.unknown) == (1.0, 1, 1)
    assert cost_per_success(spent((None, 5))).value is None


def test_no_success_has_no_price() -> None:
    made = cost_per_success(spent((1.0, 0), (2.0, 0)))
    assert (made.value, made.cost, made.successes) == (None, 3.0, 0)


def test_the_ends_are_where_a_t_test_of_the_ratio_turns() -> None:
    """Fieller's set is all ratios R that a t test of mean(cost - R * successes) = 0 does not reject."""
    pairs = np.asarray([(2.0, 3), (2.5, 2), (1.9, 4), (3.1, 3), (2.2, 1), (2.7, 4)])
    low, high, unbounded = fieller(pairs)
    assert not unbounded
    for end in (low, high):
        assert stats.ttest_1samp(pairs[:, 0] - end * pairs[:, 1], 0).pvalue == pytest.approx(0.05)  # type: ignore[operator]


def test_rare_successes_have_no_upper_bound() -> None:
    made = cost_per_success(spent((1.0, 0), (1.1, 0), (1.2, 1), (0.9, 0), (1.0, 0), (1.0, 0)))
    assert made.unbounded and made.hi is None and made.value == pytest.approx(6.2)


def test_cases_are_the_clusters_of_a_single_scenario() -> None:
    made = cost_per_success([Spent("one", 1 + n / 10, 2 + n % 2) for n in range(8)])
    assert made.lo is not None and made.hi is not None
    assert made.lo < (made.value or 0) < made.hi


def test_the_order_of_cases_does_not_change_a_digit() -> None:
    random = np.random.default_rng(2)
    cases = [Spent(n % 7, float(random.random()), int(random.integers(0, 4))) for n in range(60)]
    assert cost_per_success(cases) == cost_per_success(cases[::-1])


def test_the_interval_covers_what_it_promises() -> None:
    random = np.random.default_rng(31)
    held = []
    for _ in range(1500):
        difficulty = random.beta(4, 2, size=12)
        costs = random.gamma(4, 0.25, size=12) * 5
        low, high, unbounded = fieller(np.column_stack([costs, random.binomial(5, difficulty)]))
        held.append(unbounded or low <= 1.5 <= high)  # type: ignore[operator]
    assert 0.93 <= np.mean(held) <= 0.97
