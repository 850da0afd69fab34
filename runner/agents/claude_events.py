"""Claude Code's event stream: one model message is told in several events, and its usage with each of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from runner.replay import Usage
from runner.transcript import Step

from .clis import number, plus, since

SYNTHETIC = "<synthetic>"
"""The model name under which the harness itself speaks, for instance to report an error."""
_INPUT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_MODEL_INPUT = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")


@dataclass
class Told:
    """What a stream told: its messages in order, usage by message id (the last value counts), the result line."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    usage: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    result: dict[str, Any] | None = None
    session: str | None = None
    error: str = ""
    any: bool = False

    @property
    def models(self) -> tuple[str, ...]:
        """Who answered; the result line counts sub-agents and side calls too."""
        said = [event["message"].get("model") for event in self.messages if event["type"] == "assistant"]
        known = dict.fromkeys(str(name) for name in (*said, *_mapping((self.result or {}).get("modelUsage"))) if name)
        return tuple(name for name in known if name != SYNTHETIC)

    @property
    def text(self) -> str:
        if self.result and isinstance(self.result.get("result"), str):
            return str(self.result["result"])
        texts = [
            str(block.get("text") or "")
            for event in self.messages
            if event["type"] == "assistant"
            for block in _blocks(event)
            if block.get("type") == "text"
        ]
        return texts[-1] if texts else ""


def told(rows: Iterable[dict[str, Any]]) -> Told:
    heard, seen = Told(), set[str]()
    for row in rows:
        if row["type"] not in ("system", "assistant", "user", "result"):
            continue
        if row.get("uuid") and row["uuid"] in seen:
            continue
        seen.add(str(row.get("uuid")))
        heard.any = True
        heard.session = row.get("session_id") or heard.session
        _take(heard, row)
    return heard


def _take(heard: Told, row: dict[str, Any]) -> None:
    message = row.get("message")
    if row["type"] == "result":
        heard.result = row
    elif row["type"] in ("assistant", "user") and isinstance(message, dict):
        heard.messages.append(row)
        heard.error = str(row.get("error") or heard.error)
        spent = message.get("usage")
        if row["type"] == "assistant" and isinstance(spent, dict) and message.get("model") != SYNTHETIC:
            heard.usage[str(message.get("id"))] = spent


def usage_of(heard: Told, estimated: bool = False, before: Usage | None = None) -> Usage:
    """The result line's totals; without it (a killed run) the input of the messages, and output and cost unknown: an
    event tells the output of its message's start, a token or so.

    Newer versions of Claude Code count a resumed session from its start: what it had spent `before` is taken off."""
    total = total_of(heard, estimated)
    if heard.result is None:
        return replace(total, tokens_out=None)
    own_in, own_out, _ = _by_message([_mapping(heard.result.get("usage"))], heard)
    if before is None or not _holds(total, before, own_in, own_out):
        return total
    return since(total, before)


def _holds(total: Usage, before: Usage, own_in: int | None, own_out: int | None) -> bool:
    """Do the totals hold an earlier request's too? Older versions tell a resumed request's alone."""
    if None in (total.tokens_in, total.tokens_out, before.tokens_in, before.tokens_out, own_in, own_out):
        return False
    spent_in = (total.tokens_in or 0) - (before.tokens_in or 0)
    spent_out = (total.tokens_out or 0) - (before.tokens_out or 0)
    return spent_in >= (own_in or 0) and spent_out >= (own_out or 0) and (total.cost or 0.0) >= (before.cost or 0.0)


def total_of(heard: Told, estimated: bool = False) -> Usage:
    """What the stream itself says was spent, as it counts."""
    result = heard.result or {}
    cost = result.get("total_cost_usd")
    calls = sum(block.get("type") == "tool_use" for event in heard.messages for block in _blocks(event))
    if not heard.any:
        return Usage()
    tokens_in, tokens_out, cached = _by_model(result) or _by_message([_mapping(result.get("usage"))], heard)
    known = isinstance(cost, int | float) and not isinstance(cost, bool)
    return Usage(
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        tokens_cached=cached,
        cost=float(cost) if known and cost is not None else None,
        model_calls=len(heard.usage),
        tool_calls=calls,
        estimated=bool(known and estimated),
    )


def _by_model(result: Mapping[str, Any]) -> tuple[int | None, int | None, int | None] | None:
    """`modelUsage` counts sub-agents and side calls too."""
    rows = [row for row in _mapping(result.get("modelUsage")).values() if isinstance(row, dict)]
    if not rows:
        return None
    return (
        plus(*(row.get(name) for row in rows for name in _MODEL_INPUT)),
        plus(*(row.get("outputTokens") for row in rows)),
        plus(*(row.get("cacheReadInputTokens") for row in rows)),
    )


def _by_message(totals: list[Mapping[str, Any]], heard: Told) -> tuple[int | None, int | None, int | None]:
    rows = totals if totals[0] else list(heard.usage.values())
    return (
        plus(*(row.get(name) for row in rows for name in _INPUT)),
        plus(*(row.get("output_tokens") for row in rows)),
        plus(*(row.get("cache_read_input_tokens") for row in rows)),
    )


def steps_of(heard: Told) -> Iterator[Step]:
    counted: set[str] = set()
    tools: dict[str, str] = {}
    for event in heard.messages:
        for block in _blocks(event):
            step = _assistant(event, block, counted) if event["type"] == "assistant" else _tool(event, block, tools)
            if step is not None:
                if step.kind == "tool_call" and step.call:
                    tools[step.call] = step.tool or ""
                yield step


def _assistant(event: dict[str, Any], block: Mapping[str, Any], counted: set[str]) -> Step | None:
    identity, kind = str(event["message"].get("id")), block.get("type")
    if event["message"].get("model") == SYNTHETIC:
        return Step("system", "message", str(block.get("text") or ""))
    usage = None if identity in counted else event["message"].get("usage")
    counted.add(identity)
    spent = _spent(usage) if isinstance(usage, dict) else None
    if kind == "tool_use":
        name, call = str(block.get("name")), str(block.get("id"))
        return Step("assistant", "tool_call", tool=name, arguments=block.get("input"), call=call, usage=spent)
    if kind == "thinking":
        return Step("assistant", "reasoning", str(block.get("thinking") or ""), usage=spent)
    return Step("assistant", "message", str(block.get("text") or ""), usage=spent) if kind == "text" else None


def _spent(usage: Mapping[str, Any]) -> dict[str, int]:
    """One call's usage in our words. Output is left out: these events carry the count at the message's start."""
    spent = {"tokens_in": plus(*(usage.get(name) for name in _INPUT))}
    spent["tokens_cached"] = number(usage.get("cache_read_input_tokens"))
    return {name: value for name, value in spent.items() if value is not None}


def _tool(event: dict[str, Any], block: Mapping[str, Any], tools: Mapping[str, str]) -> Step | None:
    if block.get("type") != "tool_result":
        return None
    text, call = _text(block.get("content")), str(block.get("tool_use_id"))
    code = None
    if tools.get(call) == "Bash":
        found = re.match(r"(?:Error: )?Exit code (\d+)", text)
        code = int(found[1]) if found else (1 if block.get("is_error") else 0)
    at = event.get("timestamp")
    return Step("tool", "observation", text, at=at if isinstance(at, str) else None, call=call, exit_code=code)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return "\n".join(str(part["text"]) if "text" in part else f"[{part.get('type')}]" for part in parts)


def _blocks(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = event["message"].get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
