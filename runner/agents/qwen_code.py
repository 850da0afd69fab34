"""`qwen-code`: `qwen --output-format stream-json`, whose events are shaped as Claude Code's. Prompt by stdin.

Axes: `model`; `config.a.b` become {"a": {"b": value}} in its settings file; `env.NAME` go into the environment.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.definition import AgentSpec
from runner.paths import StrPath
from runner.replay import Usage

from .base import Ask, Ended, Invocation, Probe, Reading
from .claude_events import Told, steps_of
from .claude_events import told as claude_told
from .clis import cli, cli_pin, events, nested, number, plus, since, thread, thread_of, v1_url
from .programs import ask_version, find_program
from .telling import OPENAI_KEYS, Heard, keyed, mapping, reading, rows

KIND = "qwen-code"
INSTALL = "npm install -g @qwen-code/qwen-code"
DEFAULT_ENDPOINT = "https://api.openai.com"
KEYS = OPENAI_KEYS
NO_LOGIN = "Qwen Code lets nobody in by a login any more (its OAuth ended in April 2026); give it a key, OPENAI_API_KEY"
SETTINGS = {
    "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "model": {"generationConfig": {"maxRetries": 0}},  # its own seven tries of a request stay
}
_ERROR = "[API Error: "
"""How the harness tells an error in the place of an answer; such an answer has cost no token."""


def probe(spec: AgentSpec, axes: Mapping[str, Any]) -> Probe:
    program = find_program("qwen", INSTALL)
    return Probe(ask_version([*program.argv, "--version"]), program.places)


def invoke(ask: Ask) -> Invocation:
    argv = [
        *find_program("qwen", INSTALL).argv,
        *("--yolo", "--output-format", "stream-json", "--auth-type", "openai", "--chat-recording"),
        *(("--model", ask.model) if ask.model else ()),
        *cli(ask.spec).options,
        *(("--resume", thread(ask.session)[0]) if ask.session else ()),
    ]
    settings = Path(ask.home, ".qwen") / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps(nested(ask.axes, SETTINGS)), encoding="utf-8")
    base = {"OPENAI_BASE_URL": v1_url(cli(ask.spec).base_url)} if cli(ask.spec).base_url else {}
    return Invocation(argv, {**keyed(ask, (*KEYS, "OPENAI_BASE_URL"), {}), **base}, ask.prompt_file)


def endpoint(spec: AgentSpec, axes: Mapping[str, Any]) -> str | None:
    return cli(spec).base_url or DEFAULT_ENDPOINT


def read(ask: Ask, stdout: StrPath, stderr: StrPath, done: Ended) -> Reading:
    heard = _heard(claude_told(events(stdout)), thread(ask.session)[1])
    return reading(ask, ("qwen", "Qwen Code"), heard, done, (stdout, stderr))


def _heard(told: Told, before: Usage | None) -> Heard:
    """Its last line tells a session's total; without one (a killed run) the messages tell this request's own."""
    total = _usage(told) if told.any else Usage()
    return Heard(
        steps=list(steps_of(told)),
        text=told.text,
        error=_error(told),
        session=thread_of(told.session, total) if told.session else None,
        usage=since(total, before) if told.result else total,
        any=told.any,
        whole=told.result is not None,
        models=dict.fromkeys(told.models),
    )


def _error(told: Told) -> str:
    """An error is told as an answer; one that tokens were spent on is the model's own words."""
    result = told.result or {}
    if result.get("is_error"):
        return str(mapping(result.get("error")).get("message") or result.get("result") or "error")
    spent = [plus(row.get("input_tokens"), row.get("output_tokens")) for row in list(told.usage.values())[-1:]]
    return told.text if told.text.startswith(_ERROR) and spent == [0] else ""


def _usage(told: Told) -> Usage:
    """Its input counts cached tokens already; it tells no cost."""
    totals = [mapping((told.result or {}).get("usage"))] if told.result else list(map(dict, told.usage.values()))
    blocks = [block for row in told.messages for block in rows(row["message"].get("content"))]
    answered = [row for row in told.usage.values() if number(row.get("input_tokens"))]
    return Usage(
        tokens_in=plus(*(row.get("input_tokens") for row in totals)),
        tokens_out=plus(*(row.get("output_tokens") for row in totals)),
        tokens_cached=plus(*(row.get("cache_read_input_tokens") for row in totals)),
        model_calls=len(answered),
        tool_calls=sum(block.get("type") == "tool_use" for block in blocks),
    )


def pin(spec: AgentSpec, axes: Mapping[str, Any], probe: Probe) -> dict[str, Any]:
    return cli_pin(KIND, spec, axes, probe)
