"""Resolved plans: how each scenario is evaluated, run request before scenario mark before bench default."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from .definition import MODES, Bench, Collect
from .errors import BenchError

if TYPE_CHECKING:
    from .scenario.collecting import CollectedCase

LIMITS = {"bytes": 64 << 20, "files": 2000, "seconds": 600}
"""What may be carried out of one trial's environment."""
Plan = dict[str, Any]


class Chosen(Protocol):
    """What a plan has to know of the environment."""

    @property
    def name(self) -> str: ...
    @property
    def isolation(self) -> str: ...


@dataclass(frozen=True)
class EvaluationRequest:
    """What the run asks for. A list that is given replaces the scenario's, None leaves it."""

    mode: str | None = None
    artifacts: tuple[str, ...] | None = None
    collect: tuple[Collect, ...] | None = None

    @classmethod
    def of(cls, value: str | EvaluationRequest | None) -> EvaluationRequest:
        request = value if isinstance(value, EvaluationRequest) else cls(value)
        if request.mode is not None and request.mode not in MODES:
            raise BenchError(f"evaluation={request.mode!r} is not one of: {', '.join(MODES)}.")
        return request


def resolve(bench: Bench, case: CollectedCase, environment: Chosen, request: EvaluationRequest) -> Plan:
    """Give the plan of one scenario, or refuse what the scenario, the bench or the environment cannot hold."""
    mark = case.evaluation or {}
    mode, source = _mode(bench, mark, request)
    plan: Plan = {
        "mode": mode,
        "source": source,
        "artifacts": list(_first(request.artifacts, mark.get("artifacts"), ())),
        "collect": [_row(command) for command in _first(request.collect, mark.get("collect"), ())],
        "network": asdict(bench.network),
        "timeouts": asdict(bench.timeouts),
        "environment": environment.name,
        "limits": dict(LIMITS),
    }
    _check(plan, bench, case)
    return plan


def _mode(bench: Bench, mark: Mapping[str, Any], request: EvaluationRequest) -> tuple[str, str]:
    if request.mode:
        return request.mode, "request"
    return (mark["mode"], "scenario") if mark.get("mode") else (bench.evaluation, "bench")


def _first(*values: Any) -> Any:
    return next(value for value in values if value is not None)


def _row(command: Collect | Mapping[str, Any]) -> dict[str, Any]:
    return asdict(command) if isinstance(command, Collect) else dict(command)


def _check(plan: Plan, bench: Bench, case: CollectedCase) -> None:
    def refuse(sentence: str) -> NoReturn:
        raise BenchError(f"{case.function} {sentence}", file=bench.root / case.file, line=case.line)

    mode = plan["mode"]
    if mode in ("none", "fresh") and not case.uses_evaluation:
        refuse(
            f"is evaluated in mode {mode!r} (chosen by the {plan['source']}) but has no parameter `evaluation`; "
            "add it and put the grading below `with evaluation() as env:`."
        )
    if mode == "fresh":
        refuse("is evaluated in mode 'fresh', which this version cannot give; use reuse or none.")
    if plan["artifacts"] and not case.uses_evaluation:
        refuse("declares artifacts but has no parameter `evaluation` that would collect them.")
    network = plan["network"]
    if mode == "reuse" and network["execution"] != network["evaluation"] and case.uses_evaluation:
        refuse(
            f"is evaluated in mode 'reuse' with another network policy ({network['evaluation']}) than it is executed "
            f"with ({network['execution']}); an open environment cannot switch, use fresh or one policy."
        )
    for path in plan["artifacts"]:
        if fault := path_fault(path):
            refuse(f"declares the artifact {path!r}, {fault}.")


def path_fault(path: str) -> str | None:
    """Say what is wrong with an environment path, None for a good one."""
    if not path.startswith("/"):
        return "which is not absolute; write it as the environment sees it, such as /workspace/out.txt"
    if ".." in path.split("/") or posixpath.normpath(path) != path or path.startswith("//"):
        return f"which is not normalised; write {posixpath.normpath('/' + path.lstrip('/'))!r}"
    return "which is the whole file system" if path == "/" else "which holds a NUL" if "\0" in path else None
