"""`command`: any program. Its template is split by shlex once and filled per argument, never by a shell."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from runner import templates
from runner.definition import AgentSpec, Command
from runner.errors import AgentMissing, BenchError
from runner.paths import StrPath
from runner.records import NO_USAGE
from runner.transcript import Step

from .base import (
    Ask,
    Ended,
    Invocation,
    Probe,
    Reading,
    as_text,
    asked,
    base_pin,
    how_it_ended,
    interpreter,
    never_started,
    no_endpoint,
    reply_of,
    variables,
)  # fmt: skip
from .programs import ask_version, places

KIND = "command"
endpoint = no_endpoint


def check_template(spec: Command, axes: Iterable[str]) -> None:
    """Refuse a template that cannot be split, or with a placeholder that nothing fills; called before a run."""
    known = templates.COMMAND - {"model"} | set(axes)
    for template in (spec.template, *((spec.version,) if spec.version else ())):
        try:
            words, names = templates.split(template), templates.placeholders(template)
        except ValueError as error:
            raise BenchError(f"The command {template!r} cannot be split into arguments: {error}.") from error
        if not words:
            raise BenchError("A command agent's template is empty; write the program and its arguments.")
        unknown = [name for name in names if name not in known]
        if unknown:
            may = ", ".join(f"{{{name}}}" for name in sorted(known))
            raise BenchError(
                f"The command {template!r} has the unknown placeholder {{{unknown[0]}}}; it may use {may}. "
                "Write {{ and }} for braces that are meant."
            )


def _values(axes: Mapping[str, Any], **more: str) -> dict[str, str]:
    return {**{name: as_text(value) for name, value in axes.items()}, "python": sys.executable, **more}


def probe(spec: AgentSpec, axes: Mapping[str, Any]) -> Probe:
    assert isinstance(spec, Command)
    program, version = commands(spec, axes)
    if shutil.which(program) is None:
        raise AgentMissing(f"The program {program!r} of the command {spec.template!r} was not found on PATH.")
    return Probe(ask_version(version) if version else "", programs_of(spec, program))


def commands(spec: Command, axes: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Give the program that a template starts, and the command that asks its version ([] for none)."""
    check_template(spec, axes)
    values = _values(axes, prompt="", prompt_file="", workspace="")
    return templates.fill(spec.template, values)[0], templates.fill(spec.version, values) if spec.version else []


def programs_of(spec: Command, program: str) -> tuple[Path, ...]:
    """What of this machine must be shown for a program of its to run; nothing where it has none of the name."""
    found = shutil.which(program)
    return tuple(dict.fromkeys((*(places(Path(found)) if found else ()), *_interpreter_if_used(spec))))


def _interpreter_if_used(spec: Command) -> tuple[Path, ...]:
    return interpreter() if "{python}" in spec.template else ()


def invoke(ask: Ask) -> Invocation:
    assert isinstance(ask.spec, Command)
    prompt_file = ask.inside(ask.prompt_file)
    values = _values(ask.axes, prompt=ask.prompt, prompt_file=prompt_file, workspace=ask.agent_path)
    named = templates.placeholders(ask.spec.template)
    stdin = None if "prompt" in named or "prompt_file" in named else ask.prompt_file
    return Invocation(templates.fill(ask.spec.template, values), variables(ask), stdin)


def read(ask: Ask, stdout: StrPath, stderr: StrPath, done: Ended) -> Reading:
    """A plain program's output is its answer; what it spent is unknown."""
    assert isinstance(ask.spec, Command)
    text = reply_of(stdout)
    fault = never_started(templates.split(ask.spec.template)[0], done, stdout, stderr)
    steps = [asked(ask), *([Step("assistant", "message", text)] if text else [])]
    return Reading(text, NO_USAGE, steps, fault, how_it_ended(done))


def pin(spec: AgentSpec, axes: Mapping[str, Any], probe: Probe) -> dict[str, Any]:
    assert isinstance(spec, Command)
    declared = {"variables": sorted(spec.env)} if spec.env else {}
    return base_pin(KIND, axes, probe) | {"template": spec.template} | declared
