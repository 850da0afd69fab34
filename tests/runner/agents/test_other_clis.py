"""The adapters beside claude-code and codex, against recorded output (of which versions: data/agents/README.md)."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.agents import Reading
from runner.agents.telling import MODEL_KEYS
from runner.definition import Cli

from .asking import RECORDED, Desk, Done

Make = Callable[..., Desk]
URL = "http://127.0.0.1:8707"
PROGRAMS = {
    "opencode": "opencode", "gemini-cli": "gemini", "qwen-code": "qwen", "aider": "aider", "mini-swe-agent": "mini",
    "goose": "goose",
}  # fmt: skip
EVENTS = ("opencode", "gemini-cli", "qwen-code", "goose")
ALL = pytest.mark.parametrize("name", PROGRAMS)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins on PATH where only the command line is looked at; no key of the machine's own."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for program in PROGRAMS.values():
        (folder / program).write_text("#!/bin/sh\necho 1.2.3\n")
        (folder / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    for key in (*MODEL_KEYS, "GOOGLE_API_KEY", "OPENAI_BASE_URL", "GOOSE_PROVIDER", "GOOSE_MODEL"):
        monkeypatch.delenv(key, raising=False)


def _read(desk: Make, name: str, what: str, code: int = 0, **more: Any) -> Reading:
    one = desk(Cli(name, base_url=URL))
    if name == "mini-swe-agent":
        one.number = 1
        shutil.copyfile(RECORDED / f"{name}-{what}.json", one.home / "mini-1.traj.json")
        return one.read(one.root / "none", Done(code, **more))
    return one.read(RECORDED / f"{name}-{what}.{'txt' if name == 'aider' else 'jsonl'}", Done(code, **more))


@pytest.mark.parametrize("name", [*EVENTS, "mini-swe-agent"])
def test_the_steps_of_a_fix_are_told_in_order(desk: Make, name: str) -> None:
    reading = _read(desk, name, "fixes")
    told = [(step.role, step.kind) for step in reading.steps[1:5]]
    assert told == [
        ("assistant", "message"), ("assistant", "tool_call"), ("tool", "observation"), ("assistant", "message"),
    ]  # fmt: skip
    assert "Looking." in reading.steps[1].text or "look" in reading.steps[1].text
    assert reading.steps[2].arguments["command"].endswith("sed -i s/a-b/a+b/ calc.py")
    told_by = {"gemini-cli": ("gemini-2.5-flash",), "qwen-code": ("small",), "mini-swe-agent": ("small",)}
    assert reading.models == told_by.get(name, ()), "opencode and goose do not tell which model answered"
    assert reading.steps[3].call == reading.steps[2].call
    times = [step.at for step in reading.steps[1:] if step.at]
    assert len(times) == (0 if name == "qwen-code" else len(reading.steps) - 1)
    assert times == sorted(times)
    assert (reading.fault, reading.flags) == (None, ())
    assert reading.text == ("Done." if name == "mini-swe-agent" else "Fixed.")


@pytest.mark.parametrize(
    ("name", "what", "tokens", "calls"),
    [
        ("opencode", "fixes", (1900, 50, 800), (2, 1)),
        ("gemini-cli", "fixes", (1900, 50, 800), (None, 1)),
        ("gemini-cli", "resumed", (2300, 25, 0), (None, 1)),
        ("qwen-code", "fixes", (1900, 50, 800), (2, 1)),
        ("mini-swe-agent", "fixes", (1900, 50, 800), (2, 2)),
        ("goose", "401", (None, None, None), (None, 0)),
        ("goose", "1.34-401", (None, None, None), (None, 0)),
        ("aider", "fixes", (None, None, None), (None, None)),
    ],
)
def test_what_is_known_of_usage_is_counted_and_the_rest_is_unknown(
    desk: Make, name: str, what: str, tokens: tuple[int | None, ...], calls: tuple[int | None, ...]
) -> None:
    usage = _read(desk, name, what).usage
    assert (usage.tokens_in, usage.tokens_out, usage.tokens_cached) == tokens
    assert (usage.model_calls, usage.tool_calls) == calls
    assert usage.cost is None


def _edited(one: Desk, name: str, old: str, new: str) -> Path:
    text = (RECORDED / f"{name}-fixes.jsonl").read_text()
    assert old in text
    (one.root / "edited.jsonl").write_text(text.replace(old, new))
    return one.root / "edited.jsonl"


def test_a_cost_that_is_told_is_kept(desk: Make) -> None:
    one = desk(Cli("opencode"))
    assert one.read(_edited(one, "opencode", '"cost":0', '"cost":0.25'), Done(0)).usage.cost == 0.5
    assert _read(desk, "goose", "fixes").usage.cost == 0.00425


def test_geminis_thoughts_are_output(desk: Make) -> None:
    one = desk(Cli("gemini-cli"))
    usage = one.read(_edited(one, "gemini-cli", '"total_tokens":1950', '"total_tokens":1970'), Done(0)).usage
    assert (usage.tokens_in, usage.tokens_out) == (1900, 70)


def test_a_total_alone_is_counted_as_input(desk: Make) -> None:
    one = desk(Cli("goose"))
    usage = one.read(_edited(one, "goose", '"input_tokens":1900,"output_tokens":50,', ""), Done(0)).usage
    assert (usage.tokens_in, usage.tokens_out) == (1950, None)


@pytest.mark.parametrize(("name", "cost"), [("goose", 0.006), ("qwen-code", None)])
def test_a_session_that_tells_its_total_is_taken_apart_by_request(desk: Make, name: str, cost: float | None) -> None:
    one = desk(Cli(name, base_url=URL))
    one.session = one.read(RECORDED / f"{name}-fixes.jsonl", Done(0)).session
    second = one.read(RECORDED / f"{name}-resumed.jsonl", Done(0))
    usage = second.usage
    assert (usage.tokens_in, usage.tokens_out, usage.tokens_cached, usage.cost) == (2300, 25, 0, cost)
    assert second.text == "Noted."
    assert json.loads(str(second.session).partition(" ")[2])["tokens_in"] == 4200


@pytest.mark.parametrize(
    ("name", "what", "code"),
    [
        ("opencode", "401", "provider_auth"),
        ("gemini-cli", "401", "provider_auth"),
        ("gemini-cli", "badkey", "provider_auth"),
        ("gemini-cli", "404", "provider_model"),
        ("gemini-cli", "429", "provider"),
        ("gemini-cli", "500", "provider"),
        ("gemini-cli", "unreachable", "provider"),
        ("qwen-code", "401", "provider_auth"),
        ("qwen-code", "404", "provider_model"),
        ("qwen-code", "429", "provider"),
        ("qwen-code", "500", "provider"),
        ("qwen-code", "broken", "provider"),
        ("mini-swe-agent", "401", "provider_auth"),
        ("mini-swe-agent", "403", "provider_auth"),
        ("goose", "401", "provider_auth"),
        ("goose", "1.34-401", "provider_auth"),
        ("goose", "404", "provider_model"),
        ("goose", "429", "provider"),
        ("goose", "500", "provider"),
        ("goose", "broken", "provider"),
        ("goose", "unreachable", "provider"),
        ("aider", "401", "provider_auth"),
        ("aider", "403", "provider"),
        ("aider", "404", "provider_model"),
        ("aider", "429", "provider"),
    ],
)
def test_what_the_provider_refuses_is_a_fault_however_the_program_ended(
    desk: Make, name: str, what: str, code: str
) -> None:
    """Qwen Code and goose tell most of them as an answer, and goose and aider then end well."""
    for exit_code in (0, 1):
        fault = _read(desk, name, what, exit_code).fault
        assert fault is not None
        assert fault[0] == code


@pytest.mark.parametrize(
    ("said", "at", "fault"),
    [
        ("Rate limit reached; please slow down", "2026-11-30T08:09:59.222Z", "provider"),
        ("This key may not use this model", "2026-11-30T08:09:59.222Z", "provider"),
        ("Cannot connect to API: The socket connection was closed", "2026-11-30T08:09:59.222Z", "provider"),
        ("Rate limit reached; please slow down", "2026-11-30T08:00:01.000Z", None),
    ],
)
def test_what_opencode_waits_for_stands_in_its_log_alone(desk: Make, said: str, at: str, fault: str | None) -> None:
    """It tries again without end; an answer that came after the last failure is an answer."""
    log = (
        f'timestamp={at} level=ERROR run=41 message="stream error" providerID=benchsite modelID=rate session.id=s '
        f'small=false agent=build mode=primary error.error="AI_APICallError: {said}"\n'
    )
    one = desk(Cli("opencode", base_url=URL))
    text = {"type": "text", "timestamp": 1796025602000, "sessionID": "ses_1", "part": {"text": "Looking."}}
    (one.out / "said").write_text(json.dumps(text) + "\n")
    (one.out / "log").write_text(log)
    reading = one.read(one.out / "said", Done(None, timed_out=True), one.out / "log")
    assert (reading.fault or (None,))[0] == fault
    if fault:
        assert reading.fault == (fault, f"opencode reported: AI_APICallError: {said}")


@pytest.mark.parametrize("name", ["opencode", "gemini-cli", "qwen-code", "goose", "aider"])
def test_a_context_that_is_full_is_the_subjects_own(desk: Make, name: str) -> None:
    reading = _read(desk, name, "context")
    assert (reading.fault, reading.flags) == (None, ("context_limit",))


def test_an_answer_cut_at_the_output_limit_is_flagged(desk: Make) -> None:
    assert _read(desk, "goose", "length").flags == ("output_limit",)


def test_what_aider_says_of_itself_is_no_part_of_its_answer(desk: Make) -> None:
    assert _read(desk, "aider", "fixes").text.startswith("Looking.")
    assert _read(desk, "aider", "fixes").models == ("openai/small",)
    assert _read(desk, "aider", "resumed").text.startswith("Noted.")


def test_a_tools_exit_code_is_kept_where_it_is_told(desk: Make) -> None:
    (seen,) = [step for step in _read(desk, "goose", "resumed").steps if step.kind == "observation"]
    assert ("seen" in seen.text, seen.exit_code) == (True, 3)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("opencode", '"Fixed."', '"API Error: 401 Unauthorized"'),
        ("opencode", '"output":"(no output)"', '"output":"401 Unauthorized"'),
        ("gemini-cli", '"Fixed."', '"[API Error: 401 Unauthorized]"'),
        ("qwen-code", '"Fixed."', '"[API Error: 401 Unauthorized]"'),
        ("goose", '"Fixed."', '"Ran into this error: 401 Unauthorized"'),
        ("mini-swe-agent", '"Done."', '"AuthenticationError: 401"'),
        ("aider", "Looking.\n", "litellm.AuthenticationError: 401\n"),
    ],
)
def test_an_error_that_the_model_or_a_tool_quotes_is_no_fault(desk: Make, name: str, old: str, new: str) -> None:
    one = desk(Cli(name, base_url=URL))
    ending = {"aider": "fixes.txt", "mini-swe-agent": "fixes.json"}.get(name, "fixes.jsonl")
    text = (RECORDED / f"{name}-{ending}").read_text()
    assert old in text
    file = one.home / "mini-0.traj.json" if name == "mini-swe-agent" else one.root / "quoted"
    file.write_text(text.replace(old, new))
    assert one.read(file, Done(0)).fault is None


@pytest.mark.parametrize("name", EVENTS)
def test_a_killed_run_keeps_what_it_told(desk: Make, name: str) -> None:
    one = desk(Cli(name, base_url=URL))
    lines = (RECORDED / f"{name}-fixes.jsonl").read_text().splitlines(keepends=True)
    (one.root / "cut").write_text("".join(lines[:-1]) + lines[-1][:30])
    reading = one.read(one.root / "cut", Done(None, signal=9, timed_out=True))
    assert (reading.fault, reading.flags, len(reading.steps)) == (None, ("request_timeout",), 5)
    assert reading.usage.cost is None
    assert reading.session


@pytest.mark.parametrize("name", EVENTS)
def test_an_end_without_the_protocols_own_end_is_a_fault(desk: Make, name: str) -> None:
    one = desk(Cli(name, base_url=URL))
    lines = (RECORDED / f"{name}-fixes.jsonl").read_text().splitlines(keepends=True)
    (one.root / "cut").write_text("".join(lines[:-1]))
    fault = one.read(one.root / "cut", Done(0)).fault
    assert fault is not None
    assert fault[0] == "protocol"


@ALL
@pytest.mark.parametrize("text", ["", "[1, 2]\n{}\n", '{"type": "banana"}\n', '{"type": "error"}\n{"type": "result"}'])
def test_odd_output_never_breaks_a_reader(desk: Make, name: str, text: str) -> None:
    one = desk(Cli(name, base_url=URL))
    (one.root / "odd").write_text(text)
    (one.home / "mini-0.traj.json").write_text(text)
    assert one.read(one.root / "odd", Done(1)).usage.cost is None
    stopped = one.read(one.root / "odd", Done(None, signal=9, timed_out=True))
    assert "request_timeout" in stopped.flags


@ALL
def test_nothing_a_client_is_told_stands_in_the_world_and_no_key_in_a_file(
    desk: Make, programs: None, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in ("OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(key, "sk-from-the-shell")
    one = desk(Cli(name, base_url=URL, env={"EXTRA": "1"}), {"model": "small"})
    call = one.module.invoke(one.ask("- fix it"))
    assert list(one.world.iterdir()) == []
    assert "sk-from-the-shell" in call.env.values()
    assert not any("sk-from-the-shell" in file.read_text() for file in one.home.rglob("*") if file.is_file())
    assert "sk-from-the-shell" not in " ".join(call.argv)
    assert call.env["EXTRA"] == "1"


@ALL
def test_the_command_line_names_the_model_and_goes_on_where_it_can(desk: Make, programs: None, name: str) -> None:
    one = desk(Cli(name, base_url=URL), {"model": "small"})
    first = one.module.invoke(one.ask("- fix it"))
    assert "small" in " ".join([*first.argv, first.env.get("GOOSE_MODEL", "")])
    one.session = "ses_1"
    second = one.module.invoke(one.ask("- more"))
    added = [word for word in second.argv if word not in first.argv]
    goes_on = {
        "opencode": ["--session", "ses_1"], "gemini-cli": ["--resume", "latest"], "qwen-code": ["--resume", "ses_1"],
        "aider": ["--restore-chat-history"], "goose": ["--resume"], "mini-swe-agent": ["- more"],
    }  # fmt: skip
    assert added == goes_on[name]


def test_config_axes_become_the_clients_own_config(desk: Make, programs: None) -> None:
    for name, place in (
        ("opencode", ".config/opencode/opencode.json"),
        ("gemini-cli", ".gemini/settings.json"),
        ("qwen-code", ".qwen/settings.json"),
    ):
        one = desk(Cli(name), {"config.model.maxSessionTurns": 5})
        one.module.invoke(one.ask("x"))
        assert json.loads((one.home / place).read_text())["model"]["maxSessionTurns"] == 5


def test_a_config_axis_leaves_the_settings_beside_it(desk: Make, programs: None) -> None:
    one = desk(Cli("gemini-cli"), {"config.general.vimMode": True})
    one.module.invoke(one.ask("x"))
    general = json.loads((one.home / ".gemini" / "settings.json").read_text())["general"]
    assert (general["vimMode"], general["maxAttempts"]) == (True, 2)


@ALL
def test_a_program_is_probed_and_pinned(desk: Make, programs: None, name: str) -> None:
    one = desk(Cli(name, base_url=URL), {"model": "small"})
    found = one.module.probe(one.spec, {})
    assert found.version == "1.2.3"
    pin = one.module.pin(one.spec, one.axes, found)
    assert (pin["adapter"], pin["version"], pin["model"], pin["endpoint"]) == (name, "1.2.3", "small", "127.0.0.1")
