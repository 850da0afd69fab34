"""Shared by the agents that play steps (scripted, oracle, noop): start the player, read what it tells."""

from __future__ import annotations

import json
import marshal
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from runner.paths import StrPath
from runner.replay import Usage
from runner.transcript import Step, json_lines

from .base import Ask, Ended, Invocation, Probe, Reading, asked, how_it_ended, interpreter, last_line, tail, variables

PLAYER = Path(__file__).with_name("player.py")
VERSION = "1"
"""Raised when a step of the same words would do something else: it is pinned as the agent's version."""
MAX_LINE = 8 << 20
_ACTS = frozenset({"write", "patch", "delete", "run"})


def player_probe() -> Probe:
    return Probe(VERSION, (*interpreter(), PLAYER))


def play(ask: Ask, steps: Sequence[Mapping[str, Any]]) -> Invocation:
    """Leave the steps outside the world and start the player on them."""
    script = Path(ask.out, f"steps-{ask.number}")
    script.write_bytes(marshal.dumps([_plain(step) for step in steps]))
    # -I and -S: neither the user's site folder nor a module in the world can change what is played.
    argv = [sys.executable, "-I", "-S", str(PLAYER), ask.inside(script)]
    return Invocation(argv, variables(ask))


def _plain(step: Mapping[str, Any]) -> dict[str, Any]:
    """Only what marshal writes: no subclasses, no enums."""
    plain: dict[str, Any] = json.loads(json.dumps(dict(step)))
    return plain


def read_play(ask: Ask, stdout: StrPath, stderr: StrPath, done: Ended) -> Reading:
    events = list(_events(stdout))
    said = [event["text"] for event in events if event["event"] == "say"]
    fault = None
    if not events and done.exit_code and not done.timed_out:  # whatever it does, it tells before it fails
        fault = (
            "boot",
            f"The player of steps did not start: {last_line(tail(stderr)) or f'exit code {done.exit_code}'}",
        )
    steps = [asked(ask), *(step for number, event in enumerate(events, 1) for step in _steps(number, event))]
    return Reading("\n".join(said), _usage(events), steps, fault, how_it_ended(done))


def _events(stdout: StrPath) -> Iterator[dict[str, Any]]:
    if not os.path.exists(stdout):  # noqa: PTH110
        return
    with open(stdout, "rb") as file:  # noqa: PTH123
        yield from (row for row in json_lines(file, MAX_LINE) if isinstance(row.get("event"), str))


def _usage(events: Sequence[Mapping[str, Any]]) -> Usage:
    total = Usage()
    for event in events:
        if event["event"] == "usage":
            total += Usage.from_json({key: value for key, value in event.items() if key != "event"})
    if total.tool_calls is None:
        total = replace(total, tool_calls=sum(event["event"] in _ACTS for event in events))
    return total


def _steps(number: int, event: Mapping[str, Any]) -> Iterator[Step]:
    kind, call = event["event"], f"step-{number}"
    if kind == "say":
        yield Step("assistant", "message", event["text"])
    elif kind in _ACTS:
        arguments = {key: value for key, value in event.items() if key in ("path", "text", "old", "new", "argv")}
        yield Step("assistant", "tool_call", tool=kind, arguments=arguments, call=call)
        if kind == "run":
            yield Step("tool", "observation", event.get("output", ""), call=call, exit_code=event.get("exit_code"))
    elif kind == "refused":
        yield Step("tool", "observation", event.get("sentence", ""), tool=event.get("do"), call=call, exit_code=1)
    elif kind in ("sleep", "loop", "crash"):
        yield Step("assistant", "tool_call", tool=kind, call=call)
