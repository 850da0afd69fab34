"""The agents, in one explicit dict of modules; a process imports those that it meets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, cast

from runner.definition import AgentSpec, Cli, Command, Python, Scripted
from runner.errors import BenchError

from .base import Adapter, Ask, Ended, Invocation, Probe, Reading
from .command import check_template

__all__ = [
    "AGENTS", "BUILT_IN", "Adapter", "Ask", "Ended", "Invocation", "Probe", "Reading", "Resolved", "adapter",
    "check_template", "resolve",
]  # fmt: skip

AGENTS = {
    "command": "command",
    "python": "python",
    "scripted": "scripted",
    "oracle": "oracle",
    "noop": "noop",
    "claude-code": "claude_code",
    "codex": "codex",
    "opencode": "opencode",
    "gemini-cli": "gemini_cli",
    "qwen-code": "qwen_code",
    "aider": "aider",
    "mini-swe-agent": "mini_swe_agent",
    "goose": "goose",
}
BUILT_IN = tuple(name for name in AGENTS if name not in ("command", "python", "scripted"))
"""Names that a matrix may use without an entry in `agents=`."""
_KINDS: tuple[tuple[type, str], ...] = ((Command, "command"), (Python, "python"), (Scripted, "scripted"))


if TYPE_CHECKING:
    from . import (
        aider,
        claude_code,
        codex,
        command,
        gemini_cli,
        goose,
        mini_swe_agent,
        noop,
        opencode,
        oracle,
        python,
        qwen_code,
        scripted,
    )

    _HAVE_THE_SHAPE: tuple[Adapter, ...] = (
        command, python, scripted, oracle, noop, claude_code, codex, opencode, gemini_cli, qwen_code, aider,
        mini_swe_agent, goose,
    )  # fmt: skip


@dataclass(frozen=True)
class Resolved:
    """What a value of the `agent` axis stands for."""

    name: str
    kind: str
    module: Adapter
    spec: AgentSpec


def resolve(bench_agents: Mapping[str, AgentSpec], name: str) -> Resolved:
    """Find the agent behind a name; the bench's own declarations go before the built-in ones."""
    spec = bench_agents.get(name)
    if spec is None and name in BUILT_IN:
        spec = Cli(name)
    if spec is None:
        known = [*bench_agents, *BUILT_IN]
        near = get_close_matches(name, known, 1)
        advice = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}."
        raise BenchError(f"There is no agent {name!r}: {advice}")
    kind = _kind(spec, name)
    return Resolved(name, kind, adapter(kind), spec)


def adapter(kind: str) -> Adapter:
    """Give the module of a kind; all of them would add some 25 ms to the start of every run."""
    return cast(Adapter, import_module(f".{AGENTS[kind]}", __name__))


def _kind(spec: AgentSpec, name: str) -> str:
    if isinstance(spec, Cli):
        if spec.adapter not in BUILT_IN:
            raise BenchError(f"The agent {name!r} names the adapter {spec.adapter!r}; there are {', '.join(BUILT_IN)}.")
        return spec.adapter
    return next(kind for record, kind in _KINDS if isinstance(spec, record))
