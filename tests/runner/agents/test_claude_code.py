"""The adapter against recorded output of Claude Code 2.1.197; the real one runs in test_real_clis."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.agents import Reading, claude_code
from runner.definition import Cli
from runner.errors import AgentMissing

from .asking import RECORDED, Desk, Done

Make = Callable[..., Desk]
HERE = Cli("claude-code", base_url="http://127.0.0.1:8707")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in on PATH where only the command line is looked at."""
    file = tmp_path / "bin" / "claude"
    file.parent.mkdir()
    file.write_text("#!/bin/sh\necho '2.1.197 (Claude Code)'\n")
    file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{file.parent}:{os.environ['PATH']}")
    return file


def _read(desk: Desk, name: str, code: int = 0, **more: Any) -> Reading:
    return desk.read(RECORDED / f"claude-code-{name}.jsonl", Done(code, **more))


def test_the_steps_of_a_fix_are_told_in_order(desk: Make) -> None:
    reading = _read(desk(HERE), "fixes")
    told = [
        (step.role, step.kind, step.text or step.arguments["command"], step.exit_code) for step in reading.steps[1:]
    ]
    assert told == [
        ("assistant", "reasoning", "The test names calc.py.", None),
        ("assistant", "message", "Looking.", None),
        ("assistant", "tool_call", "sed -i s/a-b/a+b/ calc.py; false", None),
        ("tool", "observation", "Exit code 1", 1),
        ("assistant", "message", "Done.", None),
    ]
    assert (reading.text, reading.fault, reading.flags) == ("Done.", None, ())


def test_a_message_split_over_events_is_counted_once(desk: Make) -> None:
    usage = _read(desk(HERE), "fixes").usage
    assert (usage.tokens_in, usage.tokens_cached, usage.tokens_out) == (1900, 800, 50)
    assert (usage.model_calls, usage.tool_calls) == (2, 1)


def test_a_cost_that_nobody_billed_is_marked(desk: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    assert _read(desk(HERE), "fixes").usage.estimated
    usage = _read(desk(Cli("claude-code")), "fixes").usage
    assert not usage.estimated
    assert usage.cost is not None
    assert usage.cost > 0


def test_a_killed_run_keeps_its_steps_counts_each_message_once_and_knows_neither_output_nor_cost(desk: Make) -> None:
    one = desk(HERE)
    lines = (RECORDED / "claude-code-fixes.jsonl").read_bytes().splitlines(keepends=True)
    cut = one.root / "cut.jsonl"
    cut.write_bytes(b"".join(lines[:-1]) + lines[-1][:40])
    reading = one.read(cut, Done(None, signal=9, timed_out=True))
    assert (reading.fault, reading.flags) == (None, ("request_timeout",))
    assert (reading.usage.tokens_in, reading.usage.tokens_out, reading.usage.cost) == (1900, None, None)
    assert (reading.text, len(reading.steps)) == ("Done.", 6)
    assert reading.session is not None


def test_a_repeated_event_is_told_once(desk: Make) -> None:
    one = desk(HERE)
    lines = (RECORDED / "claude-code-fixes.jsonl").read_text().splitlines(keepends=True)
    (one.root / "twice.jsonl").write_text("".join(line * 2 for line in lines))
    twice = one.read(one.root / "twice.jsonl", Done(0))
    assert len(twice.steps) == len(_read(one, "fixes").steps)
    assert twice.usage == _read(one, "fixes").usage


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("401", "provider_auth"),
        ("404", "provider_model"),
        ("429", "provider"),
        ("500", "provider"),
        ("drop", "provider"),
    ],
)
def test_what_the_provider_refuses_is_a_fault(desk: Make, name: str, code: str) -> None:
    reading = _read(desk(HERE), name, 1)
    assert reading.fault is not None
    assert reading.fault[0] == code
    assert reading.fault[1].startswith("Claude Code reported: ")


@pytest.mark.parametrize(
    ("name", "flag"), [("context", "context_limit"), ("length", "output_limit"), ("refusal", "refusal")]
)
def test_what_the_subject_runs_into_is_flagged_and_graded(desk: Make, name: str, flag: str) -> None:
    reading = _read(desk(HERE), name, 1)
    assert (reading.fault, reading.flags) == (None, ("exit_code", flag))


def test_a_provider_error_quoted_in_tool_output_is_no_fault(desk: Make) -> None:
    one = desk(HERE)
    text = (RECORDED / "claude-code-fixes.jsonl").read_text()
    (one.root / "quoted.jsonl").write_text(text.replace("Exit code 1", "Exit code 1 API Error: 401 invalid api key"))
    assert one.read(one.root / "quoted.jsonl", Done(0)).fault is None


def test_an_answer_that_quotes_a_provider_error_is_no_fault(desk: Make) -> None:
    one = desk(HERE)
    text = (RECORDED / "claude-code-fixes.jsonl").read_text()
    (one.root / "said.jsonl").write_text(text.replace('"Done."', '"API Error: 401, rate limit 429"'))
    assert one.read(one.root / "said.jsonl", Done(0)).fault is None


