"""`claude-code`: Claude Code's headless mode. Prompt by stdin, events as JSON lines, `--resume` for a second request.

Axes: `model`; `config.a.b` go into `--settings` as {"a": {"b": value}}; `env.NAME` into the environment.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from runner.definition import AgentSpec
from runner.paths import StrPath

from .base import Ask, Ended, Invocation, Probe, Reading, asked, how_it_ended, never_started
from .claude_events import Told, steps_of, told, total_of, usage_of
from .clis import (
    NO_KEY,
    cli,
    cli_pin,
    environment,
    events,
    meaning,
    nested,
    root_url,
    sentence,
    silent,
    thread,
    thread_of,
)  # fmt: skip
from .programs import ask_version, find_program

KIND = "claude-code"
INSTALL = "npm install -g @anthropic-ai/claude-code"
DEFAULT_ENDPOINT = "https://api.anthropic.com"
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
NEEDED = (*KEYS, "ANTHROPIC_BASE_URL")
CREDENTIALS = ".claude/.credentials.json"
FIXED = {
    "IS_SANDBOX": "1",  # as root it refuses to skip permissions without it
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "1",  # its own ten retries would make a wrong key hang for minutes
}
_MODELS = (
    "ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "CLAUDE_CODE_SUBAGENT_MODEL",
)  # fmt: skip
_SUBTYPES = {"error_max_turns": "step_limit", "error_max_budget_usd": "budget"}


def probe(spec: AgentSpec, axes: Mapping[str, Any]) -> Probe:
    program = find_program("claude", INSTALL)
    return Probe(ask_version([*program.argv, "--version"], {"DISABLE_AUTOUPDATER": "1"}), program.places)


def invoke(ask: Ask) -> Invocation:
    argv = [
        *find_program("claude", INSTALL).argv,
        *("-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"),
        *(("--model", ask.model) if ask.model else ()),
        *(("--max-budget-usd", f"{ask.budget:.4f}") if ask.budget is not None else ()),
        *(("--settings", json.dumps(nested(ask.axes))) if nested(ask.axes) else ()),
        *cli(ask.spec).options,
        *(("--resume", thread(ask.session)[0]) if ask.session else ()),
    ]
    return Invocation(argv, _environment(ask), ask.prompt_file)


def _environment(ask: Ask) -> dict[str, str]:
    env = environment(ask, NEEDED, FIXED)
    if not cli(ask.spec).base_url:
        return env
    # At another endpoint every side call (titles, sub-agents) must go to the cell's model too.
    models = dict.fromkeys(_MODELS, ask.model) if ask.model else {}
    given = any(env.get(name) for name in KEYS) or cli(ask.spec).credentials
    key = {} if given else {"ANTHROPIC_API_KEY": NO_KEY}
    return {**models, **key, **env, "ANTHROPIC_BASE_URL": root_url(cli(ask.spec).base_url)}


def endpoint(spec: AgentSpec, axes: Mapping[str, Any]) -> str | None:
    return cli(spec).base_url or os.environ.get("ANTHROPIC_BASE_URL") or DEFAULT_ENDPOINT


def read(ask: Ask, stdout: StrPath, stderr: StrPath, done: Ended) -> Reading:
    heard = told(events(stdout))
    if not heard.any:
        fault = never_started("claude", done, stdout, stderr) or silent("Claude Code", stderr, done)
        return Reading("", usage_of(heard), [asked(ask)], fault, how_it_ended(done), heard.session)
    fault, flag = _judge(heard, done)
    flags = dict.fromkeys((*how_it_ended(done), *((flag,) if flag else ())))
    elsewhere = endpoint(ask.spec, ask.axes) != DEFAULT_ENDPOINT
    usage = usage_of(heard, elsewhere, thread(ask.session)[1])
    steps = [asked(ask), *steps_of(heard)]
    return Reading(heard.text, usage, steps, fault, tuple(flags), _session(heard), heard.models)


def _session(heard: Told) -> str | None:
    return thread_of(heard.session, total_of(heard)) if heard.session else None


def _judge(heard: Told, done: Ended) -> tuple[tuple[str, str] | None, str | None]:
    """Read fault and flag from the last result line, which the harness writes itself."""
    if heard.result is None:
        if done.exit_code == 0 and not done.timed_out:
            return ("protocol", "Claude Code ended well, but without the result line of its protocol."), None
        return None, None
    message = str(heard.result.get("result") or heard.result.get("subtype") or "")
    meant = _meant(heard, message)
    said = sentence("Claude Code", message)
    if meant == "budget" or (meant or "").startswith("provider"):
        return (str(meant), said), None
    return None, meant


def _meant(heard: Told, message: str) -> str | None:
    assert heard.result is not None
    if heard.result.get("subtype") in _SUBTYPES:
        return _SUBTYPES[heard.result["subtype"]]
    if heard.result.get("stop_reason") == "refusal":
        return "refusal"
    if not heard.result.get("is_error"):
        return None
    status = heard.result.get("api_error_status")
    by_status = {401: "provider_auth", 403: "provider_auth", 404: "provider_model", 429: "provider"}
    by_error = {"authentication_failed": "provider_auth", "model_not_found": "provider_model"}
    known = None
    if isinstance(status, int):
        known = by_status.get(status) or ("provider" if status >= 500 else None)
    return known or by_error.get(heard.error) or meaning(message)


def pin(spec: AgentSpec, axes: Mapping[str, Any], probe: Probe) -> dict[str, Any]:
    return cli_pin(KIND, spec, axes, probe)
