"""OpenAI's responses protocol: `POST /v1/responses`."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from . import chat
from .script import Conversation, Reply, Tool, Trouble
from .wire import ServerEvent, arguments_text, new_id, text_of, turns_of

CONTEXT_MESSAGE = "Your input exceeds the context window of this model. Please adjust your input and try again."
_MODEL_ITEMS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "reasoning"})


def parse(body: Mapping[str, Any]) -> Conversation:
    given = body.get("input")
    items = [row for row in given if isinstance(row, dict)] if isinstance(given, list) else []
    spoken = [text_of(row.get("content")) for row in items if row.get("role") == "user"]
    return Conversation(
        model=str(body.get("model") or ""),
        turns=_earlier(body) + turns_of(_by_model(row) for row in items),
        said=given if isinstance(given, str) else "\n".join(spoken),
        tools=tuple(_tool(row) for row in body.get("tools") or [] if isinstance(row, dict)),
        stream=bool(body.get("stream")),
        seen=tuple(text_of(row.get("output")) for row in items if str(row.get("type")).endswith("_output")),
    )


def _earlier(body: Mapping[str, Any]) -> int:
    """A client may name the last answer in place of sending the conversation again; its id carries the count."""
    found = re.match(r"resp_t(\d+)_", str(body.get("previous_response_id") or ""))
    return int(found[1]) if found else 0


def _by_model(row: Mapping[str, Any]) -> bool:
    return row.get("role") == "assistant" or row.get("type") in _MODEL_ITEMS


def _tool(row: Mapping[str, Any]) -> Tool:
    kind = str(row.get("type") or "function")
    return Tool(str(row.get("name") or kind), row.get("parameters") or {}, kind)


def whole(reply: Reply, conversation: Conversation) -> dict[str, Any]:
    return {**_envelope(reply, conversation), **_ending(reply), "output": _items(reply), "usage": _usage(reply)}


def events(reply: Reply, conversation: Conversation) -> Iterator[ServerEvent]:
    envelope = _envelope(reply, conversation)
    yield _event("response.created", response=envelope)
    items = _items(reply)
    for index, item in enumerate(items):
        yield _event("response.output_item.added", output_index=index, item={**item, "status": "in_progress"})
        if item["type"] == "message":
            text = {"item_id": item["id"], "output_index": index, "content_index": 0, "delta": reply.text}
            yield _event("response.output_text.delta", **text)
        yield _event("response.output_item.done", output_index=index, item=item)
    final = {**envelope, **_ending(reply), "output": items, "usage": _usage(reply)}
    yield _event("response.incomplete" if final["status"] == "incomplete" else "response.completed", response=final)


def trouble(problem: Trouble) -> dict[str, Any]:
    return chat.trouble(problem)


def _event(name: str, **fields: Any) -> ServerEvent:
    return name, {"type": name, **fields}


def _envelope(reply: Reply, conversation: Conversation) -> dict[str, Any]:
    return {
        "id": new_id(f"resp_t{reply.turn + 1}"),
        "object": "response",
        "created_at": int(time.time()),
        "status": "in_progress",
        "model": conversation.model,
        "output": [],
    }


def _ending(reply: Reply) -> dict[str, Any]:
    reasons = {"length": "max_output_tokens", "refusal": "content_filter"}
    if reply.stop not in reasons:
        return {"status": "completed"}
    return {"status": "incomplete", "incomplete_details": {"reason": reasons[reply.stop]}}


def _items(reply: Reply) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reply.thought:
        summary = [{"type": "summary_text", "text": reply.thought}]
        items.append({"type": "reasoning", "id": new_id("rs"), "summary": summary, "encrypted_content": None})
    if reply.text or not reply.call:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        message = {"type": "message", "id": new_id("msg"), "role": "assistant", "status": "completed"}
        items.append({**message, "content": content})
    if reply.call:
        items.append(_call(reply))
    return items


def _call(reply: Reply) -> dict[str, Any]:
    assert reply.call
    call = {"id": new_id("fc"), "call_id": new_id("call"), "status": "completed"}
    if reply.call.tool.type == "local_shell":
        action = {"type": "exec", "command": reply.call.arguments["command"], "env": {}}
        return {**call, "type": "local_shell_call", "action": action}
    if reply.call.tool.type == "custom":
        written = next(iter(reply.call.arguments.values()), "")
        return {**call, "type": "custom_tool_call", "name": reply.call.tool.name, "input": str(written)}
    arguments = arguments_text(reply.call.arguments)
    return {**call, "type": "function_call", "name": reply.call.tool.name, "arguments": arguments}


def _usage(reply: Reply) -> dict[str, Any]:
    return {
        "input_tokens": reply.input,
        "input_tokens_details": {"cached_tokens": reply.cached},
        "output_tokens": reply.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.input + reply.output,
    }
