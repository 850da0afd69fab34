"""Resolved plans: how each scenario is evaluated, run request before scenario mark before bench default."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from .definition import MODES, Artifact, Bench, Collect, parse_size
from .errors import BenchError
from .surroundings import held, settings

if TYPE_CHECKING:
    from .environments.base import Environment
    from .scenario.collecting import CollectedCase

FIXTURES = "/fixtures"
"""Where an environment shows the fixtures to a verifier, and to nobody else."""
_FIXTURES = re.compile(r"(?<![\w./-])/fixtures(?![\w.-])")
Plan = dict[str, Any]


class Chosen(Protocol):
    """What a plan has to know of the environment."""

    @property
    def name(self) -> str: ...
    @property
    def isolation(self) -> str: ...
    @property
    def carries(self) -> tuple[str, ...]: ...
    def version(self) -> str: ...


@dataclass(frozen=True)
class EvaluationRequest:
    """What the run asks for. A list that is given replaces the scenario's, None leaves it."""

    mode: str | None = None
    artifacts: tuple[str | Artifact, ...] | None = None
    collect: tuple[Collect, ...] | None = None

    @classmethod
    def of(cls, value: str | EvaluationRequest | None) -> EvaluationRequest:
        request = value if isinstance(value, EvaluationRequest) else cls(value)
        if request.mode is not None and request.mode not in MODES:
            raise BenchError(f"evaluation={request.mode!r} is not one of: {', '.join(MODES)}.")
        return request

    def lists(self) -> dict[str, Any]:
        """Write the lists that were given, as a manifest has them."""
        artifacts, collect = self.artifacts, self.collect
        row = {} if artifacts is None else {"artifacts": [artifact_row(one) for one in artifacts]}
        return row | ({} if collect is None else {"collect": [_row(one) for one in collect]})

    @classmethod
    def again(cls, mode: str | None, lists: Mapping[str, Any]) -> EvaluationRequest:
        """Ask for what a manifest says was asked for."""
        artifacts, collect = lists.get("artifacts"), lists.get("collect")
        return cls(
            mode,
            None if artifacts is None else tuple(Artifact(**row) for row in artifacts),
            None if collect is None else tuple(Collect(**row) for row in collect),
        )


def resolve(bench: Bench, case: CollectedCase, environment: Environment, request: EvaluationRequest) -> Plan:
    """Give the plan of one scenario, or refuse what the scenario, the bench or the environment cannot hold."""
    mark = case.evaluation or {}
    mode, source = _mode(bench, mark, request)
    plan: Plan = {
        "mode": mode,
        "source": source,
        "artifacts": [artifact_row(one) for one in _first(request.artifacts, mark.get("artifacts"), ())],
        "collect": [_row(command) for command in _first(request.collect, mark.get("collect"), ())],
        "fixtures": _fixtures(mode, mark.get("fixtures")),
        "save_artifacts": bench.save_artifacts,
        **settings(bench, case.environment),
        "timeouts": asdict(bench.timeouts),
        "limits": _limits(bench),
        "environment": environment.name,
        "environment_version": environment.version(),
        "isolation": environment.isolation,
    }
    plan["held"], refusal = held(environment, plan)
    _check(plan, bench, case, environment, refusal)
    return plan


def _fixtures(mode: str, asked: bool | None) -> str:
    """A fresh place has them unless the scenario leaves them out, the agent's own only where that is declared."""
    if mode == "fresh":
        return "hidden" if asked is False else "mounted"
    return "declared" if asked else "hidden"


def artifact_row(value: str | Artifact | Mapping[str, Any]) -> dict[str, Any]:
    """Write a declared path as plans and journals have it."""
    if isinstance(value, Mapping):
        return {"path": value["path"], "exclude": list(value.get("exclude", ()))}
    one = Artifact(value) if isinstance(value, str) else value
    return {"path": one.path, "exclude": list(one.exclude)}


def _limits(bench: Bench) -> dict[str, Any]:
    transfer = bench.transfer
    return {"bytes": parse_size(transfer.max_bytes), "files": transfer.max_files, "seconds": transfer.timeout}


def _mode(bench: Bench, mark: Mapping[str, Any], request: EvaluationRequest) -> tuple[str, str]:
    if request.mode:
        return request.mode, "request"
    return (mark["mode"], "scenario") if mark.get("mode") else (bench.evaluation, "bench")


def _first(*values: Any) -> Any:
    return next(value for value in values if value is not None)


