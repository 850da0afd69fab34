from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from .terminal import clean, console, print_json, text

if TYPE_CHECKING:
    from runner.doctor import AgentFound, Diagnosis


def command(options: Namespace) -> int:
    """0 when the bench can run here, 1 when it cannot: a bench that cannot even be loaded is one of those."""
    from runner.doctor import diagnose
    from runner.errors import RunnerError

    try:
        found = diagnose(options.bench, options.environment)
    except RunnerError as error:
        if options.json:
            print_json({"ok": False, "problems": [str(error)]})
        else:
            console(error=True).print(text(clean(str(error), lines=True)), soft_wrap=True)
        return 1
    print_json(found.to_json()) if options.json else _show(found)
    return 0 if found.ok else 1


def _show(found: Diagnosis) -> None:
    out = console()
    for agent in found.agents:
        out.print(text(_line(agent)), soft_wrap=True)
    out.print(text(f"environment  {found.environment.name}"), soft_wrap=True)
    if found.suite.name:
        out.print(text(f"suite        {found.suite.name}"), soft_wrap=True)
    if found.judge.name:
        out.print(text(f"judge        {found.judge.name}"), soft_wrap=True)
    for problem in found.problems:
        out.print(text(f"missing      {problem}", "yellow"), soft_wrap=True)
    out.print(
        text(f"{found.bench} can run here." if found.ok else f"{found.bench} cannot run here yet."), soft_wrap=True
    )


def _line(agent: AgentFound) -> str:
    """Only keys that are set are told by name: a client of many providers could take eight."""
    state = "not found" if agent.version is None else f"found {agent.version}".strip()
    kind = f" ({agent.adapter})" if agent.adapter not in ("", agent.name) else ""
    given = [name for name, there in agent.variables.items() if there]
    keys = f"  {' and '.join(given)} set" if given else "  no key set" if agent.variables else ""
    login = f"  login {agent.login}, one trial at a time" if agent.login else ""
    return f"agent        {agent.name}{kind}  {state}{keys}{login}"
