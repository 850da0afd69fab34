"""An agent's command in a container: it is the image's own, so that is where its presence and version are asked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ulid import ULID

from .definition import Command
from .errors import AgentMissing
from .manifest import Cell
from .surroundings import needs_of

if TYPE_CHECKING:
    from .agents import Probe, Resolved
    from .environments.base import Environment, Session
    from .worlds.places import Place

Probing = Callable[["Resolved", Mapping[str, Any]], "Probe"]
SECONDS = 60
WHERE = 'command -v -- "$0"'


def on_this_machine(agent: Resolved, axes: Mapping[str, Any]) -> Probe:
    return agent.module.probe(agent.spec, axes)


def asked_inside(cell: Cell) -> bool:
    """Was a cell's agent asked in its image? That stays the same for a run: it is known by its digest."""
    return cell.isolation == "container" and cell.pin.get("adapter") == "command"


def probing(environment: Environment, plan: Mapping[str, Any]) -> Probing:
    """Say how the agents of a run are probed: where they will run, as far as that may be another system."""

    def probe(agent: Resolved, axes: Mapping[str, Any]) -> Probe:
        if environment.isolation == "container" and isinstance(agent.spec, Command):
            return _in_image(environment, plan, agent, axes)
        return on_this_machine(agent, axes)

    return probe


def _in_image(environment: Environment, plan: Mapping[str, Any], agent: Resolved, axes: Mapping[str, Any]) -> Probe:
    from .agents import Probe
    from .agents.command import commands, programs_of
    from .environments.base import Needs
    from .worlds.places import drop_place, make_place

    assert isinstance(agent.spec, Command)
    start, version = commands(agent.spec, axes)
    places = programs_of(agent.spec, start)
    if start == sys.executable and not version:
        return Probe("", places)  # the image's own interpreter, which starts every container
    needs = needs_of(Needs(programs=places), {**plan, "resources": {}, "network": {"execution": "none"}}, "execution")
    place = make_place(f"prepare-{ULID()}", 1, 1)
    try:
        session = environment.open(place, needs)
        try:
            return Probe(_ask(session, place, agent.spec, start, version), places)
        finally:
            session.close()
    finally:
        drop_place(place)


def _ask(session: Session, place: Place, spec: Command, start: str, version: list[str]) -> str:
    from .agents.base import tail
    from .agents.programs import version_in

    out = place.out / "version"
    done = session.exec(["sh", "-c", WHERE, start], env={}, stdout=out, stderr=out, timeout=SECONDS)
    if done.exit_code != 0:
        raise AgentMissing(f"The program {start!r} of the command {spec.template!r} is not in the container's image.")
    if not version:
        return ""
    done = session.exec(version, env={}, stdout=out, stderr=out, timeout=SECONDS)
    if done.exit_code != 0:
        raise AgentMissing(
            f"`{' '.join(version)}` ended with exit code {done.exit_code} in the container's image: {tail(out)}"
        )
    return version_in(tail(out))
