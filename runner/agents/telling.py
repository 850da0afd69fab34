"""Shared by the command lines that tell a request as events or a file: what an error of the harness means, and keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from runner.paths import StrPath
from runner.replay import Usage
from runner.transcript import Step

from .base import Ask, Ended, Reading, asked, how_it_ended, never_started
from .clis import NO_KEY, cli, environment, meaning, sentence, silent

OPENAI_KEYS = ("OPENAI_API_KEY",)
MODEL_KEYS = (
    "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "DEEPSEEK_API_KEY", "GROQ_API_KEY",
    "MISTRAL_API_KEY", "XAI_API_KEY",
)  # fmt: skip
"""Keys of the providers that the clients of many providers take; which one is used follows from the model's name."""


@dataclass
class Heard:
    """What a request told. `error` is the last error of the harness itself that no answer followed; `whole` says that
    the protocol's own end was seen."""

    steps: list[Step] = field(default_factory=list)
    text: str = ""
    error: str = ""
    session: str | None = None
    usage: Usage = field(default_factory=Usage)
    flag: str = ""
    any: bool = False
    whole: bool = False
    models: dict[str, None] = field(default_factory=dict)


def keyed(ask: Ask, needed: Sequence[str], fixed: dict[str, str]) -> dict[str, str]:
    """The environment of a client that speaks as OpenAI does; at an endpoint of the bench's own a key is never
    missing."""
    env = environment(ask, needed, fixed)
    if cli(ask.spec).base_url and not env.get("OPENAI_API_KEY") and not cli(ask.spec).credentials:
        env["OPENAI_API_KEY"] = NO_KEY
    return env


def reading(ask: Ask, name: tuple[str, str], heard: Heard, done: Ended, files: tuple[StrPath, StrPath]) -> Reading:
    """Judge what was heard: a fault of the provider, a flag of the subject, or a protocol that was not kept. `name` is
    the program and what it is called in sentences."""
    program, title = name
    if not heard.any:
        fault = never_started(program, done, *files) or silent(title, files[1], done)
        return Reading("", Usage(), [asked(ask)], fault, how_it_ended(done))
    fault, flag = judged(title, heard.error)
    flag = flag or heard.flag
    if fault is None and not heard.error and not heard.whole and done.exit_code == 0 and not done.timed_out:
        fault = ("protocol", f"{title} ended well, but without the end of its protocol.")
    flags = tuple(dict.fromkeys((*how_it_ended(done), *((flag,) if flag else ()))))
    steps = [asked(ask), *heard.steps]
    return Reading(heard.text, heard.usage, steps, fault, flags, heard.session, models=tuple(heard.models))


def judged(title: str, error: str) -> tuple[tuple[str, str] | None, str | None]:
    """Give the fault or the flag that an error of the harness stands for."""
    meant = meaning(error) if error else None
    if meant is None or not meant.startswith("provider"):
        return None, meant
    return (meant, sentence(title, error)), None


def stamp(heard: Heard, first: int, at: str | None) -> None:
    """Give the time of an event to the steps that it told, those from `first` on."""
    if at:
        heard.steps[first:] = [replace(step, at=step.at or at) for step in heard.steps[first:]]


def moment(seconds: Any) -> str | None:
    """A time in seconds since 1970 as events with a written time have it."""
    if not isinstance(seconds, int | float) or isinstance(seconds, bool):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return None


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
