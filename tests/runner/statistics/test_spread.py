from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from runner.statistics.spread import category_shares, histogram, median_interval, outliers, shared_bins, spread


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
def test_a_spread_equals_numpys(values: list[float]) -> None:
    made = spread(values)
    assert made
    assert [made.min, made.q1, made.median, made.q3, made.max] == pytest.approx(
        np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist()
    )
    assert made.iqr == pytest.approx(stats.iqr(values), abs=1e-6)
    assert made.mean == pytest.approx(np.mean(values), abs=1e-6)
    assert (made.sd is None) == (len(values) == 1)


def test_nothing_known_has_no_spread_and_what_is_missing_is_left_out() -> None:
    assert spread([]) is None and spread([math.nan]) is None
    made = spread([1.0, math.nan, 3.0, math.inf])
    assert made and (made.n, made.median) == (2, 2.0)


def test_the_medians_interval_is_the_textbooks() -> None:
    # n = 10: the 2nd and the 9th value hold the median with 97.9 %, the 3rd and 8th with 89 %; under 6 nothing does
    assert median_interval(range(1, 11)) == (2.0, 9.0)
    assert median_interval(range(1, 7)) == (1.0, 6.0)
    assert median_interval(range(1, 6)) is None
    theirs = stats.quantile_test(np.arange(1, 31), p=0.5).confidence_interval(0.95)
    assert median_interval(range(1, 31)) == (theirs.low, theirs.high)


def test_the_medians_interval_covers_what_it_promises() -> None:
    draw = np.random.default_rng(8).exponential(size=(2000, 15))
    held = np.mean([low <= math.log(2) <= high for low, high in filter(None, map(median_interval, draw))])
    assert 0.95 <= held <= 0.98  # exactly 96.5 % for 15 values


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=60))
def test_a_histogram_counts_every_value_once(values: list[float]) -> None:
    made = histogram(values)
    assert sum(part.many for part in made) == len(values)
    assert len(made) <= 40
    assert made[0].lo <= min(values) <= max(values) <= made[-1].hi


def test_few_whole_numbers_have_a_bin_each() -> None:
    assert [(part.lo, part.hi, part.many) for part in histogram([0, 0, 1, 3])] == [
        (-0.5, 0.5, 2),
        (0.5, 1.5, 1),
        (1.5, 2.5, 0),
        (2.5, 3.5, 1),
    ]


def test_bins_follow_freedman_and_diaconis() -> None:
    values = np.random.default_rng(3).normal(size=200)
    assert len(histogram(values)) == len(np.histogram_bin_edges(values, "fd")) - 1


def test_groups_share_their_bins() -> None:
    one, other, none = shared_bins([[0.1, 0.5], [9.3], []])
    assert [(part.lo, part.hi) for part in one] == [(part.lo, part.hi) for part in other]
    assert (sum(p.many for p in one), sum(p.many for p in other), sum(p.many for p in none)) == (2, 1, 0)
    assert shared_bins([[], []]) == [[], []]


def test_an_outlier_is_far_out_and_a_handful_has_none() -> None:
    values = [10.0, 11, 9, 10, 12, None, 10, 11, 300]
    assert outliers(values) == [8]
    assert outliers(values[-4:]) == []
    assert outliers([5.0] * 20) == []


def test_shares_have_wilsons_interval_and_the_most_frequent_stands_first() -> None:
    made = category_shares({"patch": 2, "rewrite": 6, "none": 2})
    assert [(one.value, one.k, one.n) for one in made] == [("rewrite", 6, 10), ("none", 2, 10), ("patch", 2, 10)]
    theirs = stats.binomtest(6, 10).proportion_ci(method="wilson")
    assert (made[0].lo, made[0].hi) == pytest.approx((theirs.low, theirs.high))
    assert category_shares({}) == []
