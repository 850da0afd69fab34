"""The real command lines against the mock model: whatever a release of theirs changes shows here first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.agents import claude_code, codex, resolve
from runner.credentials import lend, login_of, take_back
from runner.definition import Cli
from runner.mock_model import MockModel

from .asking import Desk

Make = Callable[..., Desk]
pytestmark = [pytest.mark.clis, pytest.mark.usefixtures("clis")]
BOTH = pytest.mark.parametrize("name", ["claude-code", "codex"])
FIX = {
    "replies": [
        {"say": "Looking.", "run": "sed -i s/a-b/a+b/ calc.py", "usage": {"input": 900, "output": 40, "cached": 800}},
        {"say": "Fixed.", "usage": {"input": 1000, "output": 10}},
        {"run": "echo note > note.txt", "usage": {"input": 1100, "output": 20}},
        {"say": "Noted.", "usage": {"input": 1200, "output": 5}},
    ]
}  # fmt: skip


def _against(desk: Make, name: str, model: MockModel, **more: Any) -> Desk:
    return desk(Cli(name, base_url=model.url, **more), {"model": "small"})


@BOTH
def test_the_file_is_really_fixed_and_a_second_request_goes_on_where_the_first_ended(desk: Make, name: str) -> None:
    with MockModel(FIX) as model:
        one = _against(desk, name, model)
        (one.world / "calc.py").write_text("def add(a, b):\n    return a-b\n")
        first, done = one.request("- fix calc.py")
        assert (done.exit_code, first.fault, first.flags, first.text) == (0, None, (), "Fixed.")
        assert (one.world / "calc.py").read_text() == "def add(a, b):\n    return a+b\n"
        assert (first.usage.tokens_in, first.usage.tokens_out, first.usage.tokens_cached) == (1900, 50, 800)
        second, done = one.request("Write a note.")
        assert (done.exit_code, second.fault, second.text) == (0, None, "Noted.")
        assert (second.usage.tokens_in, second.usage.tokens_out) == (2300, 25)
        assert (second.session or "").split()[0] == (first.session or "").split()[0]
    assert sorted(path.name for path in one.world.iterdir()) == ["calc.py", "note.txt"]


def test_claude_code_keeps_to_the_budget_itself(desk: Make) -> None:
    """It stops between two model calls, before the runner would know what the request cost."""
    replies = [{"run": f"echo {n}", "usage": {"input": 4_000_000, "output": 1000}} for n in range(4)]
    with MockModel({"replies": [*replies, {"say": "Done."}]}) as model:
        reading, _ = desk(Cli("claude-code", base_url=model.url), {"model": "claude-sonnet-4-5"}, budget=1.0).request()
        free, _ = desk(Cli("claude-code", base_url=model.url), {"model": "claude-sonnet-4-5"}).request()
    assert reading.fault is not None
    assert reading.fault[0] == "budget"
    assert sum(step.kind == "tool_call" for step in reading.steps) < 4
    assert free.fault is None


@BOTH
def test_a_command_that_fails_is_told_with_its_exit_code(desk: Make, name: str) -> None:
    with MockModel({"replies": [{"run": "echo seen; exit 3"}, {"say": "Hm."}]}) as model:
        reading, _ = _against(desk, name, model).request()
    seen = [step for step in reading.steps if step.kind == "observation"]
    assert len(seen) == 1
    assert "seen" in seen[0].text
    assert seen[0].exit_code == 3


@BOTH
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (401, "provider_auth"),
        (404, "provider_model"),
        (429, "provider"),
        (500, "provider"),
        ("drop", "provider"),
        ("broken", "provider"),
    ],
)
def test_each_refusal_of_the_provider_has_its_own_fault(desk: Make, name: str, fault: int | str, code: str) -> None:
    with MockModel({"replies": [{"fault": fault}]}) as model:
        reading, done = _against(desk, name, model).request(timeout=240)
    assert not done.timed_out
    assert reading.fault is not None
    assert reading.fault[0] == code


@BOTH
@pytest.mark.parametrize("reply", [{"fault": "never"}, {"say": "Too late.", "first_token": 60}])
def test_a_provider_that_says_nothing_is_a_request_that_timed_out(desk: Make, name: str, reply: dict[str, Any]) -> None:
    with MockModel({"replies": [reply]}) as model:
        for patience in (6, 60):  # on a busy machine the program itself takes long to start
            reading, done = _against(desk, name, model).request(timeout=patience)
            if model.requests:
                break
        assert model.requests
    assert done.timed_out
    assert reading.fault is None
    assert "request_timeout" in reading.flags
    assert reading.usage.cost is None


@BOTH
@pytest.mark.parametrize(
    ("reply", "flag"),
    [
        ({"fault": "context"}, "context_limit"),
        ({"say": "I", "stop": "length"}, "output_limit"),
        ({"say": "I", "stop": "refusal"}, "refusal"),
    ],
)
def test_limits_and_refusals_of_the_model_are_flags(desk: Make, name: str, reply: dict[str, Any], flag: str) -> None:
    with MockModel({"replies": [reply]}) as model:
        reading, _ = _against(desk, name, model).request()
    assert reading.fault is None
    assert flag in reading.flags


def test_a_limit_of_turns_is_a_flag(desk: Make) -> None:
    """Codex has no such limit."""
    with MockModel({"replies": [{"run": "echo one"}, {"run": "echo two"}, {"say": "Done."}]}) as model:
        reading, done = _against(desk, "claude-code", model, options=["--max-turns", "1"]).request()
    assert not done.timed_out
    assert (reading.fault, "step_limit" in reading.flags) == (None, True)


@BOTH
def test_the_benchs_key_is_the_one_that_is_sent(desk: Make, name: str) -> None:
    with MockModel({"key": "the-benchs-own", "replies": [{"say": "Hello."}]}) as model:
        keys = {"ANTHROPIC_API_KEY": "the-benchs-own", "OPENAI_API_KEY": "the-benchs-own"}
        assert _against(desk, name, model, env=keys).request()[0].text == "Hello."
        reading, _ = _against(desk, name, model).request()
    assert reading.fault is not None
    assert reading.fault[0] == "provider_auth"


@BOTH
def test_an_option_it_does_not_know_is_a_start_that_failed(desk: Make, name: str) -> None:
    reading, _ = desk(Cli(name, base_url="http://127.0.0.1:9", options=["--nonsense"])).request()
    assert reading.fault is not None
    assert reading.fault[0] == "boot"
    assert "--nonsense" in reading.fault[1]


@BOTH
def test_a_prompt_far_too_long_for_a_command_line_arrives_whole(desk: Make, name: str) -> None:
    prompt = "- begin " + "word " * 60_000 + "the very end"
    with MockModel({"replies": [{"say": "Read."}]}) as model:
        reading, _ = _against(desk, name, model).request(prompt)
        bodies = [repr(request["body"]) for request in model.requests]
    assert reading.text == "Read."
    assert any("the very end" in body and "- begin" in body for body in bodies)


@BOTH
def test_the_version_is_probed(desk: Make, name: str) -> None:
    one = desk(Cli(name))
    found = one.module.probe(one.spec, {})
    assert found.version[0].isdigit()
    assert all(path.exists() for path in found.programs)


@pytest.mark.parametrize(
    ("name", "login"),
    [
        (
            "claude-code",
            {"claudeAiOauth": {"accessToken": "sk-ant-oat01-canary", "refreshToken": "sk-ant-ort01-canary",
                               "expiresAt": 4_000_000_000_000, "scopes": ["user:inference"]}},
        ),
        ("codex", {"OPENAI_API_KEY": "sk-ant-oat01-canary"}),
    ],
)  # fmt: skip
def test_a_login_takes_the_place_of_the_runners_keys(
    desk: Make, name: str, login: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in (*claude_code.KEYS, *codex.KEYS):
        monkeypatch.setenv(key, "another-key")
    monkeypatch.setenv("HOME", str(tmp_path / "mine"))
    with MockModel({"key": "sk-ant-oat01-canary", "replies": [{"say": "In."}]}) as model:
        one = _against(desk, name, model, credentials=True)
        mine = login_of(resolve({name: one.spec}, name))
        assert mine is not None
        mine.file.parent.mkdir(parents=True)
        mine.file.write_text(json.dumps(login))
        lend(mine, one.root, one.home)
        reading, _ = one.request()
    assert (reading.fault, reading.text) == (None, "In.")
    assert take_back(one.root, one.home) is not None
