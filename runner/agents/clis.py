"""Shared by the adapters of agent command lines: credentials, base URLs, events, and what their errors mean."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from runner.definition import AgentSpec, Cli
from runner.paths import StrPath
from runner.records import Usage
from runner.redaction import looks_secret
from runner.transcript import json_lines, shorten

from .base import Ask, Ended, Probe, base_pin, host_of, last_line, tail, variables

MAX_LINE = 16 << 20
MAX_BYTES = 256 << 20
_ENDS = ("result", "turn.", "error")
NO_KEY = "none"
"""What stands for a key at an endpoint of the bench's own that asks for none."""

# What an error event of the harness itself means; the first that matches counts. Never applied to tool output.
_MEANINGS: tuple[tuple[str, str], ...] = (
    ("context_limit", r"prompt is too long|context window|context.?(length|limit)|ran out of room"),
    ("context_limit", r"input token count.{0,40}exceeds|too many input tokens"),
    ("output_limit", r"output token maximum|max_output_tokens|output limit"),
    ("refusal", r"content_filter|usage policy|policy ?violation|safety"),
    ("provider_auth", r"\b401\b|\b403\b|unauthori[sz]ed|forbidden|authentication|not logged in"),
    ("provider_auth", r"invalid.{0,12}api.?key|api.?key.{0,12}(not valid|invalid)"),
    ("provider_model", r"model_not_found|unknown model|models?\b.{0,80}(does not exist|not found|may not exist)"),
    ("provider", r"\b429\b|\b5\d\d\b|rate.?limit|quota|overloaded|high demand|server.?error|billing|credit balance"),
    ("provider", r"disconnected|connect|network|timed? ?out|timeout|ECONN|ENOTFOUND|socket|error sending|\b4\d\d\b"),
    ("provider", r"fetch failed|stream (decode )?error|decoding response|incomplete (read|json)|premature"),
    ("provider", r"\bAPI ?Error\b|APICallError"),
)  # fmt: skip


def meaning(message: str) -> str | None:
    """Give the fault code or flag that an error message stands for; None where it tells nothing we know."""
    return next((name for name, pattern in _MEANINGS if re.search(pattern, message, re.IGNORECASE)), None)


def cli(spec: AgentSpec) -> Cli:
    assert isinstance(spec, Cli)
    return spec


def environment(ask: Ask, needed: Sequence[str], fixed: Mapping[str, str]) -> dict[str, str]:
    """Only what the adapter needs of the runner's own variables, then its fixed ones, then what the bench declares.
    A login stands in place of the runner's keys, which the program would prefer."""
    wanted = [name for name in needed if not (cli(ask.spec).credentials and looks_secret(name))]
    taken = {name: os.environ[name] for name in wanted if os.environ.get(name)}
    return {**taken, **fixed, **variables(ask)}


def nested(axes: Mapping[str, Any], onto: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Turn `config.a.b` axes into {"a": {"b": value}}, laid over settings that stand already."""
    tree: dict[str, Any] = deepcopy(dict(onto or {}))
    for name, value in sorted(axes.items()):
        if name.startswith("config."):
            *parents, last = name.split(".")[1:]
            branch = tree
            for parent in parents:
                branch = branch.setdefault(parent, {})
            branch[last] = value
    return tree


def root_url(url: str) -> str:
    """A base URL without the /v1 that some clients add themselves."""
    return url.rstrip("/").removesuffix("/v1")


def v1_url(url: str) -> str:
    """A base URL with the /v1 that other clients expect in it; a path of its own is kept."""
    url = url.rstrip("/")
    return url if urlsplit(url).path else f"{url}/v1"


def events(stdout: StrPath) -> Iterator[dict[str, Any]]:
    """Give the events of an output; of one beyond all measure only how it ended is told after the first MAX_BYTES."""
    if not os.path.exists(stdout):  # noqa: PTH110
        return
    with open(stdout, "rb") as file:  # noqa: PTH123
        for row in json_lines(file, MAX_LINE):
            kind = row.get("type")
            if isinstance(kind, str) and (file.tell() <= MAX_BYTES or kind.startswith(_ENDS)):
                yield row


def silent(program: str, stderr: StrPath, done: Ended) -> tuple[str, str] | None:
    """The fault of a command line that ended by itself without one event of its protocol."""
    if done.timed_out:
        return None
    if done.exit_code == 0:
        return "protocol", f"{program} ended well, but its output held not one event of its protocol."
    lines = tail(stderr).splitlines()
    errors = [line for line in lines if line.lower().startswith("error")]
    said = last_line("\n".join(errors or lines)) or f"exit code {done.exit_code}"
    return "boot", f"{program} did not start: {said}"


def sentence(program: str, message: str) -> str:
    return f"{program} reported: {shorten(' '.join(message.split()), 300)}"


def cli_pin(kind: str, spec: AgentSpec, axes: Mapping[str, Any], probe: Probe) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if cli(spec).base_url:
        settings["endpoint"] = host_of(cli(spec).base_url)
    if cli(spec).options:
        settings["options"] = list(cli(spec).options)
    if cli(spec).env:
        settings["variables"] = sorted(cli(spec).env)
    return base_pin(kind, axes, probe) | settings


def number(value: Any) -> int | None:
    """A count in foreign JSON: negative, fractional or textual ones are unknown."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def plus(*values: Any) -> int | None:
    """Add what is known; None when nothing is."""
    known = [found for value in values if (found := number(value)) is not None]
    return sum(known) if known else None


def thread(session: str | None) -> tuple[str, Usage | None]:
    """A session of ours, of a program that tells a session's total, is its own name for it and what it had spent."""
    name, _, spent = (session or "").partition(" ")
    return name, Usage.from_json(json.loads(spent)) if spent else None


def thread_of(name: str, spent: Usage) -> str:
    return f"{name} {json.dumps(spent.to_json())}"


def since(total: Usage, before: Usage | None) -> Usage:
    """What this request spent of its session's total, which would count earlier requests twice."""
    if before is None:
        return total
    return replace(
        total,
        tokens_in=_less(total.tokens_in, before.tokens_in),
        tokens_out=_less(total.tokens_out, before.tokens_out),
        tokens_cached=_less(total.tokens_cached, before.tokens_cached),
        cost=None if total.cost is None else max(0.0, round(total.cost - (before.cost or 0.0), 9)),
    )


def _less(total: int | None, before: int | None) -> int | None:
    return None if total is None else max(0, total - (before or 0))
