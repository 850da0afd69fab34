from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from runner.statistics import policy_named, slots, tallies
from runner.statistics.repeats import Tried, curve, pass_all, pass_at, repeats
from runner.statistics.solving import Case, case_of, solving

from .make import RESOLVED, make_row


@pytest.mark.parametrize(("n", "c"), [(1, 0), (3, 1), (5, 2), (6, 6), (7, 0), (8, 5)])
def test_pass_at_k_is_the_share_of_all_subsets_that_hold_a_success(n: int, c: int) -> None:
    tries = [True] * c + [False] * (n - c)
    for k in range(1, n + 1):
        drawn = list(combinations(tries, k))
        assert pass_at(n, c, k) == pytest.approx(sum(map(any, drawn)) / len(drawn))
        assert pass_all(n, c, k) == pytest.approx(sum(map(all, drawn)) / len(drawn))


def test_they_equal_the_hypergeometric_distribution_of_scipy() -> None:
    for n, c, k in ((10, 3, 4), (200, 17, 10), (1000, 1, 10)):
        assert pass_at(n, c, k) == pytest.approx(1 - stats.hypergeom.pmf(0, n, c, k))
        assert pass_all(n, c, k) == pytest.approx(stats.hypergeom.pmf(k, n, c, k), abs=1e-12)


def test_both_are_unbiased_where_the_usual_shortcut_is_not() -> None:
    """Averaged over every outcome of 6 tries with p = 0.3, pass@3 must be 1 - 0.7**3; 1 - (1 - c/n)**3 is not."""
    chance = stats.binom.pmf(np.arange(7), 6, 0.3)
    assert sum(p * pass_at(6, c, 3) for c, p in enumerate(chance)) == pytest.approx(1 - 0.7**3)
    assert sum(p * pass_all(6, c, 3) for c, p in enumerate(chance)) == pytest.approx(0.3**3)
    assert sum(p * (1 - (1 - c / 6) ** 3) for c, p in enumerate(chance)) < 1 - 0.7**3 - 0.02


def test_a_large_n_does_not_overflow() -> None:
    assert pass_at(5000, 1, 2500) == pytest.approx(0.5)


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, 1, 0), (3, 1, 4), (3, -1, 1)])
def test_what_cannot_be_estimated_is_refused(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match="pass@k needs"):
        pass_at(n, c, k)


def test_a_cell_is_pooled_over_scenarios_and_short_cases_are_counted_apart() -> None:
    tried = [Tried("a", 4, 2), Tried("a", 4, 4), Tried("b", 4, 0), Tried("c", 1, 1)]
    made = repeats(tried, 2)
    assert made.some == pytest.approx(np.mean([np.mean([5 / 6, 1]), 0]))
    assert made.every == pytest.approx(np.mean([np.mean([1 / 6, 1]), 0]))
    assert (made.n, made.c, made.cases, made.short) == (12, 6, 3, 1)
    assert made.some_lo is None


def test_the_interval_is_students_over_the_scenarios() -> None:
    tried = [Tried(name, 5, c) for name, c in enumerate((1, 2, 2, 3, 5, 4))]
    means = [pass_at(5, one.c, 2) for one in tried]
    theirs = stats.t.interval(0.95, 5, loc=np.mean(means), scale=stats.sem(means))
    assert repeats(tried, 2)[2:4] == pytest.approx((theirs[0], min(theirs[1], 1.0)))


def test_a_curve_goes_as_far_as_every_counted_case_has_trials() -> None:
    made = curve([Tried("a", 5, 2), Tried("b", 3, 3), Tried("c", 0, 0)])
    assert [figures.k for figures in made] == [1, 2, 3]
    assert [figures.some for figures in made] == sorted(figures.some or 0 for figures in made)
    assert curve([]) == [] and repeats([], 1).some is None


def test_errors_of_the_subject_are_tries_that_failed_only_under_errors_fail() -> None:
    rows = [make_row(0, s, 0, n, values={"resolved": float(n % 2)}, cost=0.5) for s in range(6) for n in range(1, 5)]
    rows += [make_row(0, s, 0, 5, state="run_error", fault="timeout") for s in range(6)]
    slot, tally = slots(rows)[0, 0, 0], tallies(rows, [RESOLVED])[0, 0, 0, "resolved"]
    scored, failing = (case_of(0, slot, tally, policy_named(name)) for name in ("scored/1", "errors-fail/1"))
    assert (scored, failing) == (Case(0, 4, 2, 2.0), Case(0, 5, 2, 2.0))
    made = solving([scored] * 6)
    assert [row.k for row in made.repeats] == [1, 2, 3, 4]
    assert (made.cost.value, made.cost.successes) == (1.0, 12)
