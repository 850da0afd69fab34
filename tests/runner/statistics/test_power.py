from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from runner.statistics.power import detectable, needed, power_of


@pytest.mark.parametrize(("difference", "sd", "m"), [(0.1, 0.2, 12), (0.5, 1.0, 30), (0.02, 0.3, 6)])
def test_power_equals_the_noncentral_t_distribution_of_scipy(difference: float, sd: float, m: int) -> None:
    limit = stats.t.ppf(0.975, m - 1)
    shift = difference / sd * math.sqrt(m)
    theirs = stats.nct.sf(limit, m - 1, shift) + stats.nct.cdf(-limit, m - 1, shift)
    assert power_of(difference, sd, m) == pytest.approx(theirs, rel=1e-6)


def test_the_textbooks_table_is_met() -> None:
    # Cohen (1988): a paired t test of an effect d = 0.5 needs 34 pairs for 80 % power, d = 0.2 needs 199, d = 0.8 15.
    for effect, pairs in ((0.5, 34), (0.2, 199), (0.8, 15)):
        assert needed(effect, 1.0, 10, None, 1).clusters == pairs


def test_what_is_called_detectable_is_seen_four_times_in_five() -> None:
    least = detectable(0.25, 10)
    assert least
    random = np.random.default_rng(9)
    draws = random.normal(least, 0.25, size=(4000, 10))
    seen = np.mean(stats.ttest_1samp(draws, 0, axis=1).pvalue < 0.05)
    assert abs(seen - 0.8) < 3 * math.sqrt(0.8 * 0.2 / 4000)


def test_under_five_clusters_or_without_spread_nothing_is_promised() -> None:
    assert detectable(0.2, 4) is None
    assert detectable(0.0, 20) is None
    assert needed(0.1, 0.0, 20, 0.1, 3) == (0.1, None, None)
    assert needed(0.0, 0.2, 20, 0.1, 3) == (0.0, None, None)


def test_more_trials_help_only_against_what_trials_cause() -> None:
    all_chance = needed(0.05, 0.2, 20, 0.04, 5)  # the whole variance comes from the trials
    assert all_chance.trials == math.ceil(5 * (detectable(0.2, 20) / 0.05) ** 2 - 1e-9)  # type: ignore[operator]
    assert needed(0.05, 0.2, 20, 0.01, 5).trials is None  # scenarios differ too much: no number of trials will do
    assert needed(0.05, 0.2, 20, 0.01, 5).clusters == 128
    assert needed(0.05, 0.2, 20, None, 1).trials is None


def test_the_trials_it_asks_for_are_enough() -> None:
    """Two agents, 15 scenarios, chance alone between them: with the trials asked for, 80 % of comparisons see it."""
    random = np.random.default_rng(12)
    p, q = np.full(15, 0.4), np.full(15, 0.55)
    within = float(np.mean(p * (1 - p) / 4 + q * (1 - q) / 4))
    asked = needed(0.15, math.sqrt(within), 15, within, 4).trials
    assert asked
    draws = random.binomial(asked, q, size=(3000, 15)) / asked - random.binomial(asked, p, size=(3000, 15)) / asked
    seen = np.mean(stats.ttest_1samp(draws, 0, axis=1).pvalue < 0.05)
    assert 0.78 < seen < 0.86


def test_what_is_out_of_reach_is_said_to_be() -> None:
    assert needed(1e-9, 1.0, 20, 1.0, 3) == (1e-9, None, None)
