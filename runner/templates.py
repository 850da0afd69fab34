"""Command templates: split by shlex, filled per argument, never by a shell."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Collection, Mapping
from string import Formatter

SUITE = frozenset({"python"})
COMMAND = frozenset({"prompt_file", "prompt", "model", "workspace", "python"})


def split(template: str) -> list[str]:
    return [*_words(template)]


@functools.lru_cache(maxsize=256)
def _words(template: str) -> tuple[str, ...]:
    """A server splits a template once, every trial forked from it fills it."""
    return tuple(shlex.split(template))


@functools.lru_cache(maxsize=256)
def placeholders(template: str) -> tuple[str, ...]:
    """Name what stands in single braces; raises ValueError where braces do not match."""
    return tuple(name for part in _parts(template) for _, name in part if name is not None)


def fill(template: str, values: Mapping[str, str]) -> list[str]:
    """Give the arguments; a value is one piece of one argument whatever characters it holds."""
    # no format_map: an axis may be named `env.KEY`, which str.format would read as an attribute
    arguments = []
    for part in _parts(template):
        argument = ""
        for text, name in part:
            argument += text if name is None else text + values[name]
        arguments.append(argument)
    return arguments


@functools.lru_cache(maxsize=256)
def _parts(template: str) -> tuple[tuple[tuple[str, str | None], ...], ...]:
    """Each argument as pairs of text and the placeholder behind it."""
    return tuple(tuple((text, name) for text, name, _, _ in Formatter().parse(word)) for word in _words(template))


def check(where: str, template: str, allowed: Collection[str]) -> None:
    """Refuse a template that could not be filled; raises ValueError with a whole sentence."""
    try:
        split(template)
    except ValueError as error:
        raise ValueError(f"The command of {where} cannot be split into arguments ({error}).") from None
    try:
        names = placeholders(template)
    except ValueError as error:
        raise ValueError(
            f"The command of {where} cannot be read ({error}); write a brace that is meant as itself twice: {{{{ }}}}."
        ) from None
    for name in names:
        if name not in allowed:
            known = ", ".join(f"{{{known}}}" for known in sorted(allowed))
            raise ValueError(f"The command of {where} has the placeholder {{{name}}}; known here are {known}.")
