"""OpenAI's chat completions protocol: `POST /v1/chat/completions`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from .script import Conversation, Reply, Tool, Trouble
from .wire import ServerEvent, arguments_text, new_id, text_of, turns_of

_TYPES = {401: "invalid_request_error", 404: "invalid_request_error", 429: "requests", 400: "invalid_request_error"}
_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
_STOPS = {"end": "stop", "tools": "tool_calls", "length": "length", "refusal": "content_filter"}
CONTEXT_MESSAGE = "This model's maximum context length is 200000 tokens. Your messages resulted in 200001 tokens."


def parse(body: Mapping[str, Any]) -> Conversation:
    messages = [row for row in body.get("messages") or [] if isinstance(row, dict)]
    functions = [row.get("function") or {} for row in body.get("tools") or [] if isinstance(row, dict)]
    return Conversation(
        model=str(body.get("model") or ""),
        turns=turns_of(row.get("role") == "assistant" for row in messages),
        said="\n".join(text_of(row.get("content")) for row in messages if row.get("role") == "user"),
        tools=tuple(Tool(str(row.get("name") or ""), row.get("parameters") or {}) for row in functions),
        stream=bool(body.get("stream")),
        seen=tuple(text_of(row.get("content")) for row in messages if row.get("role") == "tool"),
    )


def whole(reply: Reply, conversation: Conversation) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.call:
        message["tool_calls"] = _calls(reply)
    choice = {"index": 0, "message": message, "finish_reason": _STOPS[reply.stop]}
    return {**_envelope("chat.completion", conversation), "choices": [choice], "usage": _usage(reply)}


def events(reply: Reply, conversation: Conversation) -> Iterator[ServerEvent]:
    envelope = _envelope("chat.completion.chunk", conversation)
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    if reply.text:
        deltas.append({"content": reply.text})
    if reply.call:
        deltas.append({"tool_calls": [{"index": 0, **_calls(reply)[0]}]})
    for delta in deltas:
        yield None, {**envelope, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield None, {**envelope, "choices": [{"index": 0, "delta": {}, "finish_reason": _STOPS[reply.stop]}]}
    yield None, {**envelope, "choices": [], "usage": _usage(reply)}
    yield None, "[DONE]"


def trouble(problem: Trouble) -> dict[str, Any]:
    kind = _TYPES.get(problem.status, "server_error")
    code = problem.code or _CODES.get(problem.status)
    return {"error": {"message": problem.message, "type": kind, "param": None, "code": code}}


def _envelope(kind: str, conversation: Conversation) -> dict[str, Any]:
    return {"id": new_id("chatcmpl"), "object": kind, "created": int(time.time()), "model": conversation.model}


def _calls(reply: Reply) -> list[dict[str, Any]]:
    assert reply.call
    function = {"name": reply.call.tool.name, "arguments": arguments_text(reply.call.arguments)}
    return [{"id": new_id("call"), "type": "function", "function": function}]


def _usage(reply: Reply) -> dict[str, Any]:
    return {
        "prompt_tokens": reply.input,
        "completion_tokens": reply.output,
        "total_tokens": reply.input + reply.output,
        "prompt_tokens_details": {"cached_tokens": reply.cached},
    }
