"""The real mini-swe-agent against the mock model, in one run of a small bench: one model fixes, one is refused.

Each of its starts costs seconds, so that all promises share the two trials.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runner import patch_of, transcript_of
from runner.agents.telling import MODEL_KEYS
from runner.mock_model import MockModel
from runner.replay import Attempt, read
from runner.running import run
from tests.runner.authoring import write_bench

pytestmark = pytest.mark.clis
SCRIPT = {
    "talks": [
        {"model": "refused", "fault": 401, "replies": [{"say": "Never said."}]},
        {
            "replies": [
                {
                    "say": "Looking.",
                    "run": "cat calc.py; sed -i s/a-b/a+b/ calc.py; exit 3",
                    "usage": {"input": 900, "output": 40, "cached": 800},
                },
                {
                    "say": "Done.",
                    "run": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT",
                    "usage": {"input": 1000, "output": 10},
                },
            ]
        },
    ]
}
SCENARIO = '''\
from runner import observe

def bench_fix(workspace, agent):
    """Is the sum a sum?"""
    agent.request("- fix calc.py")
    observe("solved", workspace.read("calc.py") == "def add(a, b):\\n    return a+b\\n")
'''
OPTIONS = """agents={{"mini": Cli("mini-swe-agent", base_url={url!r})}}, environment="local", trials=1,
matrix={{"agent": ["mini"], "model": ["steady", "refused"]}}, timeouts=Timeouts(request=240, trial=280)"""


@pytest.fixture(scope="module")
def fixed(mini: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the bench once and give the run's folder; no key of the machine's own is there."""
    folder = tmp_path_factory.mktemp("mini")
    with pytest.MonkeyPatch.context() as patch, MockModel(SCRIPT) as model:
        patch.setenv("PATH", f"{mini}:{os.environ['PATH']}")
        patch.setenv("BENCHSITE_WORLDS", str(folder / "worlds"))
        for key in MODEL_KEYS:
            patch.delenv(key, raising=False)
        files = {"tests/bench_it.py": SCENARIO, "workspace/calc.py": "def add(a, b):\n    return a-b\n"}
        schema = "class Schema:\n    solved: Annotated[bool, Measure(headline=True, required=True)]\n"
        write_bench(folder / "bench", OPTIONS.format(url=model.url), f"from typing import Annotated\n{schema}", files)
        run(folder / "bench", workers=2)
    (found,) = (folder / "bench" / ".bench" / "runs").iterdir()
    return found


def _attempt(run_dir: Path, model: str) -> Attempt:
    result = read(run_dir)
    cells = result.manifest.cells
    (trial,) = [trial for trial in result.trials if cells[trial.planned.cell].axes["model"] == model]
    assert trial.final is not None
    return trial.final


def test_the_file_is_really_fixed_and_the_trial_is_scored_and_solved(fixed: Path) -> None:
    attempt = _attempt(fixed, "steady")
    assert (attempt.state, attempt.outcome, attempt.fault, attempt.reason) == ("scored", "solved", None, "")
    patch = patch_of(fixed, attempt.trial).decode().splitlines()
    assert [line for line in patch if line[:1] in "+-"][2:] == ["-    return a-b", "+    return a+b"]
    assert [cell.pin["version"] for cell in read(fixed).manifest.cells] == ["2.4.6", "2.4.6"]


def test_usage_is_what_the_model_told_each_reply_once(fixed: Path) -> None:
    usage = _attempt(fixed, "steady").usage
    assert (usage.tokens_in, usage.tokens_out, usage.tokens_cached) == (1900, 50, 800)
    assert (usage.model_calls, usage.tool_calls, usage.cost) == (2, 2, None)


def test_its_steps_stand_in_the_transcript_with_outputs_and_exit_codes(fixed: Path) -> None:
    ((_, steps),) = transcript_of(fixed, _attempt(fixed, "steady").trial)
    assert [(step.role, step.kind, step.text) for step in steps] == [
        ("user", "message", "- fix calc.py"),
        ("assistant", "message", "Looking."),
        ("assistant", "tool_call", ""),
        ("tool", "observation", "def add(a, b):\n    return a-b\n"),
        ("assistant", "message", "Done."),
        ("assistant", "tool_call", ""),
        ("tool", "observation", ""),
    ]
    assert steps[2].arguments == {"command": "cat calc.py; sed -i s/a-b/a+b/ calc.py; exit 3"}
    assert (steps[3].call, steps[3].exit_code) == (steps[2].call, 3)


def test_a_refused_key_is_the_providers_fault_and_ends_the_trial(fixed: Path) -> None:
    attempt = _attempt(fixed, "refused")
    assert (attempt.state, attempt.fault, attempt.flags) == ("run_error", "provider_auth", ("exit_code",))
    assert "invalid x-api-key" in attempt.reason
