from __future__ import annotations

import random

import numpy as np
import pytest
from scipy import stats

from runner.errors import RunnerError
from runner.schema import MeasureSpec
from runner.statistics import Row, standings
from runner.statistics.rollup import StandingFigures

from .make import APPROACH, FILES, NOTES, RESOLVED, SCORE, make_row, rows_from

RUN = "01JABCDEFGHJKMNPQRSTVWXYZ0"


def pooled(rows: list[Row], measure: MeasureSpec = RESOLVED, policy: str = "scored/1") -> dict[object, StandingFigures]:
    return {figures.cell: figures for figures in standings(rows, [measure], policy, RUN)}


def test_the_pooled_figure_is_the_mean_over_scenarios_not_over_trials() -> None:
    rows = rows_from([[[1, 1, 1, 1, 1, 1, 1, 1], [0, 0]]])
    figures = pooled(rows)[0]
    assert figures.macro == 0.5
    assert (figures.k, figures.n, figures.planned) == (8.0, 10, 10)


def test_cases_weigh_the_same_within_their_scenario() -> None:
    rows = [make_row(case=0, number=n, values={"resolved": 1.0}) for n in range(9)]
    rows += [make_row(case=1, values={"resolved": 0.0}), make_row(scenario=1, values={"resolved": 1.0})]
    assert pooled(rows)[0].macro == 0.75


def test_the_interval_is_students_over_scenario_means() -> None:
    table = [[1, 0, 1], [1, 1, 1], [0, 0, 0], [0, 0, 1], [1, 1, 0], [0, 1, 0]]
    figures = pooled(rows_from([table]))[0]
    means = np.mean(table, axis=1)
    theirs = stats.t.interval(0.95, 5, loc=means.mean(), scale=stats.sem(means))
    assert (figures.lo, figures.hi) == pytest.approx(theirs)
    assert figures.clusters == 6


def test_three_scenarios_give_words_instead_of_an_interval() -> None:
    figures = pooled(
        rows_from(
            [
                [
                    [1, 0, 1],
                    [1, 1, 1],
                    [0, 0, 1],
                ]
            ]
        )
    )[0]
    assert (figures.lo, figures.hi, figures.rank_lo) == (None, None, None)
    assert figures.note == "few trials; too few scenarios"


def test_cases_are_the_clusters_of_a_single_scenario() -> None:
    rows = [
        make_row(case=c, number=n, values={"resolved": float((c + n) % 3 == 0)}) for c in range(6) for n in range(4)
    ]
    figures = pooled(rows)[0]
    assert figures.clusters == 6
    assert figures.lo is not None
    assert "too few cases" in pooled(rows[:12])[0].note


def test_errors_and_exclusions_are_left_out_under_scored() -> None:
    rows = [
        make_row(values={"resolved": 1.0}),
        make_row(number=2, state="run_error", fault="timeout", values={"resolved": 0.0}),
        make_row(number=3, state="excluded", values={"resolved": 0.0}),
        make_row(number=4),
    ]
    figures = pooled(rows)[0]
    assert (figures.macro, figures.k, figures.n, figures.planned) == (1.0, 1.0, 1, 4)


def test_errors_fail_counts_what_lies_at_the_subjects_door_as_worst_and_nothing_else() -> None:
    rows = [
        make_row(values={"resolved": 1.0}),
        make_row(number=2, state="run_error", fault="timeout"),
        make_row(number=3, state="run_error", fault="provider"),
        make_row(number=4, state="eval_error", fault="required"),
        make_row(number=5, state="excluded"),
        make_row(number=6),
    ]
    figures = pooled(rows, policy="errors-fail/1")[0]
    assert (figures.k, figures.n) == (1.0, 3)
    assert figures.macro == pytest.approx(1 / 3)


def test_errors_fail_uses_the_declared_worst() -> None:
    rows = [make_row(values={"score": 8.0}), make_row(number=2, state="run_error", fault="protocol")]
    assert pooled(rows, SCORE, "errors-fail/1")[0].macro == 4.0


def test_a_boolean_to_be_minimised_has_true_as_its_worst() -> None:
    broke = MeasureSpec("broke", "bool", objective="minimize", aggregate="rate")
    rows = [make_row(values={"broke": 0.0}), make_row(number=2, state="run_error", fault="timeout")]
    assert pooled(rows, broke, "errors-fail/1")[0].macro == 0.5


