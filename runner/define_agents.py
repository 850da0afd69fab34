"""The agents of a bench: each is checked as it is declared; every refusal is a ValueError with a whole sentence."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from . import templates
from .definition import AgentSpec, Cli, Command, Python, Scripted
from .steps import fault_in

_AGENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TARGET = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def checked(name: object, spec: object, module: str) -> AgentSpec:
    if not (isinstance(name, str) and _AGENT.fullmatch(name)):
        raise ValueError(f"{name!r} is no name for an agent; use letters, digits, '.', '_' and '-'.")
    if isinstance(spec, Scripted):
        _check_script(name, spec)
    elif isinstance(spec, Python):
        return Python(_target(name, spec.target, module))
    elif isinstance(spec, Command):
        _check_command(name, spec)
    elif isinstance(spec, Cli):
        _check_cli(name, spec)
    else:
        raise ValueError(f"Agent {name!r} is {spec!r}; declare it with Command, Python, Scripted or Cli.")
    return spec


def check_templates(agents: Mapping[str, AgentSpec], axes: Collection[str]) -> None:
    """Refuse a command with a placeholder that no axis fills."""
    allowed = (templates.COMMAND | set(axes)) - ({"model"} - set(axes))
    for name, spec in agents.items():
        if isinstance(spec, Command):
            templates.check(f"agent {name!r}", spec.template, allowed)
            templates.check(f"agent {name!r} (version)", spec.version, templates.SUITE | set(axes))


def _check_command(name: str, spec: Command) -> None:
    template: object = spec.template
    if isinstance(template, list | tuple) and all(isinstance(word, str) for word in template):
        raise ValueError(
            f"Agent {name!r}: Command() takes one text, not a list; write Command({shlex.join(template)!r})."
        )
    _check_text(name, "Command", template=spec.template, version=spec.version)
    if not spec.template.strip():
        raise ValueError(f"Agent {name!r}: Command() needs a command.")
    _check_variables(name, "Command", spec.env)
    _check_text(name, "Command", credentials=spec.credentials)
    _check_login(name, "Command", spec.credentials)


def _check_cli(name: str, spec: Cli) -> None:
    _check_text(name, "Cli", adapter=spec.adapter, base_url=spec.base_url)
    _check_variables(name, "Cli", spec.env)
    options: object = spec.options
    if not isinstance(options, list | tuple) or not all(isinstance(option, str) for option in options):
        raise ValueError(f"Agent {name!r}: Cli(options={options!r}) is not a list of texts.")
    if not isinstance(spec.credentials, bool):
        _check_text(name, "Cli", credentials=spec.credentials)
        _check_login(name, "Cli", spec.credentials)


def _check_login(name: str, kind: str, path: str) -> None:
    """It is found below HOME, yours and the trial's alike."""
    parts = path.split("/")
    if path and (len(parts) < 2 or parts[0] != "~" or any(part in ("", ".", "..") for part in parts[1:])):
        raise ValueError(
            f"Agent {name!r}: {kind}(credentials={path!r}) is no file of your home; write it as '~/.tool/auth.json'."
        )


def _check_text(name: str, kind: str, **values: object) -> None:
    for what, value in values.items():
        if not isinstance(value, str):
            raise ValueError(f"Agent {name!r}: {kind}({what}={value!r}) is not text.")


def _check_variables(name: str, kind: str, env: object) -> None:
    if not isinstance(env, Mapping) or not all(isinstance(part, str) for pair in env.items() for part in pair):
        raise ValueError(f"Agent {name!r}: {kind}(env={env!r}) is not a dict of variables to texts.")


def _check_script(name: str, spec: Scripted) -> None:
    scripts = [spec.steps, *_branches(name, "seeded", spec.seeded), *_branches(name, "when", spec.when)]
    for script in scripts:
        if not isinstance(script, list | tuple):
            raise ValueError(f"Agent {name!r}: Scripted() takes a list of steps, not {script!r}.")
        if fault := fault_in(script):
            raise ValueError(f"Agent {name!r}: the script {fault}.")
    for text, _ in spec.when:
        _check_text(name, "Scripted", when=text)
    chances = [chance for chance, _ in spec.seeded]
    if not all(isinstance(chance, int | float) and 0 <= chance <= 1 for chance in chances) or sum(chances) > 1 + 1e-9:
        raise ValueError(f"Agent {name!r}: the probabilities {chances} must lie in 0..1 and add up to at most 1.")


def _branches(name: str, what: str, pairs: object) -> list[Sequence[Mapping[str, Any]]]:
    """The steps of each (text or probability, steps)."""
    if not isinstance(pairs, list | tuple) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs
    ):
        first = "probability" if what == "seeded" else "text"
        raise ValueError(f"Agent {name!r}: Scripted({what}={pairs!r}) is not a list of ({first}, steps).")
    return [steps for _, steps in pairs]


def _target(name: str, target: str | Callable[..., Any], module: str) -> str:
    """Name a callable as "module:function": the agent's own process has to find it again."""
    if isinstance(target, str):
        if not _TARGET.fullmatch(target):
            raise ValueError(f"Agent {name!r}: {target!r} is not of the form 'module:function'.")
        return target
    function = getattr(target, "__qualname__", "")
    if not callable(target) or not function.isidentifier():
        raise ValueError(f"Agent {name!r}: {target!r} must be a function at the top level of a module of the bench.")
    home = getattr(target, "__module__", "")
    return f"{'bench' if home == module else home}:{function}"
