from __future__ import annotations

import random

import pytest

from runner.statistics.pareto import Point, frontier, pareto


def statuses(points: list[Point], **objectives: str) -> dict[object, str]:
    return {placed.key: placed.status for placed in pareto(points, **objectives)}


def test_the_frontier_is_who_nobody_beats_on_both() -> None:
    points = [Point("cheap", 1, 0.2), Point("good", 5, 0.9), Point("middle", 3, 0.6), Point("bad", 4, 0.5)]
    placed = pareto(points)
    assert [one.status for one in placed] == ["frontier", "frontier", "frontier", "near"]
    assert placed[3].by == ("middle",)
    assert [point.key for point in frontier(points, placed)] == ["cheap", "middle", "good"]


def test_it_equals_the_definition_written_out() -> None:
    draw = random.Random(11)
    points = [Point(place, draw.randrange(8), draw.randrange(8)) for place in range(60)]
    for placed, point in zip(pareto(points), points, strict=True):
        by = {o.key for o in points if o.x <= point.x and o.y >= point.y and (o.x, o.y) != (point.x, point.y)}
        assert set(placed.by) == by
        assert (placed.status == "frontier") == (not by)


def test_equal_points_share_the_frontier() -> None:
    assert statuses([Point("a", 1, 1), Point("b", 1, 1)]) == {"a": "frontier", "b": "frontier"}


def test_only_intervals_that_part_make_it_sure() -> None:
    best = Point("best", 1, 0.9, 0.9, 1.1, 0.8, 1.0)
    surely = Point("surely", 3, 0.4, 2.5, 3.5, 0.3, 0.5)
    perhaps = Point("perhaps", 3, 0.7, 2.5, 3.5, 0.5, 0.85)
    bare = Point("bare", 3, 0.1)
    assert statuses([best, surely, perhaps, bare]) == {
        "best": "frontier",
        "surely": "dominated",
        "perhaps": "near",
        "bare": "near",
    }


def test_a_missing_figure_is_nowhere_and_beats_nobody() -> None:
    assert statuses([Point("a", None, 1.0), Point("b", 2, None), Point("c", 2, 0.5)]) == {
        "a": "unknown",
        "b": "unknown",
        "c": "frontier",
    }
    assert pareto([]) == []


@pytest.mark.parametrize(("objective", "best"), [("maximize", "high"), ("minimize", "low"), ("target(5)", "middle")])
def test_the_figure_follows_its_objective(objective: str, best: str) -> None:
    points = [Point("low", 1, 1), Point("middle", 1, 5), Point("high", 1, 9)]
    assert [key for key, status in statuses(points, y=objective).items() if status == "frontier"] == [best]


def test_an_interval_that_holds_the_target_may_be_perfect() -> None:
    points = [Point("a", 1, 5, 1, 1, 4.9, 5.1), Point("b", 2, 6, 2, 2, 4.5, 7.5)]
    assert statuses(points, y="target(5)") == {"a": "frontier", "b": "near"}
