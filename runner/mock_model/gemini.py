"""Google's protocol: `POST /v1beta/models/MODEL:generateContent` and `:streamGenerateContent`.

The model and whether to stream stand in the path; the server puts both into the body as the other protocols have them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .script import Conversation, Reply, Tool, Trouble
from .wire import ServerEvent, new_id, turns_of

PATH = re.compile(r"/v1(?:alpha|beta)?/models/(?P<model>[^/]+):(?P<method>\w+)$")
METHODS = {"generateContent": False, "streamGenerateContent": True}
_STATUS = {
    400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}  # fmt: skip
_STOPS = {"end": "STOP", "tools": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}
CONTEXT_MESSAGE = "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."


def parse(body: Mapping[str, Any]) -> Conversation:
    contents = _rows(body.get("contents"))
    declared = [row for tool in _rows(body.get("tools")) for row in _rows(tool.get("functionDeclarations"))]
    said = [_text(part) for row in contents if row.get("role", "user") == "user" for part in _rows(row.get("parts"))]
    return Conversation(
        model=str(body.get("model") or ""),
        turns=turns_of(row.get("role") == "model" for row in contents),
        said="\n".join(text for text in said if text),
        tools=tuple(Tool(str(row.get("name") or ""), _schema(row)) for row in declared),
        stream=bool(body.get("stream")),
        seen=tuple(_results(contents)),
    )


def _rows(value: Any) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _text(part: Mapping[str, Any]) -> str:
    return str(part.get("text") or "")


def _schema(declared: Mapping[str, Any]) -> Mapping[str, Any]:
    """A client may give a JSON schema, or Google's own, whose types are written large."""
    schema = declared.get("parametersJsonSchema") or declared.get("parameters")
    return _lowered(schema) if isinstance(schema, dict) else {}


def _lowered(schema: Mapping[str, Any]) -> dict[str, Any]:
    lowered = {
        key: value.lower() if key == "type" and isinstance(value, str) else value for key, value in schema.items()
    }
    properties = lowered.get("properties")
    if isinstance(properties, dict):
        lowered["properties"] = {name: _lowered(row) for name, row in properties.items() if isinstance(row, dict)}
    return lowered


def _results(contents: list[dict[str, Any]]) -> Iterator[str]:
    for part in (part for row in contents for part in _rows(row.get("parts"))):
        given = part.get("functionResponse")
        response = given.get("response") if isinstance(given, dict) else None
        if isinstance(response, dict):
            yield str(response.get("output") or response.get("error") or response)


def whole(reply: Reply, conversation: Conversation) -> dict[str, Any]:
    return _answer(_parts(reply), reply, conversation, last=True)


def events(reply: Reply, conversation: Conversation) -> Iterator[ServerEvent]:
    """Each part comes in a piece of its own; the last tells why it ended. Words alone come in two, so that an answer
    can break off within them."""
    parts = _parts(reply)
    if len(parts) == 1 and not reply.call:
        half = (len(reply.text) + 1) // 2
        parts = [{"text": reply.text[:half]}, {"text": reply.text[half:]}]
    for place, part in enumerate(parts, 1):
        yield None, _answer([part], reply, conversation, last=place == len(parts))


def trouble(problem: Trouble) -> dict[str, Any]:
    status = _STATUS.get(problem.status, "UNKNOWN")
    return {"error": {"code": problem.status, "message": problem.message, "status": status}}


def _answer(parts: list[dict[str, Any]], reply: Reply, conversation: Conversation, *, last: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if last:
        candidate["finishReason"] = _STOPS[reply.stop]
    identity = {"modelVersion": conversation.model, "responseId": new_id("resp")}
    return {"candidates": [candidate], "usageMetadata": _usage(reply), **identity}


def _parts(reply: Reply) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"text": reply.thought, "thought": True}] if reply.thought else []
    if reply.text or not reply.call:
        parts.append({"text": reply.text})
    if reply.call:
        parts.append({"functionCall": {"name": reply.call.tool.name, "args": reply.call.arguments}})
    return parts


def _usage(reply: Reply) -> dict[str, int]:
    return {
        "promptTokenCount": reply.input,
        "candidatesTokenCount": reply.output,
        "totalTokenCount": reply.input + reply.output,
        "cachedContentTokenCount": reply.cached,
    }
