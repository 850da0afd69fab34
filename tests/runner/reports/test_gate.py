from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from runner.errors import RunnerError
from runner.replay import RunResult, Trial, read
from runner.reports.gate import Check, Rules, gate
from runner.statistics.between import Between, between
from tests.make import make_run


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    return read(make_run(tmp_path_factory.mktemp("good"), cells=2, scenarios=8, trials=4, fates=False))


@pytest.fixture(scope="module")
def bad(good: RunResult) -> RunResult:
    """The same run, in which the last half of each cell's scenarios is unsolved every time."""
    return worse(good, lambda scenario: scenario >= 4)


def worse(result: RunResult, where: Callable[[int], bool]) -> RunResult:
    def spoiled(trial: Trial) -> Trial:
        if not where(trial.planned.scenario):
            return trial
        final = trial.attempts[-1]
        seen = {**final.observations, "resolved": replace(final.observations["resolved"], value=False)}
        return replace(trial, attempts=(*trial.attempts[:-1], replace(final, observations=seen, outcome="unsolved")))

    return replace(result, trials=tuple(map(spoiled, result.trials)))


def checked(base: RunResult, other: RunResult, measure: str = "", **rules: object) -> dict[str, Check]:
    found = between(base, other, measure)
    return {check.name: check for check in gate(found, base, other, Rules(**rules))}  # type: ignore[arg-type]


def test_a_run_equal_to_its_baseline_passes_every_rule_but_the_one_that_wants_proof(good: RunResult) -> None:
    assert checked(good, good, max_drop=0.0)["drop"].passed
    assert checked(good, good, max_drop=0.05, rule="sure")["drop"].passed
    assert not checked(good, good, max_drop=0.05, rule="safe")["drop"].passed


def test_a_large_drop_fails_every_rule_and_its_sentence_says_how_large(good: RunResult, bad: RunResult) -> None:
    for rule in ("seen", "sure", "safe"):
        check = checked(good, bad, max_drop=0.04, rule=rule)["drop"]
        assert not check.passed
        assert check.sentence.startswith("The run is worse than the baseline: resolved −")
    assert checked(bad, good, max_drop=0.0, rule="sure")["drop"].passed


def test_sure_and_safe_part_where_the_interval_holds_the_limit(good: RunResult) -> None:
    one = worse(good, lambda scenario: scenario == 0)
    assert checked(good, one, max_drop=0.05, rule="sure")["drop"].passed
    assert not checked(good, one, max_drop=0.05, rule="safe")["drop"].passed
    assert not checked(good, one, max_drop=0.05)["drop"].passed


def test_each_cell_is_asked_when_wanted(good: RunResult, bad: RunResult) -> None:
    made = checked(good, bad, max_drop=0.05, each_cell=True)
    assert list(made) == [f"drop: {cell.id}" for cell in good.manifest.cells]


def test_other_rules_stand_on_their_own(good: RunResult, bad: RunResult) -> None:
    made = checked(good, bad, require=0.9, min_coverage=0.99, max_cost_rise=0.0)
    assert {name: check.passed for name, check in made.items()} == {"require": False, "coverage": True, "cost": True}
    assert "required is at least 90 %" in made["require"].sentence


def test_less_may_be_better(good: RunResult) -> None:
    made = checked(good, good, "collateral", require=0.0, max_drop=0.0)
    assert made["drop"].passed and not made["require"].passed
    assert "required is at most 0 files" in made["require"].sentence


def _costless(trial: Trial) -> Trial:
    attempts = (replace(one, usage=replace(one.usage, cost=None)) for one in trial.attempts)
    return replace(trial, attempts=tuple(attempts))


def test_an_unknown_cost_is_no_cheap_one(good: RunResult) -> None:
    blind = replace(good, trials=tuple(map(_costless, good.trials)))
    check = checked(good, blind, max_cost_rise=0.5)["cost"]
    assert (check.passed, "unknown in the run" in check.sentence) == (False, True)


def test_a_cell_that_tells_no_cost_any_more_is_no_cheap_one_either(good: RunResult) -> None:
    cells = [cell.id for cell in good.manifest.cells]
    half = replace(good, trials=tuple(_costless(t) if t.planned.cell == 0 else t for t in good.trials))
    check = checked(good, half, max_cost_rise=0.5)["cost"]
    assert (check.passed, f"of {cells[0]} is unknown in the run" in check.sentence) == (False, True)
    check = checked(half, half, max_cost_rise=0.0)["cost"]
    assert (check.passed, f"told in {len(cells) - 1} of {len(cells)} cells" in check.sentence) == (True, True)


def test_nothing_asked_or_nothing_in_common_is_refused(good: RunResult, tmp_path: Path) -> None:
    with pytest.raises(RunnerError, match="Say what to check"):
        checked(good, good)
    other = read(make_run(tmp_path, cells=2, scenarios=8, definition="two", seed=2))
    found = between(good, other)
    assert any("template" in warning for warning in found.warnings)
    with pytest.raises(RunnerError, match=r"no case in common.* The bench's .*template.* changed"):
        gate(found, good, other, Rules(max_drop=0.1))


def test_runs_that_cannot_be_compared_are_refused_in_a_sentence(good: RunResult, tmp_path: Path) -> None:
    far = read(make_run(tmp_path / "far", bench="acme/far"))
    with pytest.raises(RunnerError, match="different benches"):
        between(good, far)
    with pytest.raises(RunnerError, match=r"approach is no measure .* there are: resolved, collateral"):
        between(good, good, "approach")
    manifest = replace(good.manifest, cells=tuple(replace(c, id=f"x{c.id}") for c in good.manifest.cells))
    with pytest.raises(RunnerError, match="no cell in common"):
        between(good, replace(good, manifest=manifest))


def test_what_differs_besides_is_named(good: RunResult) -> None:
    cells = tuple(replace(cell, pin={**cell.pin, "version": "2.0"}) for cell in good.manifest.cells)
    manifest = replace(good.manifest, isolation="sandbox", cells=cells, limits={"retries": 1})
    found: Between = between(good, replace(good, manifest=manifest, state="cancelled"))
    text = " ".join(found.warnings)
    assert "The isolation differs: none in the baseline, sandbox now." in text
    assert "The agent's version differs in agent=careful" in text and "1.4.0 to 2.0" in text
    assert "The limits differ:" in text
    assert "The run is cancelled" in text
    for cells, said in ((2, ""), (3, "Left out is 1 cell that"), (4, "Left out are 2 cells that")):
        more = tuple(replace(good.manifest.cells[0], id=f"x{n}") for n in range(2, cells))
        other = replace(good, manifest=replace(good.manifest, cells=(*good.manifest.cells, *more)))
        assert said in " ".join(between(good, other).warnings)
