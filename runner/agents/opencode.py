"""`opencode`: `opencode run --format json`. Prompt by stdin, its config in the trial's own home, `--session` goes on.

Axes: `model` as PROVIDER/MODEL, or the model's name alone at an endpoint of the bench's own; `config.a.b` become
{"a": {"b": value}} in its config file; `env.NAME` go into the environment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from runner.definition import AgentSpec
from runner.paths import StrPath
from runner.replay import Usage
from runner.transcript import Step

from .base import Ask, Ended, Invocation, Probe, Reading, tail
from .clis import cli, cli_pin, events, nested, number, plus, v1_url
from .programs import ask_version, find_program
from .telling import MODEL_KEYS, Heard, keyed, mapping, moment, reading, stamp

KIND = "opencode"
INSTALL = "npm install -g opencode-ai"
KEYS = MODEL_KEYS
CREDENTIALS = ".local/share/opencode/auth.json"
LOG_READ = 64 << 10
PROVIDER = "benchsite"
FIXED = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "OPENCODE_FAKE_VCS": "git"}
ALONE = {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1"}
"""At an endpoint of the bench's own nothing else on the network is asked for."""
INSTALLED = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
"""A lock file beside its config that holds what plugins are written with, and there are none: else it fetches that from
npm's registry at the start of every trial."""
ALLOWED = dict.fromkeys(("edit", "bash", "webfetch", "external_directory", "doom_loop"), "allow")
"""There is nobody to be asked: what it would ask for it rejects by itself, and ends."""
_REFUSED = re.compile(
    r'^timestamp=(\S+) .*message="stream error" .*small=false .*error\.error="([^"\n]*)', re.MULTILINE
)
"""A request to the model that failed, as its log tells it; only there, since it waits and tries again without end."""


def probe(spec: AgentSpec, axes: Mapping[str, Any]) -> Probe:
    program = find_program("opencode", INSTALL)
    return Probe(ask_version([*program.argv, "--version"], FIXED), program.places)


def invoke(ask: Ask) -> Invocation:
    own, name = _provider(ask)
    model = f"{own}/{name}" if name and cli(ask.spec).base_url else ask.model
    argv = [
        *find_program("opencode", INSTALL).argv,
        *("run", "--format", "json", "--print-logs", "--log-level", "ERROR"),
        *(("-m", model) if model else ()),
        *cli(ask.spec).options,
        *(("--session", ask.session) if ask.session else ()),
    ]
    config = Path(ask.home, ".config") / "opencode" / "opencode.json"
    (config.parent / "node_modules").mkdir(parents=True, exist_ok=True)
    (config.parent / "package-lock.json").write_text(json.dumps(INSTALLED), encoding="utf-8")
    config.write_text(json.dumps(_config(ask)), encoding="utf-8")
    fixed = {**FIXED, **(ALONE if cli(ask.spec).base_url else {}), "OPENCODE_CONFIG": ask.inside(config)}
    return Invocation(argv, keyed(ask, KEYS, fixed), ask.prompt_file)


def _config(ask: Ask) -> dict[str, Any]:
    """The key stands in the environment alone: a config file in a kept home must not hold it."""
    config: dict[str, Any] = {"autoupdate": False, "share": "disabled", "permission": ALLOWED}
    if cli(ask.spec).base_url:
        provider, model = _provider(ask)
        options = {"baseURL": v1_url(cli(ask.spec).base_url)}
        told: dict[str, Any] = {"options": options, "models": {model: {"name": model}} if model else {}}
        if provider == PROVIDER:
            told |= {"npm": "@ai-sdk/openai-compatible", "name": PROVIDER}
            options["apiKey"] = "{env:OPENAI_API_KEY}"
        config["provider"] = {provider: told}
        if model:
            config["small_model"] = f"{provider}/{model}"  # titles and summaries go there too
    return nested(ask.axes, config)


def _provider(ask: Ask) -> tuple[str, str]:
    """Give provider and model at an endpoint of the bench's own. A login is of a provider by name, which is then asked
    there in its own protocol."""
    named, _, model = ask.model.partition("/") if ask.model else ("", "", "")
    return (named, model) if model and cli(ask.spec).credentials else (PROVIDER, ask.model or "")


