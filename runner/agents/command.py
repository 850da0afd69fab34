"""`command`: any program. Its template is split by shlex once and filled per argument, never by a shell."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from runner.definition import AgentSpec, Command
from runner.errors import AgentMissing, BenchError
from runner.replay import Usage
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
BUILT_IN = ("prompt", "prompt_file", "workspace", "python")
_PLACE = re.compile(r"\{\{([A-Za-z_][\w.-]*)\}\}|\{([A-Za-z_][\w.-]*)\}")
endpoint = no_endpoint


def split(template: str) -> list[str]:
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise BenchError(f"The command {template!r} cannot be split into arguments: {error}.") from error
    if not words:
        raise BenchError("A command agent's template is empty; write the program and its arguments.")
    return words


def fill(word: str, values: Mapping[str, str]) -> str:
    """Fill one argument. `{{name}}` stands for a literal `{name}`; other braces (JSON, shell) stay as they are."""
    return _PLACE.sub(lambda found: f"{{{found[1]}}}" if found[1] else values[found[2]], word)


def check_template(spec: Command, axes: Iterable[str]) -> None:
    """Refuse a template with a placeholder that nothing fills; called when a bench is prepared."""
    known = {*BUILT_IN, *axes}
    for word in split(spec.template):
        for literal, name in _PLACE.findall(word):
            if not literal and name not in known:
                raise BenchError(
                    f"The command {spec.template!r} has the unknown placeholder {{{name}}}; it may use "
                    f"{', '.join(f'{{{one}}}' for one in sorted(known))}. For the text itself write {{{{{name}}}}}."
                )


def probe(spec: AgentSpec, axes: Mapping[str, Any]) -> Probe:
    assert isinstance(spec, Command)
    values = {"python": sys.executable, **{name: as_text(value) for name, value in axes.items()}}
    program = fill(split(spec.template)[0], {**dict.fromkeys(BUILT_IN, ""), **values})
    found = shutil.which(program)
    if found is None:
        raise AgentMissing(f"The program {program!r} of the command {spec.template!r} was not found on PATH.")
    version = ask_version([fill(word, values) for word in split(spec.version)]) if spec.version else ""
    return Probe(version, tuple(dict.fromkeys((*places(Path(found)), *_interpreter_if_used(spec)))))


def _interpreter_if_used(spec: Command) -> tuple[Path, ...]:
    return interpreter() if "{python}" in spec.template else ()


def invoke(ask: Ask) -> Invocation:
    assert isinstance(ask.spec, Command)
    check_template(ask.spec, ask.axes)
    values = {name: as_text(value) for name, value in ask.axes.items()}
    values |= {
        "prompt": ask.prompt,
        "prompt_file": ask.inside(ask.prompt_file),
        "workspace": ask.agent_path,
        "python": sys.executable,
    }
    used = {name for word in split(ask.spec.template) for literal, name in _PLACE.findall(word) if not literal}
    stdin = None if used & {"prompt", "prompt_file"} else ask.prompt_file
    return Invocation([fill(word, values) for word in split(ask.spec.template)], variables(ask), stdin)


def read(ask: Ask, stdout: Path, stderr: Path, done: Ended) -> Reading:
    """A plain program's output is its answer; what it spent is unknown."""
    assert isinstance(ask.spec, Command)
    text = reply_of(stdout)
    fault = never_started(split(ask.spec.template)[0], done, stdout)
    steps = [asked(ask), *([Step("assistant", "message", text)] if text else [])]
    return Reading(text, Usage(), steps, fault, how_it_ended(done))


def pin(spec: AgentSpec, axes: Mapping[str, Any], probe: Probe) -> dict[str, Any]:
    assert isinstance(spec, Command)
    declared = {"variables": sorted(spec.env)} if spec.env else {}
    return base_pin(KIND, axes, probe) | {"template": spec.template} | declared
