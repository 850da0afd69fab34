"""What every agent module offers: probe, invoke, read, pin. An agent is always a process in the trial's environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from runner.definition import AgentSpec, Cli, Command
from runner.paths import StrPath
from runner.replay import Usage
from runner.transcript import Step, shorten

MAX_REPLY = 1 << 20


class Ended(Protocol):
    """How a process ended, as the environments tell it."""

    @property
    def exit_code(self) -> int | None: ...
    @property
    def signal(self) -> int | None: ...
    @property
    def timed_out(self) -> bool: ...
    @property
    def seconds(self) -> float: ...


@dataclass(frozen=True)
class Probe:
    """`programs` are real paths (files or folders) that an environment must show, read-only, at the same place."""

    version: str
    programs: tuple[Path, ...] = ()


class Ask(NamedTuple):
    """One request. Paths are the host's; `inside` turns one of out, home or tmp into what the agent sees."""

    spec: AgentSpec
    axes: Mapping[str, Any]
    model: str | None
    env: Mapping[str, str]
    prompt: str
    prompt_file: str
    number: int
    session: str | None
    out: str
    home: str
    agent_path: str
    seed: int
    bench_root: Path
    scenario: str
    case: str
    inside: Callable[[StrPath], str]
    budget: float | None = None
    """Dollars that the session may cost; a program that can keep to it is told."""


class Invocation(NamedTuple):
    argv: list[str]
    env: dict[str, str]
    stdin: str | None = None


class Reading(NamedTuple):
    """What a request's output says. `fault` is (code, sentence); `session` goes into the next Ask."""

    text: str
    usage: Usage
    steps: list[Step]
    fault: tuple[str, str] | None = None
    flags: tuple[str, ...] = ()
    session: str | None = None
    models: tuple[str, ...] = ()
    """Names of the models that answered, as the agent's own output tells them; none where it tells none."""


class Adapter(Protocol):
    """The shape of every module that `AGENTS` names."""

    def probe(self, spec: AgentSpec, axes: Mapping[str, Any]) -> Probe: ...
    def invoke(self, ask: Ask) -> Invocation: ...
    def read(self, ask: Ask, stdout: StrPath, stderr: StrPath, done: Ended) -> Reading: ...
    def pin(self, spec: AgentSpec, axes: Mapping[str, Any], probe: Probe) -> dict[str, Any]: ...
    def endpoint(self, spec: AgentSpec, axes: Mapping[str, Any]) -> str | None: ...


def no_endpoint(spec: AgentSpec, axes: Mapping[str, Any]) -> str | None:
    """Agents that talk to no model of their own."""
    return None


def as_text(value: Any) -> str:
    """An axis value as a command line or variable takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def variables(ask: Ask) -> dict[str, str]:
    """What the bench puts into an agent's environment: its own `env`, then `env.NAME` axes, then the request's."""
    declared = dict(ask.spec.env) if isinstance(ask.spec, Command | Cli) else {}
    axes = {name[4:]: as_text(value) for name, value in ask.axes.items() if name.startswith("env.")}
    return {**declared, **axes, **ask.env}


def interpreter() -> tuple[Path, ...]:
    """Where the runner's Python lives: both prefixes, because a virtual environment only links to the other."""
    return tuple({Path(sys.prefix): None, Path(sys.base_prefix): None})


def how_it_ended(done: Ended) -> tuple[str, ...]:
    """Flags for what the subject did at the end; the scenario goes on and observes what is there."""
    if done.timed_out:
        return ("request_timeout",)
    return () if done.exit_code == 0 else ("exit_code",)


def never_started(program: str, done: Ended, stdout: StrPath, stderr: StrPath) -> tuple[str, str] | None:
    """126 and 127 without a word of output are how a shell or an environment says that there was nothing to run."""
    if done.timed_out or done.exit_code not in (126, 127) or (os.path.exists(stdout) and os.stat(stdout).st_size):  # noqa: PTH110, PTH116
        return None
    said = last_line(tail(stderr))
    return "boot", f"{program!r} could not be started (exit code {done.exit_code}){': ' + said if said else '.'}"


def asked(ask: Ask) -> Step:
    return Step("user", "message", ask.prompt)


def tail(path: StrPath, limit: int = 4000) -> str:
    """The end of an output file, for sentences about what went wrong."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            file.seek(max(0, os.fstat(file.fileno()).st_size - limit))
            return file.read().decode("utf-8", "replace").strip()
    except OSError:
        return ""


def reply_of(path: StrPath) -> str:
    """A plain program's answer: its output, beginning and end kept when it is very long."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            size = os.fstat(file.fileno()).st_size
            if size <= MAX_REPLY:
                return file.read().decode("utf-8", "replace")
            head = file.read(MAX_REPLY // 2)
            file.seek(size - MAX_REPLY // 2)
            last = file.read()
    except OSError:
        return ""
    left_out = f"\n… {size - MAX_REPLY:,} bytes left out …\n"
    return head.decode("utf-8", "replace") + left_out + last.decode("utf-8", "replace")


def last_line(text: str, limit: int = 300) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return shorten(lines[-1], limit) if lines else ""


def base_pin(kind: str, axes: Mapping[str, Any], probe: Probe) -> dict[str, Any]:
    """What every pin holds. Values of variables never enter it: any of them may be a secret."""
    names = sorted(name[4:] for name in axes if name.startswith("env."))
    config = {name[7:]: as_text(value) for name, value in sorted(axes.items()) if name.startswith("config.")}
    pin: dict[str, Any] = {"adapter": kind, "version": probe.version}
    if "model" in axes:
        pin["model"] = as_text(axes["model"])
    return pin | ({"env": names} if names else {}) | ({"config": config} if config else {})


def host_of(url: str) -> str:
    """A URL's host: what may be recorded of an endpoint (user, password, path and port stay out)."""
    return urlsplit(url).hostname or ""
