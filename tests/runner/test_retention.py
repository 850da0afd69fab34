"""Which worlds are kept where the policy leaves no choice."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.replay import Attempt
from runner.running import run
from tests.runner.scenario.benches import by_scenario, write_bench

SCENARIOS = """
    def bench_solved(workspace, agent):
        agent.request("go")
        observe("resolved", True)

    def bench_unsolved(workspace, agent):
        agent.request("go")
        observe("resolved", False)

    def bench_error(workspace, agent):
        agent.request("go")
        raise ValueError("grading")
"""
KEPT: dict[str, set[str]] = {"never": set(), "always": {"error", "unsolved", "solved"}}
"""The two that keep by what a trial came to are tested where trials come to all kinds of ends."""


@pytest.mark.parametrize("policy", KEPT)
def test_each_policy_keeps_its_worlds_and_all_keep_the_record(tmp_path: Path, policy: str) -> None:
    folder = write_bench(tmp_path / "bench", {"s": SCENARIOS}, declare=f'workspace=Workspace(retain="{policy}")')
    result = run(folder, workers=2)
    ended: dict[str, Attempt] = {name.split("::")[1]: found for name, found in by_scenario(result).items()}
    assert {name for name, attempt in ended.items() if attempt.kept is not None} == KEPT[policy]
    worlds = folder / ".bench" / "runs" / result.manifest.run / "workspaces"
    assert len(list(worlds.glob("*"))) == len(KEPT[policy])
    assert all(attempt.changes["agent"].counts["added"] == 1 for attempt in ended.values())
