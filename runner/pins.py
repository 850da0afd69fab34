"""Pins: what was really applied in each cell, agent version included. No secret value enters a pin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from . import templates
from .definition import Bench, Command
from .errors import AgentChanged, AgentMissing, BenchError
from .image_probe import Probing, asked_inside, on_this_machine
from .load import line_of
from .manifest import Cell
from .matrix import agent_of, real_axes

if TYPE_CHECKING:
    from .agents import Probe, Resolved


@dataclass(frozen=True)
class Pinned:
    cells: tuple[Cell, ...]
    agents: dict[str, str]
    """Agent name -> adapter."""
    endpoints: tuple[str, ...] = ()
    """Where the agents reach their models."""


def pin_cells(
    bench: Bench, cells: Sequence[Cell], isolation: str, *, probe: bool = True, probing: Probing = on_this_machine
) -> Pinned:
    """Probe each agent once and pin every cell; an agent that is not there stops the run before it begins."""
    from .agents import resolve
    from .agents.base import host_of
    from .credentials import login_of

    probes: dict[tuple[str, ...], Probe] = {}
    pinned, kinds, endpoints = [], {}, list[str]()
    for cell in cells:
        axes = real_axes(bench, cell.id)
        agent = resolve(bench.agents, agent_of(bench, axes))
        kinds[agent.name] = agent.kind
        key = _probe_key(agent, axes)
        if key not in probes:
            probes[key] = _probe(bench, agent, axes, probing if probe else None)
        pin = {"agent": agent.name, **agent.module.pin(agent.spec, cell.axes, probes[key]), "axes": cell.axes}
        if login := login_of(agent):
            pin["credentials"] = login.told(bench.name) if probe else {"file": login.shown}
        if endpoint := agent.module.endpoint(agent.spec, axes):
            endpoints.append(endpoint)
            pin.setdefault("endpoint", host_of(endpoint))
        pinned.append(replace(cell, pin=pin, isolation=isolation))
    return Pinned(tuple(pinned), kinds, tuple(dict.fromkeys(endpoints)))


def check_version(agent: Resolved, axes: Mapping[str, Any], cell: Cell) -> None:
    """Raise AgentChanged where an agent has another version than its cell's pin; without a version it has none to
    change. Asking costs next to nothing while its files are the same."""
    if cell.pin.get("version") and not asked_inside(cell):
        probe_again(agent, axes, cell)


def probe_again(agent: Resolved, axes: Mapping[str, Any], cell: Cell) -> Probe | None:
    """Probe an agent of a run that has begun; AgentChanged names both versions where it has another one now.

    None where the agent is gone: its trials find out by themselves, and say so as their own fault.
    """
    pinned = cell.pin.get("version", "")
    try:
        probe = agent.module.probe(agent.spec, axes)
    except AgentMissing:
        return None
    if pinned and probe.version != pinned and not asked_inside(cell):
        raise AgentChanged(agent.name, pinned, probe.version)
    return probe


def _probe_key(agent: Resolved, axes: Mapping[str, Any]) -> tuple[str, ...]:
    """Probing starts a program: once for each agent, and for each command line its template really makes."""
    if not isinstance(agent.spec, Command):
        return (agent.name,)
    names = templates.placeholders(agent.spec.version) + templates.placeholders(agent.spec.template)
    return (agent.name, *(str(axes.get(name)) for name in names))


def _probe(bench: Bench, agent: Resolved, axes: Mapping[str, Any], probing: Probing | None) -> Probe:
    from .agents import Probe
    from .credentials import login_of

    if probing is None:
        return Probe("")
    try:
        if (login := login_of(agent)) and (problem := login.problem()):
            raise AgentMissing(problem)
        return probing(agent, axes)
    except AgentMissing as error:
        line = line_of(bench.file, agent.name)
        where = f"{bench.file}:{line}" if line else str(bench.file)
        raise AgentMissing(f"{where}: The agent {agent.name!r} cannot be run. {error}") from error
    except BenchError as error:
        raise BenchError(f"The agent {agent.name!r}: {error.sentence}", file=error.file or bench.file) from error
