"""Every row of the table of faults is reached by a real process: here is by which test, and those that had none."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from runner.faults import FAULTS, SUBJECT_FLAGS
from runner.replay import Attempt
from runner.running import run
from tests.runner.scenario.benches import WRITES, by_cell, write_bench
from tests.runner.test_hostile_agents import KILLER

TESTS = Path(__file__).parent
REAL = "agents/test_real_clis.py"
ISOLATION = "environments/test_isolation.py::test_limits_end_what_breaks_them_and_the_trial_is_graded"
HERE = "test_fault_table.py::test_what_no_other_test_reaches"
REACHED = {
    "provider": f"{REAL}::test_each_refusal_of_the_provider_has_its_own_fault",
    "provider_auth": f"{REAL}::test_each_refusal_of_the_provider_has_its_own_fault",
    "provider_model": f"{REAL}::test_each_refusal_of_the_provider_has_its_own_fault",
    "boot": "test_engine.py::test_faults_of_the_machine_are_retried_and_every_attempt_kept",
    "timeout": "test_engine.py::test_the_wall_limit_ends_a_trial",
    "protocol": HERE,
    "collect": "scenario/test_evaluation.py::test_a_failing_collect_command_ends_the_trial_whatever_catches_it",
    "transport": "scenario/test_evaluation.py::test_what_may_not_be_carried_out_is_a_transport_error",
    "environment": HERE,
    "lost": "test_hostile_agents.py::test_an_agent_that_kills_what_started_it_loses_its_own_trial_only",
    "scenario": "scenario/test_states.py::test_each_way_to_end_has_its_state",
    "evaluation": "scenario/test_states.py::test_each_way_to_end_has_its_state",
    "suite": "scenario/test_evaluation.py::test_a_suite_that_the_agent_broke_cannot_start",
    "judge": "test_judges.py::test_a_judge_that_fails_is_an_evaluation_error_whatever_catches_it",
    "judge_refused": "test_judges.py::test_an_unknown_key_stops_a_cell_after_three_trials",
    "required": "scenario/test_states.py::test_a_required_measure_that_is_missing_is_an_evaluation_error",
    "regrade": "test_regrade.py::test_another_prompt_and_a_file_that_was_not_kept_are_named",
    "budget": "test_engine.py::test_a_trial_over_its_own_budget_is_the_subjects_error",
    "request_timeout": "test_hostile_agents.py::test_a_timed_out_agent_is_stopped_whole_and_graded",
    "exit_code": "test_hostile_agents.py::test_an_agent_that_crashes_is_graded_and_flagged",
    "context_limit": f"{REAL}::test_limits_and_refusals_of_the_model_are_flags",
    "output_limit": f"{REAL}::test_limits_and_refusals_of_the_model_are_flags",
    "refusal": f"{REAL}::test_limits_and_refusals_of_the_model_are_flags",
    **dict.fromkeys(("memory_limit", "processes_limit", "disk_limit"), ISOLATION),
    "step_limit": f"{REAL}::test_a_limit_of_turns_is_a_flag",
}
ADDED = {"protocol": "garbled", "environment": "saboteur"}


def functions_of(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("row", [*FAULTS, *SUBJECT_FLAGS])
def test_each_row_names_the_test_that_reaches_it(row: str) -> None:
    file, _, name = REACHED[row].partition("::")
    assert name in functions_of(TESTS / file)


def test_no_row_is_left_over() -> None:
    assert set(REACHED) == {*FAULTS, *SUBJECT_FLAGS}
    assert {row for row, test in REACHED.items() if test == HERE} == set(ADDED)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Attempt]:
    scenario = """
        def bench_one(workspace, agent):
            agent.request("go")
            observe("resolved", True)
    """
    folder = write_bench(
        tmp_path_factory.mktemp("faults") / "bench",
        {"one": scenario},
        declare='matrix={"agent": ["garbled", "saboteur", "worker"]}, retries=1',
        agents='{"garbled": Python("helpers:leave"), "saboteur": Command("{python} killer.py 1"), '
        f'"worker": {WRITES}}}',
        world={"killer.py": KILLER},
        helpers="import os\ndef leave(prompt, workspace, axes):\n    os._exit(0)\n",
    )
    result = run(folder, workers=2)
    attempts = {result.manifest.cells[t.planned.cell].axes["agent"]: len(t.attempts) for t in result.trials}
    assert attempts == {"garbled": 1, "saboteur": 2, "worker": 1}, "only what another try may mend is tried again"
    return by_cell(result)


@pytest.mark.parametrize("row", ADDED)
def test_what_no_other_test_reaches(ended: dict[str, Attempt], row: str) -> None:
    attempt = ended[ADDED[row]]
    assert (attempt.state, attempt.fault, attempt.outcome) == (FAULTS[row].state, row, None), attempt.reason
    assert attempt.reason
    assert not attempt.observations
    assert attempt.issues[0].severity == "fatal"
    assert ended["worker"].outcome == "solved"
