"""The adapter against recorded output of codex-cli 0.171.0; the real one runs in test_real_clis."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.agents import Reading, codex
from runner.definition import Cli
from runner.errors import AgentMissing

from .asking import RECORDED, Desk, Done

Make = Callable[..., Desk]
HERE = Cli("codex", base_url="http://127.0.0.1:8707")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in laid out as npm does: a link on PATH to a script for node within node_modules."""
    package = tmp_path / "node_modules" / "@openai" / "codex" / "bin"
    package.mkdir(parents=True)
    script = package / "codex.js"
    script.write_text("#!/usr/bin/env node-of-the-test\n")
    script.chmod(0o755)
    node = tmp_path / "bin" / "node-of-the-test"
    node.parent.mkdir()
    node.write_text("#!/bin/sh\necho 'codex-cli 0.171.0'\n")
    node.chmod(0o755)
    (node.parent / "codex").symlink_to(script)
    monkeypatch.setenv("PATH", f"{node.parent}:{os.environ['PATH']}")
    return script


def _read(desk: Desk, name: str, code: int = 0, **more: Any) -> Reading:
    return desk.read(RECORDED / f"codex-{name}.jsonl", Done(code, **more))


def test_the_steps_of_a_fix_are_told_in_order(desk: Make) -> None:
    reading = _read(desk(HERE), "fixes")
    told = [(step.role, step.kind, step.text, step.exit_code) for step in reading.steps if step.role != "system"]
    assert told[1:] == [
        ("assistant", "reasoning", "The test names calc.py.", None),
        ("assistant", "message", "Looking.", None),
        ("assistant", "tool_call", "", None),
        ("tool", "observation", "", 1),
        ("assistant", "message", "Done.", None),
    ]
    assert (reading.text, reading.fault, reading.flags) == ("Done.", None, ())


def test_a_resumed_threads_total_is_counted_once(desk: Make) -> None:
    one = desk(HERE)
    fixed = _read(one, "fixes")
    first, one.session = fixed.usage, fixed.session
    resumed = _read(one, "resumed")
    second, again = resumed.usage, _read(one, "resumed").usage
    assert (first.tokens_in, first.tokens_out, first.tokens_cached) == (1900, 50, 800)
    assert (second.tokens_in, second.tokens_out, second.tokens_cached) == (1500, 40, 0)
    assert again == second
    assert (second.cost, second.model_calls, second.tool_calls) == (None, None, 1)
    one.session = resumed.session
    assert _read(one, "resumed").usage.tokens_in == 0


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
    assert reading.fault[1].startswith("Codex reported: ")
    assert "Reconnecting" not in reading.fault[1]


@pytest.mark.parametrize(
    ("name", "flag"), [("context", "context_limit"), ("length", "output_limit"), ("refusal", "refusal")]
)
def test_what_the_subject_runs_into_is_flagged_and_graded(desk: Make, name: str, flag: str) -> None:
    reading = _read(desk(HERE), name, 1)
    assert (reading.fault, reading.flags) == (None, ("exit_code", flag))


def test_waiting_for_a_network_that_is_not_there_is_the_providers_fault(desk: Make) -> None:
    reading = desk(HERE).read(RECORDED / "codex-unreachable.jsonl", Done(None, signal=9, timed_out=True))
    assert reading.fault is not None
    assert reading.fault[0] == "provider"
    assert "waiting for network" in reading.fault[1]


def test_a_lost_connection_that_was_found_again_is_noise(desk: Make) -> None:
    one = desk(HERE)
    lines = (RECORDED / "codex-fixes.jsonl").read_text().splitlines()
    noise = json.dumps({"type": "error", "message": "Reconnecting... 1/5 (stream disconnected)"})
    (one.root / "noise.jsonl").write_text("\n".join([*lines[:3], noise, *lines[3:]]) + "\n")
    assert one.read(one.root / "noise.jsonl", Done(0)).fault is None
    (one.root / "cut.jsonl").write_text("\n".join([*lines[:3], noise, *lines[3:-1]]) + "\n")
    stopped = one.read(one.root / "cut.jsonl", Done(None, timed_out=True))
    assert (stopped.fault, stopped.flags, stopped.usage.tokens_in) == (None, ("request_timeout",), None)


