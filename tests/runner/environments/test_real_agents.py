"""Real command lines without a network: they reach the cell's model through the runner, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runner.environments import sandbox
from runner.mock_model import MockModel
from runner.replay import Attempt
from runner.running import run
from tests.image import NAME
from tests.runner.scenario.benches import by_cell, write_bench

UNUSABLE = sandbox.unusable()
pytestmark = pytest.mark.clis
SCENARIO = """
    def bench_one(workspace, agent):
        reply = agent.request("Write done.txt.")
        observe("resolved", workspace.exists("done.txt"))
        observe("note", reply.text)
        observe("share", float(workspace.exists("out.txt")))
"""
OUT = "exec 3<>/dev/tcp/{}/{} && echo > out.txt"
SCRIPT = {
    "talks": [
        {"replies": [{"run": f"echo done > done.txt; bash -c '{OUT.format('192.0.2.1', 80)}'"}, {"say": "Written."}]}
        for _ in range(2)
    ]
}


@pytest.fixture(autouse=True)
def on_path(clis: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{clis}:{os.environ['PATH']}")


def _run(folder: Path, declare: str, agents: tuple[str, ...]) -> dict[str, Attempt]:
    with MockModel(SCRIPT) as model:
        specs = ", ".join(f'"{name}": Cli("{name}", base_url="{model.url}")' for name in agents)
        write_bench(
            folder, {"one": SCENARIO}, agents=f"{{{specs}}}",
            declare=f'matrix={{"agent": {[*agents]}, "model": "small"}}, network=Network("none", "none"), {declare}',
        )  # fmt: skip
        return by_cell(run(folder, workers=1))


def _worked(attempt: Attempt) -> None:
    assert attempt.state == "scored", attempt.issues
    values = {name: attempt.observations[name].value for name in ("resolved", "note", "share")}
    assert values == {"resolved": True, "note": "Written.", "share": 0.0}


@pytest.mark.sandbox
@pytest.mark.skipif(bool(UNUSABLE), reason=f"The sandbox cannot be tested here: {UNUSABLE}")
def test_in_a_sandbox_without_a_network_a_real_agent_reaches_its_model_alone(tmp_path: Path) -> None:
    ended = _run(tmp_path / "bench", 'environment="sandbox", limits=Limits(disk="200 MiB")', ("claude-code",))
    _worked(ended["claude-code"])


def test_in_a_container_without_a_network_a_real_agent_reaches_its_model_alone(
    tmp_path: Path, containers: None
) -> None:
    _worked(_run(tmp_path / "bench", f'environment="container", image="{NAME}"', ("claude-code",))["claude-code"])
