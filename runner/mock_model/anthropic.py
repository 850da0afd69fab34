"""Anthropic's messages protocol: `POST /v1/messages`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .script import Conversation, Reply, Tool, Trouble
from .wire import ServerEvent, arguments_text, new_id, text_of, turns_of

_TYPES = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error",
}  # fmt: skip
_STOPS = {"end": "end_turn", "tools": "tool_use", "length": "max_tokens", "refusal": "refusal"}
CONTEXT_MESSAGE = "prompt is too long: 200001 tokens > 200000 maximum"


def parse(body: Mapping[str, Any]) -> Conversation:
    messages = [row for row in body.get("messages") or [] if isinstance(row, dict)]
    return Conversation(
        model=str(body.get("model") or ""),
        turns=turns_of(row.get("role") == "assistant" for row in messages),
        said="\n".join(text_of(row.get("content")) for row in messages if row.get("role") == "user"),
        tools=tuple(
            Tool(str(row.get("name") or ""), row.get("input_schema") or {}, str(row.get("type") or "function"))
            for row in body.get("tools") or []
        ),
        stream=bool(body.get("stream")),
        seen=tuple(text_of(block.get("content")) for block in _results(messages)),
    )


def _results(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in messages:
        blocks = row.get("content") if isinstance(row.get("content"), list) else []
        yield from (b for b in blocks or [] if isinstance(b, dict) and b.get("type") == "tool_result")


def whole(reply: Reply, conversation: Conversation) -> dict[str, Any]:
    return {
        **_envelope(conversation),
        "content": [block for block, _ in _blocks(reply)],
        "stop_reason": _STOPS[reply.stop],
        "usage": {**_input(reply), "output_tokens": reply.output},
    }


def events(reply: Reply, conversation: Conversation) -> Iterator[ServerEvent]:
    start = {**_envelope(conversation), "usage": {**_input(reply), "output_tokens": 1}}
    yield _event("message_start", message=start)
    for index, (block, delta) in enumerate(_blocks(reply)):
        yield _event("content_block_start", index=index, content_block=_emptied(block))
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    ending = {"stop_reason": _STOPS[reply.stop], "stop_sequence": None}
    yield _event("message_delta", delta=ending, usage={**_input(reply), "output_tokens": reply.output})
    yield _event("message_stop")


def trouble(problem: Trouble) -> dict[str, Any]:
    kind = _TYPES.get(problem.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": problem.message}, "request_id": new_id("req")}


def _event(name: str, **fields: Any) -> ServerEvent:
    return name, {"type": name, **fields}


def _envelope(conversation: Conversation) -> dict[str, Any]:
    return {
        "id": new_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": conversation.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _input(reply: Reply) -> dict[str, int]:
    """Here input tokens leave the cached ones out."""
    return {
        "input_tokens": reply.input - reply.cached,
        "cache_read_input_tokens": reply.cached,
        "cache_creation_input_tokens": 0,
    }


def _blocks(reply: Reply) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each content block with the delta that carries all of it."""
    if reply.thought:
        yield (
            {"type": "thinking", "thinking": reply.thought, "signature": "mock"},
            {"type": "thinking_delta", "thinking": reply.thought},
        )
    if reply.text or not reply.call:
        yield {"type": "text", "text": reply.text}, {"type": "text_delta", "text": reply.text}
    if reply.call:
        call = {"type": "tool_use", "id": new_id("toolu"), "name": reply.call.tool.name, "input": reply.call.arguments}
        yield call, {"type": "input_json_delta", "partial_json": arguments_text(reply.call.arguments)}


def _emptied(block: dict[str, Any]) -> dict[str, Any]:
    blanks: dict[str, Any] = {"text": "", "thinking": "", "input": {}}
    return {key: blanks.get(key, value) for key, value in block.items()}
