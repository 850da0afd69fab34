"""The steps a `Scripted` agent plays, as plain dicts: they go through JSON into the trial's own process."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

Step = dict[str, Any]

# step -> the fields it must have, with their types; others may be given
FIELDS: dict[str, dict[str, tuple[type, ...]]] = {
    "write": {"path": (str,), "text": (str,)},
    "patch": {"path": (str,), "old": (str,), "new": (str,)},
    "delete": {"path": (str,)},
    "run": {"argv": (list, tuple)},
    "say": {"text": (str,)},
    "sleep": {"seconds": (int, float)},
    "crash": {"exit": (int,)},
    "loop": {},
    "usage": {},
}


def write(path: str, text: str, mode: int | None = None) -> Step:
    """Write a file below the workspace, with its folders; `mode` as in chmod."""
    step: Step = {"do": "write", "path": path, "text": text}
    return step if mode is None else {**step, "mode": mode}


def patch(path: str, old: str, new: str) -> Step:
    """Replace the one place where `old` stands; the agent fails when it is not there."""
    return {"do": "patch", "path": path, "old": old, "new": new}


def delete(path: str) -> Step:
    return {"do": "delete", "path": path}


def run(*argv: str) -> Step:
    """Run a program in the workspace. A single text is split as a shell would, but no shell runs it."""
    return {"do": "run", "argv": shlex.split(argv[0]) if len(argv) == 1 else list(argv)}


def say(text: str) -> Step:
    return {"do": "say", "text": text}


def sleep(seconds: float) -> Step:
    return {"do": "sleep", "seconds": seconds}


def crash(exit: int = 1) -> Step:
    """End at once with an exit code."""
    return {"do": "crash", "exit": exit}


def loop() -> Step:
    """Work until killed, with a child in a session of its own: what a real agent that hangs looks like."""
    return {"do": "loop"}


def usage(
    tokens_in: int | None = None,
    tokens_out: int | None = None,
    cost: float | None = None,
    tokens_cached: int | None = None,
    model_calls: int | None = None,
    tool_calls: int | None = None,
) -> Step:
    """Report what was spent; what is not given stays unknown."""
    spent = {
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
        "cost": cost,
        "tokens_cached": tokens_cached,
        "model_calls": model_calls,
        "tool_calls": tool_calls,
    }
    return {"do": "usage", **{name: value for name, value in spent.items() if value is not None}}


def fault_in(steps: Sequence[Mapping[str, Any]]) -> str | None:
    """Name the first step that cannot be played, in words that finish "the script ..."; None when all can."""
    for number, step in enumerate(steps, 1):
        if not isinstance(step, Mapping) or step.get("do") not in FIELDS:
            return f"has as step {number} {step!r}, which is none of: {', '.join(FIELDS)}"
        for name, types in FIELDS[step["do"]].items():
            if not isinstance(step.get(name), types):
                return f"has a step {number} ({step['do']}) without a proper {name!r}"
    return None
