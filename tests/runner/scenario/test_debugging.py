"""The debugger in a scenario: with a terminal it stops in the bench's own lines, without one the trial says why not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from runner.running import run
from tests.runner.cli.make import command_line
from tests.runner.scenario.benches import by_scenario, write_bench

SCENARIOS = """
    import pdb

    def bench_before(workspace, agent):
        mine = "before"
        breakpoint()
        agent.request("go")

    def bench_after(workspace, agent):
        agent.request("go")
        pdb.set_trace()
        observe("resolved", True)

    def bench_guard(workspace, agent):
        mine = "guard"
        expect(workspace).to_have_file("absent.txt")

    def bench_entering(workspace, agent, evaluation):
        mine = "entering"
        with evaluation():
            with evaluation():
                pass
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bench(tmp_path_factory.mktemp("benches") / "bench", {"try": SCENARIOS})


def debugged(bench: Path, scenario: str) -> str:
    """Look at a variable where the debugger stops, and quit; give all that was said."""
    done = subprocess.run(
        command_line("try", f"try::{scenario}", "--pdb"), cwd=bench, input="p 'mine=' + mine\nq\np 'again'\nq\n",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False,
    )  # fmt: skip
    return done.stdout


def test_who_quits_at_a_breakpoint_ends_the_trial_and_no_debugger_opens_again(bench: Path) -> None:
    said = debugged(bench, "before")
    assert "mine=before" in said
    assert "cancelled: The debugger was quit." in said.splitlines()
    assert said.count("(Pdb)") == 2
    for word in ("again", "BdbQuit", "Traceback"):
        assert word not in said


@pytest.mark.parametrize("scenario", ["guard", "entering"])
def test_what_the_runner_refused_stops_in_the_scenarios_own_line(bench: Path, scenario: str) -> None:
    assert f"mine={scenario}" in debugged(bench, scenario)


def test_without_a_terminal_a_breakpoint_says_where_it_would_stop(bench: Path) -> None:
    ended = by_scenario(run(bench, workers=2, seed=1))
    before, after = ended["try::before"], ended["try::after"]
    assert (before.state, before.fault, after.state, after.fault) == (
        "run_error", "scenario", "eval_error", "evaluation",
    )  # fmt: skip
    for name, one in (("before", before), ("after", after)):
        assert f"breakpoint() where nobody can type; `benchsite try try::{name} --pdb` stops there." in one.reason
        assert "tests/bench_try.py:" in one.reason
