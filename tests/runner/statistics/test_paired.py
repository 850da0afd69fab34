from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from runner.statistics.casefigure import CaseFigure, Counted, average, case_figure, case_figures
from runner.statistics.paired import UNTOLD, paired, trials_needed
from runner.statistics.pairing import Pair, Part, match, shared_subjects
from runner.statistics.policy import policy_named


def pairs_of(base: list[float], other: list[float], n: int = 5) -> list[Pair]:
    def side(figure: float) -> CaseFigure:
        return CaseFigure(figure, n, figure * (1 - figure) * n / (n - 1))

    return [Pair(f"s{place}", "", side(a), side(b), "") for place, (a, b) in enumerate(zip(base, other, strict=True))]


ONE = [0.2, 0.4, 0.4, 0.6, 0.8, 0.2, 0.0, 1.0]
TWO = [0.4, 0.6, 0.4, 0.8, 1.0, 0.4, 0.2, 0.8]


def test_the_interval_is_that_of_scipys_paired_t_test() -> None:
    made = paired(pairs_of(ONE, TWO), "maximize")
    theirs = stats.ttest_rel(TWO, ONE).confidence_interval(0.95)
    assert (made.lo, made.hi) == pytest.approx((theirs.low, theirs.high))
    assert made.difference == pytest.approx(np.mean(TWO) - np.mean(ONE))
    assert (made.base, made.other) == pytest.approx((np.mean(ONE), np.mean(TWO)))
    assert (made.wins, made.losses, made.ties, made.apart) == (6, 1, 1, 0)
    assert made.p_sign == pytest.approx(stats.binomtest(6, 7).pvalue)


def test_cases_of_a_scenario_are_averaged_before_scenarios_are() -> None:
    pairs = [Pair("a", str(c), CaseFigure(0, 1, None), CaseFigure(1, 1, None), "") for c in range(9)]
    pairs += [Pair(s, "", CaseFigure(1, 1, None), CaseFigure(0, 1, None), "") for s in "bcdef"]
    made = paired(pairs, "maximize")
    assert made.clusters == 6
    assert made.difference == pytest.approx(-4 / 6)
    assert (made.wins, made.losses) == (9, 5)


def test_cases_are_the_clusters_of_a_single_scenario() -> None:
    pairs = [pair._replace(scenario="one", case=pair.scenario) for pair in pairs_of(ONE, TWO)]
    assert (paired(pairs, "maximize").clusters, paired(pairs, "maximize").unit) == (8, "cases")


def test_what_is_not_comparable_is_counted_and_in_no_figure() -> None:
    pairs = [*pairs_of(ONE, TWO), Pair("new", "", None, CaseFigure(0.0, 5, 0.0), "only_other")]
    pairs += [Pair("edited", "", CaseFigure(1, 5, 0), CaseFigure(0, 5, 0), "changed")]
    made = paired(pairs, "maximize")
    assert made.apart == 2
    assert made[:5] == paired(pairs_of(ONE, TWO), "maximize")[:5]


def test_a_clear_difference_is_told_in_the_direction_of_the_objective() -> None:
    low, high = [0.1, 0.2, 0.1, 0.2, 0.1, 0.0], [0.9, 0.8, 1.0, 0.8, 0.9, 0.9]
    assert paired(pairs_of(low, high), "maximize").verdict == "better"
    assert paired(pairs_of(high, low), "maximize").verdict == "worse"
    assert paired(pairs_of(low, high), "minimize").verdict == "worse"
    assert paired(pairs_of(low, high), "").verdict == "higher"
    near = paired(pairs_of(low, high), "target(1)")
    assert near.verdict == "better" and near.wins == 6 and near.difference == pytest.approx(-0.7666667)


def test_what_cannot_be_told_is_said_with_what_could_have_been_seen() -> None:
    made = paired(pairs_of(ONE, ONE[::-1]), "maximize")
    assert (made.verdict, made.words) == ("untold", UNTOLD)
    sd = np.std(np.subtract(ONE[::-1], ONE), ddof=1)
    assert made.detectable and made.detectable > stats.t.ppf(0.975, 7) * sd / np.sqrt(8)


def test_too_few_scenarios_tell_nothing_however_large_the_difference() -> None:
    made = paired(pairs_of([0.0] * 4, [1.0] * 4), "maximize")
    assert (made.verdict, made.lo) == ("untold", None)
    assert made.words == f"{UNTOLD}: 4 scenarios in common, and 5 are needed"


def test_where_all_scenarios_differ_by_the_same_the_exact_test_decides() -> None:
    five, six = (paired(pairs_of([0.0] * m, [1.0] * m), "maximize") for m in (5, 6))
    assert (five.verdict, five.p_permutation) == ("untold", 2 / 32)
    assert (six.verdict, six.p_permutation, six.lo) == ("better", 2 / 64, None)


def test_equal_sides_are_not_said_to_be_proved_equal() -> None:
    made = paired(pairs_of(ONE, ONE), "maximize")
    assert (made.verdict, made.difference, made.words) == ("untold", 0.0, f"{UNTOLD}: no scenario differs")


def test_nothing_in_common_is_no_comparison() -> None:
    made = paired([Pair("a", "", CaseFigure(1, 1, None), None, "only_base")], "maximize")
    assert (made.verdict, made.difference, made.apart) == ("nothing", None, 1)
    assert trials_needed([], "maximize", 0.1) == (0.1, None, None)


