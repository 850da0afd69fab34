"""The reply file of the mock model: what it answers, in order, to whom.

    {"talks": [{"model": "small", "when": "parser", "replies": [
        {"say": "I will look.", "run": "sed -i s/a/b/ src/x.py", "usage": {"input": 900, "output": 40, "cached": 800}},
        {"say": "Done."}]}],
     "key": "optional: requests with another key are answered 401"}

`{"replies": [...]}` alone is one talk for everybody. The first talk that fits is taken: `model` must be the request's,
`when` must stand in what the user said. Which reply is due is read from the request itself (how often the model has
spoken in it), so any number of trials may use one server. After the last reply the last one is repeated, as text.
In place of `replies` a talk may name a `function` of the Python file that the server was given beside the script: it is
called with the Conversation and gives a reply. A script alone never runs code.

A reply may hold: `say`, `think`, `run` (a command for the client's own shell tool), `tool` ({"name", "arguments"}),
`usage`, `stop` ("length" or "refusal"), `delay` (seconds before the answer begins), `first_token` (seconds between its
headers and its first word) and `fault`: a status (401, 404, 429, 500 ...), "context" (a prompt that is too long),
"drop" (no answer, the connection is closed), "broken" (it is closed in the middle of the answer) or "never" (it stays
open and nothing comes). `times` makes a reply's fault go away after so many requests; `fault` and `times` of a talk are
for its first requests, whichever reply is due.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runner.errors import RunnerError

from .functions import Functions, check_name

KEYS = frozenset({"say", "think", "run", "tool", "usage", "delay", "first_token", "stop", "fault", "times"})
STOPS = ("length", "refusal")
DROP, CONTEXT, BROKEN, NEVER = "drop", "context", "broken", "never"
FAULTS = (CONTEXT, DROP, BROKEN, NEVER)
SPENT = {"input": 100, "output": 10, "cached": 0}


@dataclass(frozen=True)
class Tool:
    """A tool of the client: its name, JSON schema of its arguments, and its type where the protocol has several."""

    name: str
    schema: Mapping[str, Any] = field(default_factory=dict)
    type: str = "function"


@dataclass(frozen=True)
class Conversation:
    """What every protocol's request comes down to. `turns` counts how often the model has spoken already; `seen` is
    what the client's tools gave back, one text a call."""

    model: str
    turns: int
    said: str
    tools: tuple[Tool, ...] = ()
    stream: bool = False
    seen: tuple[str, ...] = ()


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
    first_token: float = 0
    broken: bool = False


@dataclass(frozen=True)
class Trouble:
    """An answer that is none: an HTTP status with a message, or status 0 and no answer: the connection is closed, or
    with `code` NEVER held open."""

    status: int
    message: str
    code: str = ""


@dataclass(frozen=True)
class Talk:
    replies: tuple[Mapping[str, Any], ...]
    model: str = ""
    when: str = ""
    function: Callable[[Conversation], Mapping[str, Any]] | None = None
    fault: Mapping[str, Any] = field(default_factory=dict)

    def fits(self, conversation: Conversation) -> bool:
        return self.model in ("", conversation.model) and self.when in conversation.said