def test_a_measure_without_a_worst_stays_over_scored_trials_and_says_so() -> None:
    rows = [make_row(values={"files": 8.0}), make_row(number=2, state="run_error", fault="protocol")]
    figures = pooled(rows, FILES, "errors-fail/1")[0]
    assert (figures.macro, figures.n) == (8.0, 1)
    assert figures.note.startswith("no worst= declared")


@pytest.mark.parametrize(
    ("reducer", "figure"), [("mean", 4.0), ("median", 2.5), ("min", 1.0), ("max", 10.0), ("sum", 16.0)]
)
def test_a_case_is_reduced_as_its_measure_declares(reducer: str, figure: float) -> None:
    measure = MeasureSpec("files", "int", aggregate=reducer)  # type: ignore[arg-type]
    assert pooled(rows_from([[[10, 1, 3, 2]]], "files"), measure)[0].macro == figure


def test_a_cell_with_nothing_counted_still_stands_with_its_plan() -> None:
    rows = [make_row(0, values={"resolved": 1.0}), make_row(1, state="run_error", fault="boot", cost=0.5)]
    figures = pooled(rows)[1]
    assert (figures.macro, figures.k, figures.n, figures.planned, figures.cost) == (None, None, 0, 1, 0.5)


def test_categories_and_texts_have_no_standing() -> None:
    assert standings([make_row(values={"approach": "patch"})], [APPROACH, NOTES], "scored/1", RUN) == []


def test_clearly_parted_cells_have_ranks_of_their_own_and_equal_ones_share_a_rank() -> None:
    best, same, worst = [[1, 1, 1]] * 8, [[1, 0, 0]] * 8, [[0, 0, 0]] * 8
    figures = pooled(rows_from([worst, same, best, same]))
    assert [(figures[c].rank_lo, figures[c].rank_hi) for c in range(4)] == [(4, 4), (2, 2), (1, 1), (2, 2)]


def test_ranks_follow_the_objective() -> None:
    low, high = [[1, 2, 3]] * 6, [[7, 8, 9]] * 6
    rows = rows_from([low, high], "files")
    ranks = {}
    for objective in ("minimize", "maximize", "target(8)", ""):
        figures = pooled(rows, MeasureSpec("files", "int", objective=objective, aggregate="mean"))
        ranks[objective] = (figures[0].rank_lo, figures[1].rank_lo)
    assert ranks == {"minimize": (1, 2), "maximize": (2, 1), "target(8)": (2, 1), "": (None, None)}


def test_overlapping_cells_have_rank_ranges() -> None:
    draw = random.Random(3)
    table = [[[draw.random() < 0.5 for _ in range(4)] for _ in range(8)] for _ in range(3)]
    figures = pooled(rows_from(table))
    assert any(f.rank_lo != f.rank_hi for f in figures.values())


def test_rank_ranges_are_drawn_from_the_runs_id_alone() -> None:
    draw = random.Random(4)
    rows = rows_from([[[draw.random() < 0.5 for _ in range(3)] for _ in range(9)] for _ in range(6)])
    first = standings(rows, [RESOLVED], "scored/1", RUN)
    assert standings(rows, [RESOLVED], "scored/1", RUN) == first


def test_ids_of_any_kind_give_the_same_figures_as_positions() -> None:
    draw = random.Random(6)
    rows = rows_from([[[draw.random() for _ in range(3)] for _ in range(7)] for _ in range(3)], "score")
    renamed = [row._replace(cell=f"c{row.cell}", scenario=1000 - row.scenario, case=f"k{row.scenario}") for row in rows]
    for mine, theirs in zip(
        standings(rows, [SCORE], "scored/1", RUN), standings(renamed, [SCORE], "scored/1", RUN), strict=True
    ):
        assert theirs._replace(cell=mine.cell) == mine


def test_an_unknown_policy_is_refused_with_what_there_is() -> None:
    with pytest.raises(RunnerError, match="scored/1 and errors-fail/1"):
        standings([make_row()], [RESOLVED], "best-of/1", RUN)


def test_no_rows_no_standings() -> None:
    assert standings([], [RESOLVED], "scored/1", RUN) == []
