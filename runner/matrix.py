"""The matrix: axes and their values, and the cells they make. A cell's id comes from values, never from position."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .definition import AgentSpec, Bench
from .digests import cell_id
from .errors import BenchError
from .manifest import Axis, Cell

BUILT_IN = (
    "oracle", "noop", "claude-code", "codex", "opencode", "gemini-cli", "qwen-code", "aider", "mini-swe-agent", "goose",
)  # fmt: skip
"""Agents that need no entry in `agents=`."""
MAX_CELLS = 10_000
_AXIS = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")


def expand(
    matrix: Mapping[str, Any], agents: Mapping[str, AgentSpec], secrets: Sequence[str] = (), salt: str = ""
) -> tuple[tuple[Axis, ...], tuple[Cell, ...]]:
    """Give axes and cells in declared order. The text of a secret value is a salted hash."""
    check_matrix(matrix, agents, secrets)
    axes = tuple(_axis(name, value, name in secrets, salt) for name, value in matrix.items())
    cells = tuple(Cell(cell_id(texts), texts) for texts in map(dict, itertools.product(*map(_named, axes))))
    return axes, cells


def expand_bench(bench: Bench) -> tuple[tuple[Axis, ...], tuple[Cell, ...]]:
    return expand(bench.matrix, bench.agents, bench.secrets, bench.name)


def real_axes(bench: Bench, cell: str) -> dict[str, Any]:
    """Give a cell's values as declared, secrets included: what a worker needs and no manifest holds.

    A run may have been asked for other agents than the matrix names, so all known ones are looked through last."""
    known = [*bench.agents, *(name for name in BUILT_IN if name not in bench.agents)]
    for matrix in (bench.matrix, {**bench.matrix, "agent": known}):
        for texts, values in _combinations(bench, matrix):
            if cell_id(texts) == cell:
                return values
    raise BenchError(f"The bench has no cell {cell!r} (any more).", file=bench.file)


def agent_of(bench: Bench, axes: Mapping[str, Any]) -> str:
    """Name the agent of a cell: its axis `agent`, else the bench's only one."""
    if "agent" in axes:
        return str(axes["agent"])
    if len(bench.agents) == 1:
        return next(iter(bench.agents))
    raise BenchError(
        "No agent is chosen: name one in matrix={'agent': ...}, or declare exactly one in agents=.", file=bench.file
    )


def text(value: object) -> str:
    """Write an axis value as text: the form that ids, manifests and pages use."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def redacted(axis: str, value: object, salt: str) -> str:
    key = f"{salt}\0{axis}".encode()
    return f"secret~{hmac.new(key, text(value).encode(), hashlib.sha256).hexdigest()[:10]}"


def check_matrix(matrix: Mapping[str, Any], agents: Mapping[str, AgentSpec], secrets: Sequence[str]) -> None:
    """Refuse a matrix that could not be run; raises ValueError with a whole sentence."""
    for name, value in matrix.items():
        if not isinstance(name, str) or not _AXIS.fullmatch(name):
            raise ValueError(f"{name!r} is no name for an axis; write letters, digits, '_', '-' and '.'.")
        _check_values(name, _values(value))
    if unknown := [name for name in secrets if name not in matrix]:
        raise ValueError(f"secrets= names {unknown[0]!r}, which is no axis of the matrix.")
    if "agent" in secrets or "model" in secrets:
        raise ValueError("The axes agent and model cannot be secret: they are what a result is about.")
    _check_agents(matrix, agents)
    if (size := math.prod(len(_values(value)) for value in matrix.values())) > MAX_CELLS:
        raise ValueError(f"The matrix has {size} cells; {MAX_CELLS} are the most a run can hold.")


def with_agents(bench: Bench, agents: Sequence[str]) -> Bench:
    """Run other agents over the same matrix, `oracle` and `noop` among them; none named, the bench as it is."""
    if not agents:
        return bench
    matrix = {**bench.matrix, "agent": list(agents)}
    try:
        check_matrix(matrix, bench.agents, bench.secrets)
    except ValueError as error:
        raise BenchError(f"These agents cannot be run. {error}", file=bench.file) from error
    return replace(bench, matrix=matrix)


def _check_values(axis: str, values: list[Any]) -> None:
    if not values:
        raise ValueError(f"Axis {axis!r} has no value.")
    seen: set[str] = set()
    for value in values:
        if not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
            raise ValueError(f"Axis {axis!r} has the value {value!r}; values are text, numbers or booleans.")
        if (written := text(value)) in seen:
            raise ValueError(f"Axis {axis!r} has the value {written!r} twice.")
        if not written or "\0" in written:
            raise ValueError(f"Axis {axis!r} has a value that is empty or holds a NUL character.")
        seen.add(written)


def _check_agents(matrix: Mapping[str, Any], agents: Mapping[str, AgentSpec]) -> None:
    known = [*agents, *(name for name in BUILT_IN if name not in agents)]
    for value in _values(matrix["agent"]) if "agent" in matrix else ():
        if value not in known:
            raise ValueError(f"Axis 'agent' names {value!r}, which is not declared; known are: {', '.join(known)}.")
    if "agent" not in matrix and len(agents) > 1:
        raise ValueError("Several agents are declared but the matrix has no axis 'agent' to choose one.")


def _values(value: Any) -> list[Any]:
    """A bare value is a held constant."""
    return list(value) if isinstance(value, list | tuple) else [value]


def _axis(name: str, value: Any, secret: bool, salt: str) -> Axis:
    values = tuple(redacted(name, one, salt) if secret else text(one) for one in _values(value))
    return Axis(name, values, constant=not isinstance(value, list | tuple), secret=secret)


def _named(axis: Axis) -> list[tuple[str, str]]:
    return [(axis.name, value) for value in axis.values]


def _combinations(bench: Bench, matrix: Mapping[str, Any]) -> Iterator[tuple[dict[str, str], dict[str, Any]]]:
    names = list(matrix)
    for values in itertools.product(*(_values(matrix[name]) for name in names)):
        real = dict(zip(names, values, strict=True))
        hidden = {name: redacted(name, real[name], bench.name) for name in bench.secrets}
        yield {**{name: text(value) for name, value in real.items()}, **hidden}, real