class Script:
    """A checked reply file. Its only memory is how often a fault with `times` was given, by talk and turn."""

    def __init__(self, talks: tuple[Talk, ...], key: str = "") -> None:
        self.talks, self.key = talks, key
        self._given: Counter[tuple[int, int]] = Counter()
        self._lock = threading.Lock()

    @classmethod
    def of(cls, source: Script | Path | str | Mapping[str, Any], functions: Functions | None = None) -> Script:
        """Take a script, its file, or the JSON value itself; `functions` are those that its talks may name."""
        if isinstance(source, Script):
            return source
        if isinstance(source, Mapping):
            return cls(_talks(source, functions or {}), str(source.get("key") or ""))
        try:
            data = json.loads(Path(source).read_text(encoding="utf-8"))
        except OSError as error:
            raise RunnerError(f"The reply file {source} cannot be read: {error.strerror}.") from error
        except ValueError as error:
            raise RunnerError(f"The reply file {source} is not JSON: {error}.") from error
        if not isinstance(data, dict):
            raise RunnerError(f"The reply file {source} must hold an object with 'talks' or 'replies'.")
        return cls.of(data, functions)

    @property
    def models(self) -> list[str]:
        return sorted({talk.model for talk in self.talks if talk.model})

    def due(self, conversation: Conversation) -> Mapping[str, Any] | None:
        """Give the reply that is due; None when no talk is meant for this model and prompt."""
        for position, talk in enumerate(self.talks):
            if talk.fits(conversation):
                fault = self._without_spent_fault(talk.fault, (position, -1))
                return fault if "fault" in fault else self._reply(talk, position, conversation)
        return None

    def _reply(self, talk: Talk, position: int, conversation: Conversation) -> Mapping[str, Any]:
        if talk.function is not None:
            return _given(talk.function, conversation, f"The function of talk {position + 1}")
        turn = min(conversation.turns, len(talk.replies) - 1)
        reply = self._without_spent_fault(talk.replies[turn], (position, turn))
        over = conversation.turns >= len(talk.replies)
        return {k: v for k, v in reply.items() if k not in ("run", "tool")} if over else reply

    def _without_spent_fault(self, reply: Mapping[str, Any], place: tuple[int, int]) -> Mapping[str, Any]:
        if "times" not in reply:
            return reply
        with self._lock:
            self._given[place] += 1
            spent = self._given[place] > reply["times"]
        return {key: value for key, value in reply.items() if key != "fault"} if spent else reply


def _given(
    function: Callable[[Conversation], Mapping[str, Any]], conversation: Conversation, who: str
) -> Mapping[str, Any]:
    """Ask a function for its reply. What goes wrong in it is an answer too: a status that clients give up on."""
    try:
        reply = function(conversation)
        check(reply, who)
    except Exception as error:
        return {"fault": 400, "say": f"{who} failed: {type(error).__name__}: {error}"}
    return reply


def _talks(data: Mapping[str, Any], functions: Functions) -> tuple[Talk, ...]:
    rows = data.get("talks", [data] if "replies" in data or "function" in data else None)
    if not isinstance(rows, list) or not rows:
        raise RunnerError("A reply file needs 'talks' (a list) or 'replies' (a list).")
    return tuple(_talk(row, number, functions) for number, row in enumerate(rows, 1))


def _talk(row: Any, number: int, functions: Functions) -> Talk:
    row = row if isinstance(row, Mapping) else {}
    model, when = str(row.get("model") or ""), str(row.get("when") or "")
    fault = {key: row[key] for key in ("fault", "times") if key in row}
    if fault:
        check(fault, f"Talk {number}")
    if "function" in row:
        return Talk((), model, when, check_name(row["function"], functions, f"Talk {number}"), fault)
    replies = row.get("replies")
    if not isinstance(replies, list) or not replies:
        raise RunnerError(f"Talk {number} of the reply file has no 'replies' and no 'function'.")
    for place, reply in enumerate(replies, 1):
        check(reply, f"Reply {place} of talk {number}")
    return Talk(tuple(replies), model, when, None, fault)


def check(reply: Any, where: str) -> None:
    """Refuse what is no reply, with `where` it stands."""
    if not isinstance(reply, dict) or not reply:
        raise RunnerError(f"{where} must be an object such as {{'say': 'Done.'}}.")
    unknown = sorted(set(reply) - KEYS)
    if unknown:
        raise RunnerError(f"{where} has the unknown key {unknown[0]!r}; it may hold {', '.join(sorted(KEYS))}.")
    if reply.get("stop", "length") not in STOPS:
        raise RunnerError(f"{where} has stop {reply['stop']!r}; it may be {' or '.join(STOPS)}.")
    fault = reply.get("fault", 500)
    if fault not in FAULTS and not (isinstance(fault, int) and 400 <= fault <= 599):
        named = ", ".join(map(repr, FAULTS))
        raise RunnerError(f"{where} has the fault {fault!r}; it may be a status from 400 to 599, {named}.")
    for name in ("delay", "first_token", "times"):
        value = reply.get(name, 0)
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise RunnerError(f"{where} has {name} {value!r}; it must be a number from 0.")
