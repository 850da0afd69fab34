"""Codex's event stream: items that start and complete, and turns that complete with a thread's total usage or fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from runner.replay import Usage
from runner.transcript import Step

from .clis import number

_CALLS = frozenset({"command_execution", "file_change", "mcp_tool_call", "web_search"})
COUNTS = ("input_tokens", "output_tokens", "cached_input_tokens")
_NOISE = "reconnecting"
"""Errors that begin so are followed by another try, and by turn.failed when that is the last."""


@dataclass
class Told:
    """`failure` is the last error that no completed turn followed; `waiting` a lost connection not found again, since
    codex tries an endpoint that is not there for ever."""

    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    usage: dict[str, Any] | None = None
    failure: str | None = None
    waiting: str | None = None
    session: str | None = None
    any: bool = False

    @property
    def text(self) -> str:
        said = [str(item.get("text") or "") for item in self.items.values() if item.get("type") == "agent_message"]
        return said[-1] if said else ""


def told(rows: Iterable[dict[str, Any]]) -> Told:
    heard = Told()
    for row in rows:
        kind = row["type"]
        if kind != "error" and not kind.startswith(("thread.", "turn.", "item.")):
            continue
        heard.any = True
        if kind == "thread.started":
            heard.session = str(row.get("thread_id") or "") or None
        elif kind == "turn.completed":
            heard.failure = None
            heard.usage = row["usage"] if isinstance(row.get("usage"), dict) else {}
        elif kind in ("turn.failed", "error"):
            _fail(heard, row)
        elif kind.startswith("item.") and isinstance(row.get("item"), dict):
            heard.items[str(row["item"].get("id"))] = row["item"]
            heard.waiting = heard.waiting if row["item"].get("type") == "error" else None
    return heard


def _fail(heard: Told, row: dict[str, Any]) -> None:
    error = row.get("error")
    message = str((error.get("message") if isinstance(error, dict) else row.get("message")) or "")
    if message.lower().startswith(_NOISE):
        heard.waiting = message
    elif message:
        heard.failure, heard.waiting = message, None


def usage_of(heard: Told, before: Mapping[str, Any]) -> Usage:
    """This request's share of the thread's total. Codex tells no cost and does not count model calls."""
    if not heard.any:
        return Usage()
    calls = sum(item.get("type") in _CALLS for item in heard.items.values())
    return Usage(
        tokens_in=_since(heard.usage, before, "input_tokens"),
        tokens_out=_since(heard.usage, before, "output_tokens"),
        tokens_cached=_since(heard.usage, before, "cached_input_tokens"),
        tool_calls=calls,
    )


def _since(usage: Mapping[str, Any] | None, before: Mapping[str, Any], name: str) -> int | None:
    total = number((usage or {}).get(name))
    return None if total is None else max(0, total - (number(before.get(name)) or 0))


def steps_of(heard: Told) -> Iterator[Step]:
    for identity, item in heard.items.items():
        kind, text = item.get("type"), str(item.get("text") or "")
        if kind == "agent_message":
            yield Step("assistant", "message", text)
        elif kind == "reasoning":
            yield Step("assistant", "reasoning", text)
        elif kind == "error":
            yield Step("system", "message", str(item.get("message") or ""))
        elif kind in _CALLS:
            yield from _call(identity, item)
    if heard.failure or heard.waiting:
        yield Step("system", "message", heard.failure or heard.waiting or "")


def _call(identity: str, item: Mapping[str, Any]) -> Iterator[Step]:
    kind = str(item["type"])
    if kind == "command_execution":
        yield Step("assistant", "tool_call", tool="shell", arguments={"command": item.get("command")}, call=identity)
        if item.get("status") != "in_progress":
            output = str(item.get("aggregated_output") or "")
            yield Step("tool", "observation", output, call=identity, exit_code=number(item.get("exit_code")))
        return
    told_apart = ("id", "type", "status", "result", "error")
    arguments = {key: value for key, value in item.items() if key not in told_apart}
    yield Step("assistant", "tool_call", tool=str(item.get("tool") or kind), arguments=arguments, call=identity)
    outcome = item.get("error") or item.get("result")
    if outcome:
        yield Step("tool", "observation", str(outcome), call=identity)
