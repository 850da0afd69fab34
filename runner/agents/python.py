"""`python`: a function of the bench, called in the trial's environment by a small driver.

`agent(prompt: str, workspace: Path, axes: dict[str, str]) -> str | None`; it may also return a dict with `text`,
`usage` (tokens_in, tokens_out, tokens_cached, cost, model_calls, tool_calls), `steps` (transcript steps) and `models`
(the names of those that answered).
"""

from __future__ import annotations

import inspect
import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.definition import AgentSpec, Python
from runner.errors import BenchError
from runner.paths import StrPath
from runner.replay import Usage
from runner.transcript import KINDS, ROLES, Step, json_lines

from .base import (
    MAX_REPLY,
    Ask,
    Ended,
    Invocation,
    Probe,
    Reading,
    as_text,
    asked,
    base_pin,
    how_it_ended,
    interpreter,
    last_line,
    no_endpoint,
    tail,
    variables,
)  # fmt: skip
from .driver import NOT_FOUND

KIND = "python"
DRIVER = Path(__file__).with_name("driver.py")
PACKAGE = Path(__file__).resolve().parents[1]
HIDDEN = frozenset({"tests", "fixtures", "workspace", ".bench"})
"""Folders of a bench whose code an agent must not see."""
endpoint = no_endpoint


def reference(spec: Python) -> tuple[str, str]:
    """Give (module, function). A function of bench.py itself belongs to module `bench`, whatever it was loaded as."""
    if isinstance(spec.target, str):
        module, _, function = spec.target.partition(":")
        if not module or not function:
            raise BenchError(f"The python agent {spec.target!r} is not named as 'module:function'.")
        return module, function
    name = getattr(spec.target, "__qualname__", "")
    if not inspect.isfunction(spec.target) or "<" in name:
        raise BenchError(
            f"The python agent {spec.target!r} must be a top-level function or be named 'module:function'."
        )
    file = Path(inspect.getsourcefile(spec.target) or "")
    return ("bench" if file.name == "bench.py" else spec.target.__module__), name


def probe(spec: AgentSpec, axes: Mapping[str, Any]) -> Probe:
    assert isinstance(spec, Python)
    reference(spec)
    return Probe(".".join(map(str, sys.version_info[:3])), (*interpreter(), PACKAGE))


def invoke(ask: Ask) -> Invocation:
    assert isinstance(ask.spec, Python)
    module, function = reference(ask.spec)
    request = {
        "module": module,
        "function": function,
        "code": ask.inside(_stage(ask)),
        "library": str(PACKAGE.parent),
        "prompt_file": ask.inside(ask.prompt_file),
        "workspace": ask.agent_path,
        "axes": {name: as_text(value) for name, value in ask.axes.items()},
    }
    file = Path(ask.out, f"request-{ask.number}.json")
    file.write_text(json.dumps(request), encoding="utf-8")
    argv = [sys.executable, "-P", str(DRIVER), ask.inside(file)]
    return Invocation(argv, {"PYTHONDONTWRITEBYTECODE": "1", **variables(ask)})


def _stage(ask: Ask) -> Path:
    """Put the bench's own modules where the agent's environment sees them, scenarios and fixtures left out."""
    target = Path(ask.out, "agent-code")
    if target.is_dir():
        return target
    for source in sorted(ask.bench_root.rglob("*.py")):
        relative = source.relative_to(ask.bench_root)
        if relative.parts[0] not in HIDDEN:
            (target / relative).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target / relative)
    target.mkdir(parents=True, exist_ok=True)
    return target


def read(ask: Ask, stdout: StrPath, stderr: StrPath, done: Ended) -> Reading:
    answer = _answer(stdout)
    fault = None
    if done.exit_code == NOT_FOUND and answer is None:
        fault = ("boot", f"The python agent could not be loaded: {last_line(tail(stderr))}")
    elif done.exit_code == 0 and answer is None:
        fault = ("protocol", "The python agent's process ended well but gave no answer.")
    answer = answer or {}
    text = str(answer.get("text") or "")[:MAX_REPLY]
    usage = answer.get("usage")
    steps = _steps(answer.get("steps")) or ([Step("assistant", "message", text)] if text else [])
    spent = Usage.from_json(usage if isinstance(usage, dict) else None)
    names = answer.get("models")
    models = tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()
    return Reading(text, spent, [asked(ask), *steps], fault, how_it_ended(done), models=models)


def _answer(stdout: StrPath) -> dict[str, Any] | None:
    if not os.path.exists(stdout):  # noqa: PTH110
        return None
    with open(stdout, "rb") as file:  # noqa: PTH123
        return next((row for row in json_lines(file, 16 << 20) if "text" in row), None)


def _steps(rows: Any) -> list[Step]:
    """Take the steps an agent reports about itself; what is not shaped like a step is left aside."""
    known = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [
        Step(row["role"], row["kind"], str(row.get("text", "")), tool=row.get("tool"), arguments=row.get("arguments"))
        for row in known
        if row.get("role") in ROLES and row.get("kind") in KINDS
    ]


def pin(spec: AgentSpec, axes: Mapping[str, Any], probe: Probe) -> dict[str, Any]:
    assert isinstance(spec, Python)
    return base_pin(KIND, axes, probe) | {"function": ":".join(reference(spec))}
