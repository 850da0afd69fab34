"""Small things that the protocols share."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from typing import Any

ServerEvent = tuple[str | None, dict[str, Any] | str]
"""One server-sent event: its name, where the protocol names them, and its data."""


def new_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(12)}"


def arguments_text(arguments: dict[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False)


def text_of(content: Any) -> str:
    """The text in a message's content, which is a text or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        str(part["text"]) for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)
    )


def turns_of(by_model: Iterable[bool]) -> int:
    """Count runs of the model's own items: text and tool call of one answer may be items of their own."""
    turns, before = 0, False
    for is_model in by_model:
        turns += is_model and not before
        before = is_model
    return turns
