"""The reply file of the mock model: what it answers, in order, to whom.

    {"talks": [{"model": "small", "when": "parser", "replies": [
        {"say": "I will look.", "run": "sed -i s/a/b/ src/x.py", "usage": {"input": 900, "output": 40, "cached": 800}},
        {"say": "Done."}]}],
     "key": "optional: requests with another key are answered 401"}

`{"replies": [...]}` alone is one talk for everybody. The first talk that fits is taken: `model` must be the request's,
`when` must stand in what the user said. Which reply is due is read from the request itself (how often the model has
spoken in it), so any number of trials may use one server. After the last reply the last one is repeated, as text.

A reply may hold: `say`, `think`, `run` (a command for the client's own shell tool), `tool` ({"name", "arguments"}),
`usage`, `delay` (seconds), `stop` ("length" or "refusal") and `fault`: a status (401, 404, 429, 500 ...), "context" (a
prompt that is too long) or "drop" (the connection breaks); `times` makes the fault go away after so many requests.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runner.errors import RunnerError

KEYS = frozenset({"say", "think", "run", "tool", "usage", "delay", "stop", "fault", "times"})
STOPS = ("length", "refusal")
DROP, CONTEXT = "drop", "context"
SPENT = {"input": 100, "output": 10, "cached": 0}


@dataclass(frozen=True)
class Tool:
    """A tool of the client: its name, JSON schema of its arguments, and its type where the protocol has several."""

    name: str
    schema: Mapping[str, Any] = field(default_factory=dict)
    type: str = "function"


@dataclass(frozen=True)
class Conversation:
    """What every protocol's request comes down to. `turns` counts how often the model has spoken already."""

    model: str
    turns: int
    said: str
    tools: tuple[Tool, ...] = ()
    stream: bool = False


@dataclass(frozen=True)
class Call:
    tool: Tool
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """`stop`: end | tools | length | refusal. `input` counts cached tokens too."""

    text: str = ""
    thought: str = ""
    call: Call | None = None
    stop: str = "end"
    input: int = 0
    output: int = 0
    cached: int = 0
    turn: int = 0


@dataclass(frozen=True)
class Trouble:
    """An answer that is none: an HTTP status with a message, or a broken connection (status 0)."""

    status: int
    message: str
    code: str = ""


@dataclass(frozen=True)
class Talk:
    replies: tuple[Mapping[str, Any], ...]
    model: str = ""
    when: str = ""

    def fits(self, conversation: Conversation) -> bool:
        return self.model in ("", conversation.model) and self.when in conversation.said


class Script:
    """A checked reply file. Its only memory is how often a fault with `times` was given."""

    def __init__(self, talks: tuple[Talk, ...], key: str = "") -> None:
        self.talks, self.key = talks, key
        self._given: Counter[tuple[int, int]] = Counter()
        self._lock = threading.Lock()

    @classmethod
    def of(cls, source: Script | Path | str | Mapping[str, Any]) -> Script:
        """Take a script, its file, or the JSON value itself."""
        if isinstance(source, Script):
            return source
        if isinstance(source, Mapping):
            return cls(_talks(source), str(source.get("key") or ""))
        try:
            data = json.loads(Path(source).read_text(encoding="utf-8"))
        except OSError as error:
            raise RunnerError(f"The reply file {source} cannot be read: {error.strerror}.") from error
        except ValueError as error:
            raise RunnerError(f"The reply file {source} is not JSON: {error}.") from error
        if not isinstance(data, dict):
            raise RunnerError(f"The reply file {source} must hold an object with 'talks' or 'replies'.")
        return cls.of(data)

    @property
    def models(self) -> list[str]:
        return sorted({talk.model for talk in self.talks if talk.model})

    def due(self, conversation: Conversation) -> Mapping[str, Any] | None:
        """Give the reply that is due; None when no talk is meant for this model and prompt."""
        for position, talk in enumerate(self.talks):
            if talk.fits(conversation):
                over = conversation.turns >= len(talk.replies)
                turn = min(conversation.turns, len(talk.replies) - 1)
                reply = self._without_spent_fault(talk.replies[turn], (position, turn))
                return {k: v for k, v in reply.items() if k not in ("run", "tool")} if over else reply
        return None

    def _without_spent_fault(self, reply: Mapping[str, Any], place: tuple[int, int]) -> Mapping[str, Any]:
        if "times" not in reply:
            return reply
        with self._lock:
            self._given[place] += 1
            spent = self._given[place] > reply["times"]
        return {key: value for key, value in reply.items() if key != "fault"} if spent else reply


def _talks(data: Mapping[str, Any]) -> tuple[Talk, ...]:
    rows = data.get("talks", [data] if "replies" in data else None)
    if not isinstance(rows, list) or not rows:
        raise RunnerError("A reply file needs 'talks' (a list) or 'replies' (a list).")
    return tuple(_talk(row, number) for number, row in enumerate(rows, 1))


def _talk(row: Any, number: int) -> Talk:
    replies = row.get("replies") if isinstance(row, dict) else None
    if not isinstance(replies, list) or not replies:
        raise RunnerError(f"Talk {number} of the reply file has no 'replies'.")
    for place, reply in enumerate(replies, 1):
        _check(reply, f"Reply {place} of talk {number}")
    return Talk(tuple(replies), str(row.get("model") or ""), str(row.get("when") or ""))


def _check(reply: Any, where: str) -> None:
    if not isinstance(reply, dict) or not reply:
        raise RunnerError(f"{where} must be an object such as {{'say': 'Done.'}}.")
    unknown = sorted(set(reply) - KEYS)
    if unknown:
        raise RunnerError(f"{where} has the unknown key {unknown[0]!r}; it may hold {', '.join(sorted(KEYS))}.")
    if reply.get("stop", "length") not in STOPS:
        raise RunnerError(f"{where} has stop {reply['stop']!r}; it may be {' or '.join(STOPS)}.")
    fault = reply.get("fault", 500)
    if fault not in (DROP, CONTEXT) and not (isinstance(fault, int) and 400 <= fault <= 599):
        raise RunnerError(f"{where} has the fault {fault!r}; it may be a status from 400 to 599, 'context' or 'drop'.")
