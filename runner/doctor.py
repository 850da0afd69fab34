"""`doctor`: can this bench run here? Everything is looked at, nothing is spent, and no value of a variable is told."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from . import judges
from .definition import Bench, Cli
from .errors import RunnerError
from .image_probe import Probing, on_this_machine, probing
from .load import load_bench
from .matrix import agent_of, expand_bench, real_axes
from .surroundings import held, settings

if TYPE_CHECKING:
    from .agents import Resolved
    from .environments.base import Environment

T = TypeVar("T")


@dataclass(frozen=True)
class AgentFound:
    """`variables` says of each variable the agent could take whether it is set; one of them is enough."""

    name: str
    adapter: str
    version: str | None
    variables: Mapping[str, bool] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    login: str = ""
    """The credential file it is lent, where it has one in place of a key."""


@dataclass(frozen=True)
class Checked:
    """The environment or the suite: what it is, and what keeps it from working."""

    name: str
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Diagnosis:
    bench: str
    agents: tuple[AgentFound, ...]
    environment: Checked
    suite: Checked
    judge: Checked = Checked("")

    @property
    def problems(self) -> tuple[str, ...]:
        found = [f"{agent.name}: {problem}" for agent in self.agents for problem in agent.problems]
        return (*found, *self.environment.problems, *self.suite.problems, *self.judge.problems)

    @property
    def ok(self) -> bool:
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        return {"ok": self.ok, **asdict(self), "problems": list(self.problems)}


def diagnose(folder: Path | str | Bench, environment: str | None = None) -> Diagnosis:
    """Look at every agent of the matrix, at the environment and at the suite; raises only for a bench that cannot be
    loaded."""
    from .environments import choose

    bench = load_bench(Path(folder))
    name = environment or bench.environment
    chosen, problems = _tried(lambda: choose(name, bench.isolation, bench.network, bench.image))
    probe = on_this_machine if chosen is None else probing(chosen, settings(bench, None))
    agents = tuple(_agent(bench, *one, probe) for one in _agents(bench))
    checked = Checked(chosen.name if chosen else name, (*problems, *_unheld(bench, chosen)))
    lack = judges.missing(bench.judge, os.environ)
    judge = Checked(bench.judge.model if bench.judge else "", (lack,) if lack else ())
    return Diagnosis(bench.name, agents, checked, _suite(bench, chosen), judge)


def _unheld(bench: Bench, environment: Environment | None) -> tuple[str, ...]:
    """What the bench asks of its environment; where scenarios name images of their own, `prepare` looks at those."""
    if environment is None or (environment.isolation == "container" and not bench.image):
        return ()
    refusal = held(environment, settings(bench, None))[1]
    return (refusal,) if refusal else ()


def _agents(bench: Bench) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each agent once, with the axes of its first cell."""
    seen: set[str] = set()
    for cell in expand_bench(bench)[1]:
        axes = real_axes(bench, cell.id)
        name = agent_of(bench, axes)
        if name not in seen:
            seen.add(name)
            yield name, axes


def _agent(bench: Bench, name: str, axes: Mapping[str, Any], probe: Probing) -> AgentFound:
    from .agents import resolve
    from .credentials import login_of

    agent, problems = _tried(lambda: resolve(bench.agents, name))
    if agent is None:
        return AgentFound(name, "", None, {}, problems)
    probed, problems = _tried(lambda: probe(agent, axes))
    variables = _variables(agent, axes)
    login, flaws = _tried(lambda: login_of(agent))
    if login or flaws:
        flaw = login.problem() if login else ""
        problems = (*problems, *flaws, *((flaw,) if flaw else ()))
        return AgentFound(
            name, agent.kind, probed.version if probed else None, {}, problems, login.shown if login else ""
        )
    if variables and not any(variables.values()) and not _own_endpoint(agent):
        problems = (*problems, f"none of its keys is set; set {' or '.join(variables)}.")
    return AgentFound(name, agent.kind, probed.version if probed else None, variables, problems)


def _variables(agent: Resolved, axes: Mapping[str, Any]) -> dict[str, bool]:
    declared = {**agent.spec.env} if isinstance(agent.spec, Cli) else {}
    declared |= {key.removeprefix("env."): value for key, value in axes.items() if key.startswith("env.")}
    return {key: bool(declared.get(key) or os.environ.get(key)) for key in getattr(agent.module, "KEYS", ())}


def _own_endpoint(agent: Resolved) -> bool:
    """An endpoint of the bench's own may ask for no key at all."""
    return isinstance(agent.spec, Cli) and bool(agent.spec.base_url)


def _suite(bench: Bench, environment: Environment | None) -> Checked:
    from .sealing import seal
    from .suite_probe import try_suite

    if not bench.suite or environment is None:
        return Checked(bench.suite or "")
    warnings, problems = _tried(lambda: try_suite(bench, seal(bench), environment))
    return Checked(bench.suite, (*problems, *(warnings or ())))


def _tried(look: Callable[[], T]) -> tuple[T | None, tuple[str, ...]]:
    try:
        return look(), ()
    except RunnerError as error:
        return None, (str(error),)