def endpoint(spec: AgentSpec, axes: Mapping[str, Any]) -> str | None:
    return cli(spec).base_url or None


def read(ask: Ask, stdout: StrPath, stderr: StrPath, done: Ended) -> Reading:
    heard = told(events(stdout))
    if not heard.error and done.timed_out and (failed := _REFUSED.findall(tail(stderr, LOG_READ))):
        at, message = failed[-1]
        if at > max((step.at or "" for step in heard.steps), default=""):  # nothing came after it
            heard.any, heard.error = True, message
            heard.steps.append(Step("system", "message", message, at=at))
    return reading(ask, ("opencode", "opencode"), heard, done, (stdout, stderr))


def told(lines: Iterable[dict[str, Any]]) -> Heard:
    heard, finished, calls = Heard(), dict[str, dict[str, Any]](), set[str]()
    for line in lines:
        kind, part = line["type"], mapping(line.get("part"))
        if kind not in ("step_start", "step_finish", "text", "reasoning", "tool_use", "error"):
            continue
        heard.any, first = True, len(heard.steps)
        heard.session = str(line.get("sessionID") or "") or heard.session
        if kind == "error":
            _fail(heard, line)
        elif kind == "step_finish":
            finished[str(part.get("id"))] = part
            heard.error, heard.whole = "", part.get("reason") != "tool-calls"
            _stopped(heard, str(part.get("reason")))
        elif kind == "tool_use":
            calls.add(str(part.get("callID")))
            heard.steps += _call(part)
        elif kind in ("text", "reasoning"):
            _say(heard, kind, str(part.get("text") or ""))
        stamp(heard, first, moment(at / 1000) if (at := number(line.get("timestamp"))) else None)
    heard.usage = _usage(list(finished.values()), len(calls)) if heard.any else Usage()
    return heard


def _fail(heard: Heard, line: Mapping[str, Any]) -> None:
    error = mapping(line.get("error"))
    data = mapping(error.get("data"))
    said = [str(data[key]) for key in ("statusCode", "message") if data.get(key)] or [str(error.get("name") or "error")]
    if error.get("name") == "MessageOutputLengthError":
        said = ["output limit"]
    heard.error = " ".join(said)
    heard.steps.append(Step("system", "message", heard.error))


def _stopped(heard: Heard, reason: str) -> None:
    heard.error = {"length": "output limit", "content-filter": "content_filter"}.get(reason, "")


def _say(heard: Heard, kind: str, text: str) -> None:
    heard.text = text if kind == "text" else heard.text
    heard.steps.append(Step("assistant", "message" if kind == "text" else "reasoning", text))


def _call(part: Mapping[str, Any]) -> list[Step]:
    state, call = mapping(part.get("state")), str(part.get("callID"))
    step = Step("assistant", "tool_call", tool=str(part.get("tool")), arguments=state.get("input"), call=call)
    output = str(state.get("output") or state.get("error") or "")
    code = number(mapping(state.get("metadata")).get("exit"))
    return [step, Step("tool", "observation", output, call=call, exit_code=code)]


def _usage(parts: list[dict[str, Any]], calls: int) -> Usage:
    """Its input leaves cached tokens out; its output leaves reasoning out; a cost of 0 is one that it does not know."""
    tokens = [mapping(part.get("tokens")) for part in parts]
    cached = [mapping(row.get("cache")).get("read") for row in tokens]
    costs = [part["cost"] for part in parts if isinstance(part.get("cost"), int | float)]
    return Usage(
        tokens_in=plus(*(row.get("input") for row in tokens), *cached),
        tokens_out=plus(*(row.get("output") for row in tokens)),
        tokens_cached=plus(*cached),
        cost=float(sum(costs)) if sum(costs) > 0 else None,
        model_calls=len(parts),
        tool_calls=calls,
    )


def pin(spec: AgentSpec, axes: Mapping[str, Any], probe: Probe) -> dict[str, Any]:
    return cli_pin(KIND, spec, axes, probe)
