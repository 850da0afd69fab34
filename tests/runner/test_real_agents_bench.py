"""The bench of real command lines: its script does what its README says, and the real ones do it too."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runner.mock_model import MockModel, Script
from runner.replay import Attempt, Trial
from runner.running import run

EXAMPLES = Path(__file__).parents[2] / "examples"
CLIS = Path(os.environ.get("BENCHSITE_CLIS", "/nowhere")).resolve() / "node_modules" / ".bin"


def _talk(model: str) -> list[dict[str, str]]:
    talks = json.loads((EXAMPLES / "real-agents" / "model.json").read_text())["talks"]
    return next(talk["replies"] for talk in talks if talk["model"] == model)


def _calculate(world: Path, text: str) -> str:
    done = subprocess.run([sys.executable, "-B", "-m", "minicalc", text], cwd=world, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.mark.parametrize(("model", "chain"), [("steady", "512"), ("hasty", "64")])
def test_both_ways_fix_the_failing_test_and_only_one_keeps_what_worked(tmp_path: Path, model: str, chain: str) -> None:
    world = tmp_path / "world"
    shutil.copytree(EXAMPLES / "fix-parser" / "workspace", world)
    assert _calculate(world, "10 - 3 - 2") == "9"
    for reply in _talk(model):
        if "run" in reply:
            subprocess.run(["bash", "-c", reply["run"]], cwd=world, check=True, capture_output=True)
    assert _calculate(world, "10 - 3 - 2") == "5"
    assert _calculate(world, "2 ^ 3 ^ 2") == chain


def test_the_script_knows_exactly_the_models_of_the_matrix() -> None:
    assert Script.of(EXAMPLES / "real-agents" / "model.json").models == ["hasty", "steady"]


def test_without_the_command_lines_it_is_left_out_in_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "real-agents" / "with_mock_model.py")],
        env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 4
    assert done.stderr.startswith("real-agents is left out: claude and codex not on PATH")
    assert done.stderr.count("\n") == 1


@pytest.mark.clis
def test_the_real_command_lines_end_in_the_state_that_their_model_leads_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{CLIS}:{os.environ['PATH']}")
    if shutil.which("claude") is None or shutil.which("codex") is None:
        pytest.skip("claude and codex are neither on PATH nor in BENCHSITE_CLIS; install them with npm to run this.")
    for name in ("real-agents", "fix-parser"):
        shutil.copytree(EXAMPLES / name, tmp_path / name, ignore=shutil.ignore_patterns(".bench", "__pycache__"))
    monkeypatch.setenv("BENCHSITE_WORLDS", str(tmp_path / "worlds"))
    with MockModel(tmp_path / "real-agents" / "model.json") as model:
        monkeypatch.setenv("BENCHSITE_MODEL_URL", model.url)
        result = run(tmp_path / "real-agents", trials=1, workers=2, environment="local")
    cells, scenarios = result.manifest.cells, result.manifest.scenarios
    seen = {
        (cells[t.planned.cell].axes["agent"], cells[t.planned.cell].axes["model"], scenarios[t.planned.scenario].id): t
        for t in result.trials
    }
    assert len(seen) == 8
    assert {key: _end(trial) for key, trial in seen.items()} == {
        key: ("scored", "solved" if key[1] == "steady" else "unsolved") for key in seen
    }
    assert {key[2]: len(_final(trial).requests) for key, trial in seen.items()} == {"fix_bug": 1, "follow_up": 2}
    assert [_final(seen[agent, "steady", "follow_up"]).usage.tokens_in for agent in ("claude-code", "codex")] == [
        35_300
    ] * 2
    assert all(cell.pin["version"] for cell in cells)


def _final(trial: Trial) -> Attempt:
    assert trial.final is not None
    return trial.final


def _end(trial: Trial) -> tuple[str, str | None]:
    return trial.state, _final(trial).outcome
