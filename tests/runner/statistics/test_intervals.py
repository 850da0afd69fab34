from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from runner.statistics.intervals import rate_interval, t_interval, wilson


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (67, 100), (1, 1000), (999, 1000)])
def test_wilson_equals_scipys(k: int, n: int) -> None:
    theirs = stats.binomtest(k, n).proportion_ci(method="wilson")
    low, high = wilson(k, n)
    assert float(low) == pytest.approx(theirs.low, abs=1e-12)
    assert float(high) == pytest.approx(theirs.high, abs=1e-12)


def test_wilson_of_eight_in_ten_worked_by_hand() -> None:
    # z = 1.96: middle (0.8 + 3.8416/20) / 1.38416 = 0.71674, reach 1.96*sqrt(0.016 + 3.8416/400)/1.38416 = 0.22659
    low, high = wilson(8, 10)
    assert (round(float(low), 4), round(float(high), 4)) == (0.4902, 0.9433)


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_rate_and_stays_within_bounds(pair: tuple[int, int]) -> None:
    low, high = (float(end) for end in wilson(*pair))
    assert 0 <= low <= pair[0] / pair[1] <= high <= 1
    assert high - low > 0


def test_wilson_is_exact_at_the_ends_and_has_nothing_to_say_of_no_tries() -> None:
    low, high = wilson([0, 7, 0], [7, 7, 0])
    assert low[0] == 0.0
    assert high[1] == 1.0
    assert math.isnan(low[2])
    assert math.isnan(high[2])


def test_a_rate_of_under_three_trials_has_no_interval() -> None:
    assert rate_interval(2, 2) is None
    assert rate_interval(2, 3) == pytest.approx(stats.binomtest(2, 3).proportion_ci(method="wilson"))


@given(st.lists(st.floats(-1e6, 1e6).map(lambda mean: round(mean, 3)), min_size=5, max_size=40))
def test_the_t_interval_equals_scipys(means: list[float]) -> None:
    spread = np.std(means, ddof=1)
    low, high = (float(end) for end in t_interval(means))
    if max(means) == min(means):
        assert math.isnan(low)
        return
    theirs = stats.t.interval(0.95, len(means) - 1, loc=np.mean(means), scale=spread / math.sqrt(len(means)))
    assert (low, high) == pytest.approx(theirs, rel=1e-9, abs=1e-6)


def test_four_clusters_have_no_interval_and_five_have() -> None:
    assert math.isnan(t_interval([0.1, 0.2, 0.3, 0.4])[0])
    low, high = t_interval([0.1, 0.2, 0.3, 0.4, 0.5])
    # s = 0.158114, t(4) = 2.776445: 0.3 -+ 2.776445 * 0.158114 / sqrt(5)
    assert (round(float(low), 5), round(float(high), 5)) == (0.10368, 0.49632)


def test_an_absent_cluster_is_left_out() -> None:
    with_hole = t_interval([0.1, math.nan, 0.2, 0.3, 0.4, 0.5])
    assert with_hole == t_interval([0.1, 0.2, 0.3, 0.4, 0.5])


def test_the_order_of_clusters_does_not_change_a_digit() -> None:
    random = np.random.default_rng(1)
    means = random.random(37)
    assert t_interval(means) == t_interval(random.permutation(means))


def test_a_rate_that_is_the_same_everywhere_is_not_certain() -> None:
    low, high = (float(end) for end in t_interval([1.0] * 6, rate=True))
    assert (low, high) == pytest.approx(stats.binomtest(6, 6).proportion_ci(method="wilson"))
    assert math.isnan(t_interval([4.0] * 6)[0])


def test_a_rate_stays_within_its_bounds() -> None:
    low, high = t_interval([1.0, 1.0, 1.0, 1.0, 0.0], rate=True)
    assert float(low) >= 0.0
    assert float(high) == 1.0


@pytest.mark.parametrize("scenarios", [5, 12])
def test_the_pooled_interval_covers_what_it_promises(scenarios: int) -> None:
    """Scenarios of different difficulty, drawn anew each time: about 95 % of the intervals must hold the true mean."""
    random = np.random.default_rng(20)
    difficulty = random.beta(2, 2, size=(4000, scenarios))
    means = random.binomial(5, difficulty) / 5
    low, high = t_interval(means, rate=True)
    held = np.mean((low <= 0.5) & (high >= 0.5))
    assert 0.93 <= held <= 0.975