def test_a_command_that_was_still_running_is_told_without_an_outcome(desk: Make) -> None:
    one = desk(HERE)
    lines = (RECORDED / "codex-fixes.jsonl").read_text().splitlines()
    started = next(n for n, line in enumerate(lines) if '"item.started"' in line)
    (one.root / "cut.jsonl").write_text("\n".join(lines[: started + 1]) + "\n")
    reading = one.read(one.root / "cut.jsonl", Done(None, timed_out=True))
    assert (reading.steps[-1].kind, reading.steps[-1].tool) == ("tool_call", "shell")


def test_a_provider_error_quoted_in_a_commands_output_is_no_fault(desk: Make) -> None:
    one = desk(HERE)
    text = (RECORDED / "codex-fixes.jsonl").read_text()
    (one.root / "q.jsonl").write_text(text.replace('"aggregated_output":""', '"aggregated_output":"401 Unauthorized"'))
    assert one.read(one.root / "q.jsonl", Done(0)).fault is None


@pytest.mark.parametrize("text", ["", "not json\n", "[1]\n{}\n", '{"type": "banana"}\n'])
def test_output_that_is_no_protocol_is_a_fault_only_where_it_ended_by_itself(desk: Make, text: str) -> None:
    one = desk(HERE)
    (one.root / "odd.jsonl").write_text(text)
    ended = one.read(one.root / "odd.jsonl", Done(0))
    assert ended.fault is not None
    assert ended.fault[0] == "protocol"
    assert one.read(one.root / "odd.jsonl", Done(None, timed_out=True)).fault is None


def test_odd_events_never_break_the_reader(desk: Make) -> None:
    one = desk(HERE)
    rows: list[Any] = [
        {"type": "item.completed", "item": "text"},
        {"type": "item.completed", "item": {"type": "command_execution", "aggregated_output": None, "exit_code": "x"}},
        {
            "type": "item.completed",
            "item": {"id": "f", "type": "file_change", "changes": [{"path": "a", "kind": "add"}]},
        },
        {
            "type": "item.completed",
            "item": {"id": "m", "type": "mcp_tool_call", "tool": "find", "error": {"message": "no"}},
        },
        {"type": "error"},
        {"type": "turn.completed", "usage": {"input_tokens": -1, "output_tokens": 2.5}},
    ]
    (one.root / "odd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    reading = one.read(one.root / "odd.jsonl", Done(0))
    assert (reading.fault, reading.usage.tokens_in, reading.usage.tool_calls) == (None, None, 3)
    assert [step.tool for step in reading.steps if step.kind == "tool_call"] == ["shell", "file_change", "find"]


def test_the_command_line_of_a_first_and_a_second_request(desk: Make, program: Path) -> None:
    one = desk(HERE, {"model": "small", "config.model_reasoning_effort": "high", "config.features.x": True})
    call = one.module.invoke(one.ask("- fix"))
    assert call.argv[1:3] == [str(program), "exec"]
    assert call.argv[-3:] == ["-m", "small", "-"]
    settings = [call.argv[n + 1] for n, word in enumerate(call.argv) if word == "-c"]
    table: dict[str, Any] = {}
    for setting in settings:
        key, _, value = setting.partition("=")
        table[key] = tomllib.loads(f"x = {value}")["x"]
    assert table["model_reasoning_effort"] == "high"
    assert table["features.x"] is True
    assert table["model_providers.benchsite"]["base_url"] == "http://127.0.0.1:8707/v1"
    one.session = "abc 10 2 0"
    assert one.module.invoke(one.ask("more")).argv[-3:] == ["resume", "abc", "-"]


def test_its_home_is_made_within_the_trials_own(desk: Make, program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CODEX_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-shell")
    monkeypatch.setenv("CODEX_HOME", "/the/users/own")
    one = desk(Cli("codex"))
    env = one.module.invoke(one.ask("x")).env
    assert env["CODEX_HOME"] == str(one.home / ".codex")
    assert (one.home / ".codex").is_dir()
    assert env["CODEX_API_KEY"] == "from-the-shell"


def test_everything_a_script_of_node_needs_is_named(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = codex.probe(HERE, {})
    assert found.version == "0.171.0"
    assert found.programs == (tmp_path / "node_modules", tmp_path / "bin" / "node-of-the-test")
    (tmp_path / "bin" / "node-of-the-test").unlink()
    with pytest.raises(AgentMissing, match="'codex' needs 'node-of-the-test'"):
        codex.probe(HERE, {})
