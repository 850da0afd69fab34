"""`mini-swe-agent`: `mini -y --exit-immediately`. What it did is read from its trajectory file; it resumes nothing.

Axes: `model` as litellm names it (a name without a provider is OpenAI's at an endpoint of the bench's own);
`config.a.b` become `-c a.b=value`; `env.NAME` go into the environment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.definition import AgentSpec
from runner.paths import StrPath
from runner.replay import Usage
from runner.transcript import Step

from .aider import litellm_model
from .base import Ask, Ended, Invocation, Probe, Reading, as_text
from .clis import MAX_LINE, cli, cli_pin, number, plus, v1_url
from .programs import ask_version, find_program
from .telling import MODEL_KEYS, Heard, keyed, mapping, moment, reading, rows, stamp

KIND = "mini-swe-agent"
INSTALL = "pip install mini-swe-agent"
KEYS = MODEL_KEYS
FIXED = {
    "MSWEA_CONFIGURED": "true",
    "MSWEA_COST_TRACKING": "ignore_errors",
    "MSWEA_SILENT_STARTUP": "1",
    "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "2",  # its own ten tries would make a wrong key hang for minutes
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # no price list is fetched from the network
}

_STATUS = re.compile(r"Error code: (\d{3})\b")


def probe(spec: AgentSpec, axes: Mapping[str, Any]) -> Probe:
    """Its own `--version` starts the whole agent; the package's metadata tells the same at once."""
    program = find_program("mini", INSTALL)
    ask = "from importlib.metadata import version; print(version('mini-swe-agent'))"
    python = Path(program.argv[-1]).parent / "python"
    command = [str(python), "-c", ask] if python.exists() else [*program.argv, "--version"]
    return Probe(ask_version(command, FIXED), program.places)


def invoke(ask: Ask) -> Invocation:
    argv = [
        *find_program("mini", INSTALL).argv,
        *("-y", "-l", "0", "--exit-immediately", "-o", ask.inside(_file(ask))),
        *(("-m", litellm_model(ask)) if ask.model else ()),
        *(word for word in _config(ask)),
        *cli(ask.spec).options,
        *("-t", ask.prompt),
    ]
    url = v1_url(cli(ask.spec).base_url) if cli(ask.spec).base_url else ""
    base = {"OPENAI_BASE_URL": url, "OPENAI_API_BASE": url} if url else {}
    return Invocation(argv, keyed(ask, KEYS, FIXED) | base)


def _config(ask: Ask) -> list[str]:
    """Its own default config is dropped as soon as another is named, so that it is named too."""
    pairs = [(name, value) for name, value in sorted(ask.axes.items()) if name.startswith("config.")]
    words = [f"{name.removeprefix('config.')}={as_text(value)}" for name, value in pairs]
    return [word for one in (["mini", *words] if words else []) for word in ("-c", one)]


def _file(ask: Ask) -> Path:
    return Path(ask.home, f"mini-{ask.number}.traj.json")


def endpoint(spec: AgentSpec, axes: Mapping[str, Any]) -> str | None:
    return cli(spec).base_url or None


def read(ask: Ask, stdout: StrPath, stderr: StrPath, done: Ended) -> Reading:
    return reading(ask, ("mini", "mini-swe-agent"), told(_file(ask)), done, (stdout, stderr))


def told(file: Path) -> Heard:
    """The file is written after each step, so that a killed run has one too; what cannot be read is not there."""
    try:
        data = mapping(json.loads(file.read_bytes())) if file.stat().st_size <= MAX_LINE else {}
    except (OSError, ValueError, RecursionError):
        data = {}
    info, messages = mapping(data.get("info")), rows(data.get("messages"))
    heard = Heard(any=bool(messages), usage=Usage())
    for message in messages:
        first = len(heard.steps)
        _take(heard, message)
        stamp(heard, first, moment(mapping(message.get("extra")).get("timestamp")))
    status = str(info.get("exit_status") or "")
    heard.whole = bool(status)
    if status.endswith("Error"):
        heard.error = " ".join([status, *(said for m in messages[-1:] if m.get("role") == "exit" for said in _why(m))])
        heard.steps.append(Step("system", "message", heard.error))
    elif status == "LimitsExceeded":
        heard.flag = "step_limit"
    heard.usage = _usage(info, messages) if messages else Usage()
    return heard


def _why(message: Mapping[str, Any]) -> tuple[str, ...]:
    """The error's words, and the answer's status: litellm's words leave some out, and only its traceback has them."""
    code = _STATUS.search(str(mapping(message.get("extra")).get("traceback")))
    return (str(message.get("content")), *((f"({code[1]})",) if code else ()))


def _take(heard: Heard, message: Mapping[str, Any]) -> None:
    role, content = message.get("role"), str(message.get("content") or "")
    extra = mapping(message.get("extra"))
    if role == "assistant":
        if name := mapping(extra.get("response")).get("model"):
            heard.models[str(name)] = None
        if content:
            heard.text = content
            heard.steps.append(Step("assistant", "message", content))
        for action in rows(extra.get("actions")):
            call = str(action.get("tool_call_id") or "") or None
            arguments = {"command": action.get("command")}
            heard.steps.append(Step("assistant", "tool_call", tool="bash", arguments=arguments, call=call))
    elif role == "tool" or "returncode" in extra:
        output = str(extra.get("raw_output") if "raw_output" in extra else content)
        call = str(message.get("tool_call_id") or "") or None
        heard.steps.append(Step("tool", "observation", output, call=call, exit_code=number(extra.get("returncode"))))


def _usage(info: Mapping[str, Any], messages: list[dict[str, Any]]) -> Usage:
    """The cost of a model that it has no price for is told as 0: with tokens spent that is unknown."""
    stats = mapping(info.get("model_stats"))
    spent = [mapping(mapping(mapping(m.get("extra")).get("response")).get("usage")) for m in messages]
    cached = [mapping(row.get("prompt_tokens_details")).get("cached_tokens") for row in spent]
    cost = stats.get("instance_cost")
    return Usage(
        tokens_in=plus(*(row.get("prompt_tokens") for row in spent)),
        tokens_out=plus(*(row.get("completion_tokens") for row in spent)),
        tokens_cached=plus(*cached),
        cost=float(cost) if isinstance(cost, int | float) and cost > 0 else None,
        model_calls=number(stats.get("api_calls")),
        tool_calls=sum(len(rows(mapping(m.get("extra")).get("actions"))) for m in messages),
    )


def pin(spec: AgentSpec, axes: Mapping[str, Any], probe: Probe) -> dict[str, Any]:
    return cli_pin(KIND, spec, axes, probe)