@pytest.mark.parametrize(
    ("subtype", "fault", "flags"),
    [("error_max_turns", None, ("step_limit",)), ("error_max_budget_usd", "budget", ())],
)
def test_limits_of_its_own(desk: Make, subtype: str, fault: str | None, flags: tuple[str, ...]) -> None:
    one = desk(HERE)
    (one.root / "limit.jsonl").write_text(json.dumps({"type": "result", "subtype": subtype, "is_error": True}) + "\n")
    reading = one.read(one.root / "limit.jsonl", Done(0))
    assert (reading.fault[0] if reading.fault else None, reading.flags) == (fault, flags)


@pytest.mark.parametrize("text", ["", "not json\n", "[1, 2]\n{}\n", '{"type": "banana"}\n'])
def test_output_that_is_no_protocol_is_a_fault_only_where_it_ended_by_itself(desk: Make, text: str) -> None:
    one = desk(HERE)
    (one.root / "odd.jsonl").write_text(text)
    ended = one.read(one.root / "odd.jsonl", Done(0))
    assert ended.fault is not None
    assert ended.fault[0] == "protocol"
    assert ended.usage.to_json() == {}
    stopped = one.read(one.root / "odd.jsonl", Done(None, signal=9, timed_out=True))
    assert (stopped.fault, stopped.flags) == (None, ("request_timeout",))


def test_a_start_that_failed_says_what_it_said(desk: Make) -> None:
    one = desk(HERE)
    (one.root / "none.jsonl").write_text("")
    (one.root / "none.err").write_text("error: unknown option '--nonsense'\n\nFor more information, try --help\n")
    reading = one.read(one.root / "none.jsonl", Done(1), one.root / "none.err")
    assert reading.fault == ("boot", "Claude Code did not start: error: unknown option '--nonsense'")


def test_of_an_output_beyond_all_measure_the_end_is_still_read(desk: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.agents.clis.MAX_BYTES", 10)
    reading = _read(desk(HERE), "fixes")
    assert (reading.text, reading.usage.tokens_in, len(reading.steps)) == ("Done.", 1900, 1)


def test_odd_events_never_break_the_reader(desk: Make) -> None:
    one = desk(HERE)
    rows: list[Any] = [
        {"type": "assistant", "message": "text"},
        {"type": "assistant", "message": {"content": None, "usage": 3}},
        {
            "type": "assistant",
            "message": {"id": 1, "content": [None, {"type": "tool_use"}], "usage": {"input_tokens": "x"}},
        },
        {"type": "user", "message": {"content": [{"type": "tool_result", "content": [{"type": "image"}]}]}},
        {"type": "result", "usage": {"input_tokens": -4}, "modelUsage": {"m": 1}, "total_cost_usd": "free"},
    ]
    (one.root / "odd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    reading = one.read(one.root / "odd.jsonl", Done(0))
    assert (reading.fault, reading.usage.cost, reading.usage.tokens_in) == (None, None, None)
    assert [step.kind for step in reading.steps] == ["message", "tool_call", "observation"]


def test_the_command_line_of_a_first_and_a_second_request(desk: Make, program: Path) -> None:
    one = desk(HERE, {"model": "small", "config.permissions.defaultMode": "plan", "config.alwaysThinkingEnabled": True})
    call = one.module.invoke(one.ask("- fix"))
    assert call.argv[:2] == [str(program), "-p"]
    assert call.argv[call.argv.index("--model") + 1] == "small"
    settings = json.loads(call.argv[call.argv.index("--settings") + 1])
    assert settings == {"permissions": {"defaultMode": "plan"}, "alwaysThinkingEnabled": True}
    assert "--resume" not in call.argv
    assert not any("- fix" in word for word in call.argv)
    assert call.stdin is not None
    assert call.stdin.read_text() == "- fix"
    one.session = "abc"
    assert one.module.invoke(one.ask("more")).argv[-2:] == ["--resume", "abc"]


def test_only_what_it_needs_enters_its_environment(desk: Make, program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in claude_code.NEEDED:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-the-shell")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "none of its business")
    one = desk(Cli("claude-code", base_url="http://gate/v1/", env={"EXTRA": "1"}), {"env.EFFORT": "high", "model": "m"})
    env = one.module.invoke(one.ask("x")).env
    assert "AWS_SECRET_ACCESS_KEY" not in env
    assert (env["ANTHROPIC_API_KEY"], env["ANTHROPIC_BASE_URL"]) == ("from-the-shell", "http://gate")
    assert (env["EXTRA"], env["EFFORT"], env["CLAUDE_CODE_MAX_RETRIES"], env["IS_SANDBOX"]) == ("1", "high", "1", "1")
    assert env["CLAUDE_CODE_SUBAGENT_MODEL"] == "m"


def test_the_version_is_probed_and_absence_is_a_sentence(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert claude_code.probe(HERE, {}).version == "2.1.197"
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(AgentMissing, match="'claude' was not found on PATH; install it with `npm install"):
        claude_code.probe(HERE, {})


def test_a_pin_tells_the_endpoints_host_and_no_secret() -> None:
    spec = Cli(
        "claude-code", base_url="https://user:pw@gate.example:8443/x?key=1", env={"ANTHROPIC_API_KEY": "sk-secret"}
    )
    pin = claude_code.pin(spec, {"model": "m", "config.a": True}, claude_code.Probe("2.1.197"))
    assert pin == {
        "adapter": "claude-code",
        "version": "2.1.197",
        "model": "m",
        "config": {"a": "true"},
        "endpoint": "gate.example",
        "variables": ["ANTHROPIC_API_KEY"],
    }
