"""`goose`: `goose run --output-format stream-json`. Prompt by stdin, a named session that a second request resumes.

Axes: `model`; `env.NAME` go into the environment (`env.GOOSE_PROVIDER` names the provider; OpenAI's protocol is taken
at an endpoint of the bench's own).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from runner.definition import AgentSpec
from runner.paths import StrPath
from runner.replay import Usage
from runner.transcript import Step

from .base import Ask, Ended, Invocation, Probe, Reading
from .clis import cli, cli_pin, events, number, root_url, since, thread, thread_of
from .programs import ask_version, find_program
from .telling import MODEL_KEYS, Heard, keyed, mapping, moment, reading, rows, stamp

KIND = "goose"
INSTALL = "curl -fsSL https://github.com/block/goose/releases/download/stable/download_cli.sh | CONFIGURE=false bash"
KEYS = MODEL_KEYS
FIXED = {
    "GOOSE_DISABLE_KEYRING": "1", "GOOSE_MODE": "auto", "GOOSE_DISABLE_SESSION_NAMING": "true",
    "GOOSE_TELEMETRY_OFF": "1",
}  # fmt: skip
SESSION = "benchsite"
_ERROR = re.compile(r"(Ran into this error( trying to compact)?|Network error): ")
"""How most errors are told: as an answer, and the program ends well."""
_OWN = re.compile(r"msg_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""The ids that goose itself gives to messages; a model's have its provider's."""


def probe(spec: AgentSpec, axes: Mapping[str, Any]) -> Probe:
    program = find_program("goose", INSTALL)
    return Probe(ask_version([*program.argv, "--version"], FIXED), program.places)


def invoke(ask: Ask) -> Invocation:
    argv = [
        *find_program("goose", INSTALL).argv,
        *("run", "--output-format", "stream-json", "--name", SESSION),
        *(("--resume",) if ask.session else ()),
        *cli(ask.spec).options,
        *("-i", "-"),
    ]
    chosen = {"GOOSE_MODEL": ask.model} if ask.model else {}
    if cli(ask.spec).base_url:
        chosen |= {"GOOSE_PROVIDER": "openai", "OPENAI_HOST": root_url(cli(ask.spec).base_url)}
    return Invocation(argv, keyed(ask, (*KEYS, "GOOSE_PROVIDER", "GOOSE_MODEL"), FIXED) | chosen, ask.prompt_file)


def endpoint(spec: AgentSpec, axes: Mapping[str, Any]) -> str | None:
    return cli(spec).base_url or None


def read(ask: Ask, stdout: StrPath, stderr: StrPath, done: Ended) -> Reading:
    return reading(ask, ("goose", "goose"), told(events(stdout), thread(ask.session)[1]), done, (stdout, stderr))


def told(lines: Iterable[dict[str, Any]], before: Usage | None = None) -> Heard:
    """It tells a session's total, of which `before` was spent by earlier requests."""
    heard, said = Heard(), dict[tuple[str, str], int]()
    total = before or Usage()
    for line in lines:
        kind = line["type"]
        if kind not in ("message", "notification", "model_change", "error", "complete"):
            continue
        heard.any = True
        if kind == "message":
            message, first = mapping(line.get("message")), len(heard.steps)
            _message(heard, message, said)
            stamp(heard, first, moment(message.get("created")))
        elif kind == "error":
            heard.error = str(line.get("error") or "error")
            heard.steps.append(Step("system", "message", heard.error))
        elif kind == "complete":
            heard.whole, total = True, _total(line)
            heard.usage = since(total, before)
    if heard.any:
        heard.session = thread_of(SESSION, total)
        calls = sum(step.kind == "tool_call" for step in heard.steps)
        heard.usage = Usage(**{**heard.usage.to_json(), "tool_calls": calls})
    return heard


def _message(heard: Heard, message: Mapping[str, Any], said: dict[tuple[str, str], int]) -> None:
    heard.error = ""
    if mapping(message.get("metadata")).get("outputTokenLimitReached"):
        heard.flag = "output_limit"
    for part in rows(message.get("content")):
        kind = str(part.get("type"))
        if kind == "text" and _is_error(message, str(part.get("text"))):
            heard.error = str(part["text"])
            heard.steps.append(Step("system", "message", heard.error))
        elif kind in ("text", "thinking") and message.get("role") == "assistant":
            _say(heard, (str(message.get("id")), kind), str(part.get(kind) or ""), said)
        elif kind == "toolRequest":
            call = mapping(mapping(part.get("toolCall")).get("value"))
            name, arguments = str(call.get("name")), call.get("arguments")
            step = Step("assistant", "tool_call", tool=name, arguments=arguments, call=str(part.get("id")))
            heard.steps.append(step)
        elif kind == "toolResponse":
            heard.steps.append(_observation(part))


def _is_error(message: Mapping[str, Any], text: str) -> bool:
    """A model may say the same words; its messages have an id of its provider, or tell of their inference."""
    own = message.get("id") is None or _OWN.fullmatch(str(message.get("id")))
    inferred = mapping(message.get("metadata")).get("inference")
    return bool(own and not inferred and message.get("role") == "assistant" and _ERROR.match(text))


def _say(heard: Heard, key: tuple[str, str], text: str, said: dict[tuple[str, str], int]) -> None:
    """A streamed answer comes in pieces under one id; they are one step."""
    place = said.get(key) if key[0] != "None" else None
    kind = "message" if key[1] == "text" else "reasoning"
    if place is None:
        said[key] = len(heard.steps)
        heard.steps.append(Step("assistant", kind, text))  # type: ignore[arg-type]
    else:
        heard.steps[place] = replace(heard.steps[place], text=heard.steps[place].text + text)
    if kind == "message":
        heard.text = heard.steps[said[key]].text


def _observation(part: Mapping[str, Any]) -> Step:
    result = mapping(part.get("toolResult"))
    value = result.get("value")
    content = rows(value.get("content") if isinstance(value, dict) else value)
    text = "\n".join(str(row.get("text")) for row in content if row.get("text")) or str(result.get("error") or "")
    code = number(mapping(mapping(value).get("structuredContent")).get("exit_code"))
    return Step("tool", "observation", text, call=str(part.get("id")), exit_code=code)


def _total(line: Mapping[str, Any]) -> Usage:
    """Older releases tell a total alone, which is counted as input; newer ones input, output, cached, and cost."""
    cost = line.get("cost_usd")
    taken = number(line.get("input_tokens"))
    return Usage(
        tokens_in=number(line.get("total_tokens")) if taken is None else taken,
        tokens_out=number(line.get("output_tokens")),
        tokens_cached=number(line.get("cache_read_input_tokens")),
        cost=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) and cost > 0 else None,
    )


def pin(spec: AgentSpec, axes: Mapping[str, Any], probe: Probe) -> dict[str, Any]:
    return cli_pin(KIND, spec, axes, probe)