def test_swapping_the_sides_mirrors_everything() -> None:
    one, two = paired(pairs_of(ONE, TWO), "maximize"), paired(pairs_of(TWO, ONE), "maximize")
    assert (one.difference, one.lo, one.hi) == pytest.approx((-two.difference, -two.hi, -two.lo))  # type: ignore[operator]
    assert (one.wins, one.losses, one.p_permutation) == (two.losses, two.wins, two.p_permutation)


def test_the_interval_covers_and_false_alarms_are_as_rare_as_promised() -> None:
    """Two equal agents on 10 scenarios of varying difficulty, 3 trials each: one verdict in twenty may be wrong."""
    random = np.random.default_rng(40)
    wrong = 0
    for _ in range(800):
        difficulty = random.beta(2, 2, size=10)
        one, two = (random.binomial(3, difficulty) / 3 for _ in range(2))
        wrong += paired(pairs_of(one.tolist(), two.tolist(), 3), "maximize").verdict != "untold"
    assert 0.02 < wrong / 800 < 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 800)


def test_trials_needed_follow_the_spread_that_trials_cause() -> None:
    asked = trials_needed(pairs_of(ONE, TWO), "maximize", 0.2)
    assert asked.trials and asked.clusters
    more = trials_needed(pairs_of(ONE, TWO), "maximize", 0.1)
    assert more.clusters and more.clusters > asked.clusters
    assert trials_needed(pairs_of(ONE, TWO, 2), "maximize", 0.2).trials != asked.trials


@pytest.mark.parametrize(
    ("reducer", "scored", "failing"),
    [("mean", 4.0, 22 / 4), ("sum", 12.0, 22.0), ("median", 3.0, 4.5), ("min", 3.0, 3.0), ("max", 6.0, 10.0)],
)
def test_a_case_is_reduced_as_declared_under_either_policy(reducer: str, scored: float, failing: float) -> None:
    seen = Counted(3, 0, 1, 12.0, 54.0, 3.0, 6.0, (3.0, 3.0, 6.0))
    assert case_figure(seen, reducer, 10.0, policy_named("scored/1")).figure == scored  # type: ignore[union-attr]
    assert case_figure(seen, reducer, 10.0, policy_named("errors-fail/1")).figure == failing  # type: ignore[union-attr]
    assert case_figure(seen, reducer, None, policy_named("errors-fail/1")).figure == scored  # type: ignore[union-attr]


def test_the_variance_of_a_case_is_numpys_and_runs_add_up() -> None:
    values = [1.0, 4.0, 4.0, 2.0]
    whole = Counted(2, 0, 0, 5.0, 17.0, 1.0, 4.0).plus(Counted(2, 0, 0, 6.0, 20.0, 2.0, 4.0))
    made = case_figure(whole, "mean", None, policy_named("scored/1"))
    assert made and made.variance == pytest.approx(np.var(values, ddof=1))
    assert (made.figure, made.n, whole.min, whole.max) == (np.mean(values), 4, 1.0, 4.0)
    assert case_figure(Counted(0, 2, 1, 0, 0, None, None), "mean", 0.0, policy_named("scored/1")) is None


@pytest.mark.parametrize("reducer", ["mean", "rate", "sum", "max"])
@pytest.mark.parametrize("policy", ["scored/1", "errors-fail/1"])
def test_many_cases_are_reduced_as_each_alone(reducer: str, policy: str) -> None:
    values = [(0.1, 0.7, 0.3), (0.2,), (), (1.0, 1.0), (0.1, 0.1, 0.1)]
    told = [
        (len(of), sum(of), sum(one * one for one in of), min(of, default=None), max(of, default=None)) for of in values
    ]
    seen = [
        Counted(n, lapsed, blamed, total, squares, least, most)
        for n, total, squares, least, most in told
        for lapsed, blamed in ((0, 0), (2, 0), (0, 1))
    ]
    rule = policy_named(policy)
    assert case_figures(seen, reducer, 0.0, rule) == [case_figure(one, reducer, 0.0, rule) for one in seen]


def part(subject: str, figure: float | None, scenario: str = "a", fingerprint: str = "f") -> Part:
    return Part(subject, scenario, "", fingerprint, None if figure is None else CaseFigure(figure, 2, 0.1))


def test_cells_of_two_runs_are_paired_with_themselves() -> None:
    base = [part("x", 0.0), part("y", 1.0), part("gone", 1.0)]
    other = [part("x", 1.0), part("y", None), part("new", 0.0)]
    (pair,) = match(base, other, shared_subjects(base, other))
    assert pair.comparable and pair.base and pair.other
    assert (pair.base.figure, pair.other.figure, pair.base.cells) == (0.0, 1.0, 1)


def test_each_reason_not_to_pair_is_told() -> None:
    base = [part("x", 1, "a"), part("x", 1, "b"), part("x", 1, "c"), part("x", None, "d"), part("x", None, "e")]
    other = [part("x", 1, "a", "g"), part("x", 1, "new"), part("x", None, "c"), part("x", 1, "d"), part("x", None, "e")]
    assert {pair.scenario: pair.why for pair in match(base, other)} == {
        "a": "changed",
        "b": "only_base",
        "new": "only_other",
        "c": "uncounted_other",
        "d": "uncounted_base",
        "e": "uncounted",
    }


def test_an_average_over_cells_weighs_them_the_same() -> None:
    made = average([CaseFigure(1.0, 1, None), CaseFigure(0.0, 9, 0.2)])
    assert made == CaseFigure(0.5, 10, 0.2, 2)