def _row(command: Collect | Mapping[str, Any]) -> dict[str, Any]:
    return asdict(command) if isinstance(command, Collect) else dict(command)


def _check(plan: Plan, bench: Bench, case: CollectedCase, environment: Environment, refusal: str) -> None:
    def refuse(sentence: str) -> NoReturn:
        raise BenchError(f"{case.function} {sentence}", file=bench.root / case.file, line=case.line)

    found = next(filter(None, (check(plan, case, environment) for check in _CHECKS)), None)
    if found:
        refuse(found)
    if refusal:
        refuse(f"asks for what its environment cannot hold. {refusal}")


def _wants_the_parameter(plan: Plan, case: CollectedCase, environment: Chosen) -> str | None:
    if case.uses_evaluation:
        return None
    if plan["mode"] in ("none", "fresh"):
        return (
            f"is evaluated in mode {plan['mode']!r} (chosen by the {plan['source']}) but has no parameter "
            "`evaluation`; add it and put the grading below `with evaluation() as env:`."
        )
    if plan["artifacts"] or plan["collect"]:
        what = "artifacts" if plan["artifacts"] else "collect commands"
        return f"declares {what} but has no parameter `evaluation` that would collect them."
    return None


def _fresh_can_be(plan: Plan, case: CollectedCase, environment: Chosen) -> str | None:
    if plan["mode"] != "fresh":
        return None
    if environment.isolation == "none":
        return (
            f"is evaluated in mode 'fresh' (chosen by the {plan['source']}), for which the environment "
            f"{environment.name!r} has no clean place: it is this machine itself; use the sandbox or a container."
        )
    if not plan["save_artifacts"]:
        return "is evaluated in mode 'fresh', which needs save_artifacts=True: it restores what was collected."
    return None


def _network_can_be(plan: Plan, case: CollectedCase, environment: Chosen) -> str | None:
    network = plan["network"]
    if plan["mode"] != "reuse" or network["execution"] == network["evaluation"]:
        return None
    return (
        f"is evaluated in mode 'reuse' with another network policy ({network['evaluation']}) than it is executed with "
        f"({network['execution']}); an open environment cannot switch, use fresh or one policy."
    )


def _fixtures_are_needed(plan: Plan, case: CollectedCase, environment: Chosen) -> str | None:
    """Collect commands run where the agent was: no fixtures are there, and none shall be."""
    if plan["fixtures"] == "declared" and plan["mode"] == "none":
        return "declares fixtures=True, but in mode 'none' no environment is open that could show them."
    command = next((row["command"] for row in plan["collect"] if names_fixtures(row["command"])), None)
    if command:
        return (
            f"names {FIXTURES} in the collect command {command!r}, which runs in the agent's environment, where no "
            "fixture may be; collect without them, and read them in the evaluation."
        )
    return None


def _paths_can_be(plan: Plan, case: CollectedCase, environment: Chosen) -> str | None:
    paths = [row["path"] for row in plan["artifacts"]]
    for path, times in Counter(paths).items():
        if fault := path_fault(path) or _out_of_reach(path, environment):
            return f"declares the artifact {path!r}, {fault}."
        if times > 1:
            return f"declares the artifact {path!r} twice."
    return None


_CHECKS = (_wants_the_parameter, _fresh_can_be, _network_can_be, _fixtures_are_needed, _paths_can_be)


def _out_of_reach(path: str, environment: Chosen) -> str | None:
    if path == FIXTURES or path.startswith(FIXTURES + "/"):
        return "but fixtures are never the agent's to hand in"
    if any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in environment.carries):
        return None
    return (
        f"which the environment {environment.name!r} cannot carry out; it can carry what lies below "
        f"{', '.join(environment.carries)}"
    )


def names_fixtures(text: str) -> bool:
    """Tell whether a word or a command speaks of /fixtures, and not of a folder of that name elsewhere."""
    return _FIXTURES.search(text) is not None


def path_fault(path: str) -> str | None:
    """Say what is wrong with an environment path, None for a good one."""
    if not path.startswith("/"):
        return "which is not absolute; write it as the environment sees it, such as /workspace/out.txt"
    if "\0" in path or "\\" in path:
        return f"which holds {'a NUL' if chr(0) in path else 'a backslash'}"
    if ".." in path.split("/") or posixpath.normpath(path) != path or path.startswith("//"):
        return f"which is not normalised; write {posixpath.normpath('/' + path.lstrip('/'))!r}"
    return "which is the whole file system" if path == "/" else None
