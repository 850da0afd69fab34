"""From an intent ("run this command") to a call of the tool that this client has for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .script import Call, Tool

_NAMES = (
    "bash",
    "shell",
    "shell_command",
    "exec_command",
    "local_shell",
    "run_shell_command",
    "execute_bash",
    "terminal",
)
_LIKE = re.compile(r"bash|shell|terminal|exec|run_command|command", re.IGNORECASE)
_FIELDS = ("command", "cmd", "script", "code", "input")


def shell_tool(tools: Sequence[Tool]) -> Tool | None:
    """Find the client's shell: by a known name first, then by one that sounds like it and takes a command."""
    named = {tool.name.lower(): tool for tool in reversed(tools)}
    for name in _NAMES:
        if name in named:
            return named[name]
    return next((tool for tool in tools if _LIKE.search(tool.name) and _field(tool)), None)


def shell_call(tools: Sequence[Tool], command: str) -> Call | None:
    tool = shell_tool(tools)
    if tool is None:
        return None
    name = _field(tool) or "command"
    arguments = {key: _filler(schema) for key, schema in _required(tool).items()}
    return Call(tool, {**arguments, name: _command(_properties(tool).get(name, {}), command, tool)})


def _properties(tool: Tool) -> Mapping[str, Any]:
    found = tool.schema.get("properties")
    return found if isinstance(found, dict) else {}


def _field(tool: Tool) -> str | None:
    return next((name for name in _FIELDS if name in _properties(tool)), None)


def _required(tool: Tool) -> dict[str, Any]:
    return {name: _properties(tool).get(name, {}) for name in tool.schema.get("required") or ()}


def _command(schema: Mapping[str, Any], command: str, tool: Tool) -> Any:
    """Some shells take one text, others a list of arguments."""
    listed = schema.get("type") == "array" or tool.type == "local_shell"
    return ["bash", "-lc", command] if listed else command


def _filler(schema: Mapping[str, Any]) -> Any:
    """Something harmless for what else the tool demands."""
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    return {"boolean": False, "integer": 0, "number": 0, "array": [], "object": {}}.get(str(kind), "Run a command")
