"""`gemini-cli`: `gemini --output-format stream-json`. Prompt by stdin, `--resume latest` in the trial's own home.

Axes: `model`; `config.a.b` become {"a": {"b": value}} in its settings file; `env.NAME` go into the environment.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from runner.definition import AgentSpec
from runner.paths import StrPath
from runner.replay import Usage
from runner.transcript import Step

from .base import Ask, Ended, Invocation, Probe, Reading
from .clis import NO_KEY, cli, cli_pin, environment, events, nested, number, root_url
from .programs import ask_version, find_program
from .telling import Heard, mapping, reading

KIND = "gemini-cli"
INSTALL = "npm install -g @google/gemini-cli"
DEFAULT_ENDPOINT = "https://generativelanguage.googleapis.com"
KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
CREDENTIALS = ".gemini/oauth_creds.json"
FIXED = {
    "GEMINI_CLI_TRUST_WORKSPACE": "true",  # in a folder it does not trust it ignores --yolo
    "GEMINI_CLI_NO_RELAUNCH": "true",  # it would start itself a second time, for more memory
}
MAX_ATTEMPTS = 2
"""Of a request to the model. Its own ten, with growing waits, would outlast any timeout, which is no agent's fault."""


def probe(spec: AgentSpec, axes: Mapping[str, Any]) -> Probe:
    program = find_program("gemini", INSTALL)
    return Probe(ask_version([*program.argv, "--version"]), program.places)


def invoke(ask: Ask) -> Invocation:
    argv = [
        *find_program("gemini", INSTALL).argv,
        *("--yolo", "--output-format", "stream-json"),
        *(("--model", ask.model) if ask.model else ()),
        *cli(ask.spec).options,
        *(("--resume", "latest") if ask.session else ()),
    ]
    settings = Path(ask.home, ".gemini") / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps(_settings(ask)), encoding="utf-8")
    return Invocation(argv, _environment(ask), ask.prompt_file)


def _settings(ask: Ask) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False, "maxAttempts": MAX_ATTEMPTS},
        "privacy": {"usageStatisticsEnabled": False},
        "security": {"auth": {"selectedType": "oauth-personal" if cli(ask.spec).credentials else "gemini-api-key"}},
    }
    return nested(ask.axes, settings)


def _environment(ask: Ask) -> dict[str, str]:
    env = environment(ask, KEYS, FIXED)
    if cli(ask.spec).base_url:
        env = {**env, "GOOGLE_GEMINI_BASE_URL": root_url(cli(ask.spec).base_url)}
        if not cli(ask.spec).credentials:
            env.setdefault("GEMINI_API_KEY", NO_KEY)
    return env


def endpoint(spec: AgentSpec, axes: Mapping[str, Any]) -> str | None:
    return cli(spec).base_url or DEFAULT_ENDPOINT


def read(ask: Ask, stdout: StrPath, stderr: StrPath, done: Ended) -> Reading:
    return reading(ask, ("gemini", "Gemini CLI"), told(events(stdout)), done, (stdout, stderr))


def told(lines: Iterable[dict[str, Any]]) -> Heard:
    heard, calls, said, at = Heard(), 0, "", None
    for line in lines:
        kind = line["type"]
        if kind not in ("init", "message", "tool_use", "tool_result", "error", "result"):
            continue
        heard.any = True
        if kind == "message" and line.get("role") == "assistant":
            at = at if said else _time(line)
            said += str(line.get("content") or "")
            continue
        said = _close(heard, said, at)
        calls += kind == "tool_use"
        if kind == "init":
            heard.session = str(line.get("session_id") or "") or None
        elif kind in ("tool_use", "tool_result"):
            heard.steps.append(_call(line))
        elif kind == "error" and line.get("severity") != "warning":
            heard.error = str(line.get("message") or "error")
        elif kind == "result":
            _end(heard, line)
    _close(heard, said, at)
    heard.usage = Usage(**{**heard.usage.to_json(), "tool_calls": calls}) if heard.any else Usage()
    return heard


def _close(heard: Heard, said: str, at: str | None) -> str:
    """Chunks of one answer are told one by one; whatever comes between ends it."""
    if said:
        heard.text = said
        heard.steps.append(Step("assistant", "message", said, at=at))
    return ""


def _time(line: Mapping[str, Any]) -> str | None:
    return str(line["timestamp"]) if isinstance(line.get("timestamp"), str) else None


def _call(line: Mapping[str, Any]) -> Step:
    call, at = str(line.get("tool_id")), _time(line)
    if line["type"] == "tool_use":
        name = str(line.get("tool_name"))
        return Step("assistant", "tool_call", tool=name, arguments=line.get("parameters"), call=call, at=at)
    output = line.get("output") or mapping(line.get("error")).get("message") or ""
    return Step("tool", "observation", str(output), call=call, at=at)


def _end(heard: Heard, line: Mapping[str, Any]) -> None:
    """Output counts thoughts and tool prompts too: what its total holds beyond the input."""
    heard.whole = True
    if line.get("status") == "error":
        error = mapping(line.get("error"))
        heard.error = str(error.get("message") or heard.error or "error")
        heard.steps.append(Step("system", "message", heard.error, at=_time(line)))
    elif line.get("status") == "success":
        heard.error = ""
    stats = mapping(line.get("stats"))
    heard.models |= dict.fromkeys(map(str, mapping(stats.get("models"))))
    total, taken, given = (number(stats.get(name)) for name in ("total_tokens", "input_tokens", "output_tokens"))
    if total is not None and taken is not None:
        given = max(given or 0, total - taken)
    heard.usage = Usage(tokens_in=taken, tokens_out=given, tokens_cached=number(stats.get("cached")))


def pin(spec: AgentSpec, axes: Mapping[str, Any], probe: Probe) -> dict[str, Any]:
    return cli_pin(KIND, spec, axes, probe)
