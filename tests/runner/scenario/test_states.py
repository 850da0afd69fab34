"""Every state a trial can reach from inside its scenario, by running real scenarios."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.replay import Attempt, RunResult
from runner.running import run
from tests.runner.scenario.benches import by_scenario, write_bench

HELPERS = """
    def check(value):
        assert value, "the helper's own assert"
"""
SCENARIOS = """
    from helpers import check

    def bench_scored(workspace, agent):
        agent.request("go")
        observe("resolved", workspace.exists("done.txt"))

    def bench_unsolved(workspace, agent):
        agent.request("go")
        observe("resolved", workspace.exists("other.txt"))

    def bench_headline_missing(workspace, agent):
        agent.request("go")
        observe("count", 3)

    def bench_guard(workspace, agent):
        expect(workspace).to_have_file("absent.txt")
        agent.request("go")

    def bench_guard_caught(workspace, agent):
        try:
            expect(workspace).to_have_file("absent.txt")
        except Exception:
            pass
        agent.request("go")
        observe("resolved", True)

    def bench_guard_then_crash(workspace, agent):
        try:
            expect(1).to_equal(2)
        except AssertionError:
            pass
        raise ValueError("after the guard")

    def bench_late_guard(workspace, agent):
        agent.request("go")
        expect(workspace).to_have_changed_only([])

    def bench_not_guard(workspace, agent):
        expect(workspace).not_.to_have_file("readme.txt")

    def bench_bare_assert(workspace, agent):
        assert workspace.exists("absent.txt"), "the world is wrong"
        agent.request("go")

    def bench_assert_slips_through(workspace, agent):
        agent.request("go")
        check(workspace.exists("absent.txt"))

    def bench_skip(workspace, agent):
        pytest.skip("not today")

    @pytest.mark.skip(reason="marked")
    def bench_skip_mark(workspace, agent):
        pass

    def bench_raises_before(workspace, agent):
        raise ValueError("before anything")

    def bench_raises_between(workspace, agent):
        agent.request("one")
        if workspace.exists("done.txt"):
            raise ValueError("in between")
        agent.request("two")

    def bench_raises_after(workspace, agent):
        agent.request("go")
        observe("count", 1)
        raise ValueError("while grading")

    def bench_fails(workspace, agent):
        agent.request("go")
        pytest.fail("on purpose")

    def bench_exits_before(workspace, agent):
        raise SystemExit(3)

    def bench_exits_after(workspace, agent):
        agent.request("go")
        raise SystemExit(0)

    def bench_pytest_exit(workspace, agent):
        agent.request("go")
        pytest.exit("stop everything")

    def bench_interrupt(workspace, agent):
        raise KeyboardInterrupt

    @pytest.fixture
    def broken():
        raise RuntimeError("a fixture")

    def bench_fixture_breaks(workspace, agent, broken):
        agent.request("go")

    @pytest.fixture
    def late():
        yield
        raise RuntimeError("teardown")

    def bench_teardown_breaks(workspace, agent, late):
        agent.request("go")
        observe("resolved", True)

    def bench_dies(workspace, agent):
        agent.request("go")
        import os, signal
        os.kill(os.getpid(), signal.SIGKILL)

    def bench_guard_then_dies(workspace, agent):
        try:
            expect(False).to_be_truthy()
        except AssertionError:
            pass
        import os
        os._exit(1)

    def bench_no_request(workspace, agent):
        observe("resolved", False)
