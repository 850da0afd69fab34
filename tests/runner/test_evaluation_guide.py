"""docs/evaluation.md: every block of it is written or run, and its tables say what the code says."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runner import replay
from runner.collected import STATUSES
from runner.definition import MODES, Transfer
from runner.records import RunResult

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed (apt install bubblewrap)"),
]
GUIDE = Path(__file__).parents[2] / "docs" / "evaluation.md"
FENCE = re.compile(r"```\w+\n(.*?)```", re.DOTALL)
FILE = re.compile(r"# (grade/\S+)\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The guide's files written, and its commands run, in their order."""
    folder = tmp_path_factory.mktemp("guide")
    texts = FENCE.findall(GUIDE.read_text(encoding="utf-8"))
    for text in filter(FILE.match, texts):
        named = FILE.match(text)
        assert named is not None
        (folder / named[1]).parent.mkdir(parents=True, exist_ok=True)
        (folder / named[1]).write_text(text[named.end() :], encoding="utf-8")
    for line in (line for text in texts if not FILE.match(text) for line in text.splitlines()):
        program, *words = shlex.split(line)
        assert program == "benchsite", line
        argv = [sys.executable, "-m", "runner", *words]
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return folder


@pytest.fixture(scope="module")
def result(folder: Path) -> RunResult:
    (run_dir,) = (folder / "grade" / ".bench" / "runs").iterdir()
    return replay.read(run_dir)


def test_each_scenario_of_the_guide_tells_the_able_agent_from_the_idle_one(result: RunResult) -> None:
    found = {
        (result.manifest.scenarios[trial.planned.scenario].id, result.manifest.cells[trial.planned.cell].axes["agent"]):
            trial.final.outcome if trial.final else None
        for trial in result.trials
    }  # fmt: skip
    assert found == {
        (scenario, agent): "solved" if agent == "able" else "unsolved"
        for scenario in ("capital", "fix", "service") for agent in ("able", "idle")
    }  # fmt: skip


def test_each_mode_has_its_scenario(result: RunResult) -> None:
    assert {plan["mode"] for plan in result.manifest.plans} == set(MODES)


def test_the_plan_and_the_collected_paths_stand_in_the_json_of_the_trials(folder: Path) -> None:
    argv = [sys.executable, "-m", "runner", "result", "grade", "--trials", "--json"]
    told = json.loads(subprocess.run(argv, cwd=folder, capture_output=True, check=True).stdout)
    fix = next(row for row in told["trials"] if row["scenario"] == "fix")
    assert told["plans"][fix["plan"]]["collect"][0]["timeout"] == 60
    assert [(row["path"], row["status"]) for row in fix["collected"]] == [("/workspace/submission.patch", "collected")]


def test_lists_of_the_command_line_replace_the_scenarios(folder: Path, result: RunResult) -> None:
    asked = ["--scenario", "fix", "--artifact", "/workspace/x", "--collect", "true", "--evaluation", "none"]
    argv = [sys.executable, "-m", "runner", "run", "grade", "--dry-run", "--json", *asked]
    told = json.loads(subprocess.run(argv, cwd=folder, capture_output=True, check=True).stdout)["manifest"]
    (plan,) = told["plans"]
    assert (plan["mode"], plan["source"]) == ("none", "request")
    assert plan["artifacts"] == [{"path": "/workspace/x", "exclude": []}]
    assert plan["collect"] == [{"command": "true", "timeout": 60}]
    assert told["cohort"] != result.manifest.cohort


def test_the_tables_name_every_status_and_the_limits_that_hold() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    assert re.findall(r"^\| (\w+) \| .*graded", text, re.MULTILINE)[: len(STATUSES)] == list(STATUSES)
    limits = Transfer()
    assert (
        f"hold {limits.max_bytes} in {limits.max_files:,} files, and take {limits.timeout:g} seconds"
        in text.replace("\n", " ")
    )