"""
# scenario -> (state, outcome, fault, phase)
EXPECTED = {
    "scored": ("scored", "solved", None, None),
    "unsolved": ("scored", "unsolved", None, None),
    "headline_missing": ("scored", None, None, None),
    "guard": ("excluded", None, None, "execution"),
    "guard_caught": ("excluded", None, None, "execution"),
    "guard_then_crash": ("excluded", None, None, "execution"),
    "late_guard": ("excluded", None, None, "evaluation"),
    "not_guard": ("excluded", None, None, "execution"),
    "bare_assert": ("excluded", None, None, "execution"),
    "assert_slips_through": ("eval_error", None, "evaluation", "evaluation"),
    "skip": ("skipped", None, None, "execution"),
    "skip_mark": ("skipped", None, None, "execution"),
    "raises_before": ("run_error", None, "scenario", "execution"),
    "raises_between": ("run_error", None, "scenario", "evaluation"),
    "raises_after": ("eval_error", None, "evaluation", "evaluation"),
    "fails": ("eval_error", None, "evaluation", "evaluation"),
    "exits_before": ("run_error", None, "scenario", "execution"),
    "exits_after": ("eval_error", None, "evaluation", "evaluation"),
    "pytest_exit": ("eval_error", None, "evaluation", "evaluation"),
    "interrupt": ("run_error", None, "scenario", "execution"),
    "fixture_breaks": ("run_error", None, "scenario", "execution"),
    "teardown_breaks": ("eval_error", None, "evaluation", "evaluation"),
    "dies": ("run_error", None, "lost", "evaluation"),
    "guard_then_dies": ("excluded", None, None, "execution"),
    "no_request": ("scored", "unsolved", None, None),
}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    folder = write_bench(tmp_path_factory.mktemp("states") / "bench", {"all": SCENARIOS}, helpers=HELPERS)
    return run(folder, workers=2)


@pytest.fixture(scope="module")
def ended(result: RunResult) -> dict[str, Attempt]:
    return {name.split("::")[1]: attempt for name, attempt in by_scenario(result).items()}


@pytest.mark.parametrize("name", EXPECTED)
def test_each_way_to_end_has_its_state(ended: dict[str, Attempt], name: str) -> None:
    attempt = ended[name]
    assert (attempt.state, attempt.outcome, attempt.fault, attempt.phase) == EXPECTED[name], attempt.reason


def test_one_trial_never_stops_the_rest(result: RunResult, ended: dict[str, Attempt]) -> None:
    assert set(ended) == set(EXPECTED)
    assert result.state == "finished"


def test_a_caught_guard_is_journalled_with_its_line(ended: dict[str, Attempt]) -> None:
    (guard,) = ended["guard_caught"].guards
    assert guard.sentence == "Expected the workspace to have the file 'absent.txt'."
    assert guard.where.startswith("tests/bench_all.py:")
    assert not guard.late
    assert ended["guard_caught"].observations["resolved"].value is True


def test_a_guard_after_the_agent_acted_is_flagged(ended: dict[str, Attempt]) -> None:
    assert ended["late_guard"].guards[0].late
    assert ended["late_guard"].flags == ("late_guard",)
    assert "done.txt" in ended["late_guard"].guards[0].sentence
    assert "late_guard" not in ended["guard"].flags


def test_a_bare_assert_says_where_it_stands(ended: dict[str, Attempt]) -> None:
    (guard,) = ended["bare_assert"].guards
    assert "the world is wrong" in guard.sentence
    assert guard.where.startswith("tests/bench_all.py:")


def test_observations_before_an_error_are_kept(ended: dict[str, Attempt]) -> None:
    assert ended["raises_after"].observations["count"].value == 1


def test_an_error_brings_its_traceback_without_paths_of_this_machine(ended: dict[str, Attempt]) -> None:
    (issue,) = ended["raises_after"].issues
    assert (issue.severity, issue.phase, issue.code) == ("fatal", "evaluation", "evaluation")
    assert 'File "tests/bench_all.py"' in issue.detail
    assert "while grading" in issue.detail
    assert "/sealed/" not in issue.detail
    assert "_pytest" not in issue.detail


def test_a_skip_tells_its_reason(ended: dict[str, Attempt]) -> None:
    assert ended["skip"].reason == "not today"
    assert ended["skip_mark"].reason == "marked"


def test_no_world_is_left_behind(result: RunResult) -> None:
    from runner.worlds.places import worlds_root

    assert not (worlds_root() / result.manifest.run).exists()


def test_worlds_of_trials_that_are_not_scored_are_kept(result: RunResult, ended: dict[str, Attempt]) -> None:
    kept = {name for name, attempt in ended.items() if attempt.kept is not None}
    assert kept == {name for name, (state, *_) in EXPECTED.items() if state != "scored"}


def test_the_headline_is_carried_as_a_number(ended: dict[str, Attempt]) -> None:
    assert ended["scored"].headline == 1.0
    assert ended["unsolved"].headline == 0.0
    assert ended["headline_missing"].headline is None


def test_phases_are_timed(ended: dict[str, Attempt]) -> None:
    assert set(ended["scored"].phases) == {"prepare", "setup", "execution", "evaluation", "cleanup"}


def test_a_run_with_errors_is_not_complete(result: RunResult) -> None:
    assert not result.complete


@pytest.mark.parametrize(
    ("declared", "fault"),
    [
        ('required: Annotated[int, Measure(required=True)]\n    """Must be there."""', "required"),
        ('required: int\n    """May be there."""', None),
    ],
)
def test_a_required_measure_that_is_missing_is_an_evaluation_error(
    tmp_path: Path, declared: str, fault: str | None
) -> None:
    schema = f"from typing import Annotated\nfrom runner import *\nclass Schema:\n    {declared}\n"
    folder = write_bench(
        tmp_path / "bench", {"one": "def bench_one(workspace, agent):\n    agent.request('go')\n"}, schema=schema
    )
    (attempt,) = by_scenario(run(folder, workers=1)).values()
    assert attempt.fault == fault
    assert attempt.state == ("eval_error" if fault else "scored")
