"""`define_bench`: check every value an author declares, and say at which line of bench.py it is wrong."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import define_agents, judges, templates
from .definition import (
    ISOLATION,
    MODES,
    RETAIN,
    AgentSpec,
    Bench,
    Budget,
    Capture,
    Isolation,
    Judge,
    Limits,
    Mode,
    Network,
    Timeouts,
    Transfer,
    Workspace,
    parse_size,
)
from .errors import BenchError
from .matrix import check_matrix
from .redaction import looks_secret
from .surroundings import limits_row, network_row

ENVIRONMENTS = ("auto", "local", "sandbox", "container")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}/[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,39}")


class _Refused(Exception):
    """A value that cannot stand; `define_bench` adds the place of its call."""


def define_bench(
    *,
    name: str,
    schema: type,
    version: str = "0.1.0",
    workspace: Workspace | None = Workspace(),  # noqa: B008  a frozen record, safe to share
    suite: str = "",
    agents: Mapping[str, AgentSpec] | None = None,
    matrix: Mapping[str, Any] | None = None,
    trials: int = 1,
    timeouts: Timeouts = Timeouts(),  # noqa: B008
    budget: Budget = Budget(),  # noqa: B008
    retries: int = 0,
    environment: str = "auto",
    isolation: Isolation = "none",
    network: Network = Network(),  # noqa: B008
    limits: Limits = Limits(),  # noqa: B008
    image: str = "",
    evaluation: Mode = "reuse",
    save_artifacts: bool = True,
    transfer: Transfer = Transfer(),  # noqa: B008
    setup: Callable[..., None] | None = None,
    judge: Judge | None = None,
    tests: str = "tests/**/bench_*.py",
    title: str = "",
    secrets: Sequence[str] = (),
) -> Bench:
    """Declare a bench. Every value is checked here, before anything is copied, run or paid for."""
    frame = sys._getframe(1)
    file, line = Path(frame.f_code.co_filename), frame.f_lineno
    bench = Bench(
        name=name,
        version=version,
        schema=schema,
        file=file,
        workspace=workspace,
        suite=suite,
        agents=dict(agents or {}) if isinstance(agents, Mapping | None) else agents,
        matrix=dict(matrix or {}) if isinstance(matrix, Mapping | None) else matrix,
        trials=trials,
        timeouts=timeouts,
        budget=budget,
        retries=retries,
        environment=environment,
        isolation=isolation,
        network=network,
        limits=limits,
        image=image,
        evaluation=evaluation,
        save_artifacts=save_artifacts,
        transfer=transfer,
        setup=setup,
        judge=judge,
        tests=tests,
        title=title,
        secrets=secrets,
    )
    try:
        return _checked(bench, frame.f_globals.get("__name__", ""))
    except (_Refused, ValueError) as error:
        raise BenchError(str(error), file=file, line=line) from None


def _secrets(bench: Bench) -> tuple[str, ...]:
    """An axis of variables whose name says that it holds a secret is one, declared or not."""
    declared = (bench.secrets,) if isinstance(bench.secrets, str) else bench.secrets
    if not isinstance(declared, Sequence | Set) or not all(isinstance(name, str) for name in declared):
        raise _Refused(f"secrets={declared!r} is not a list of axis names.")
    names = (name for name in bench.matrix if isinstance(name, str) and name.startswith(("env.", "config.")))
    return tuple(dict.fromkeys((*declared, *filter(looks_secret, names))))


def parse_money(value: str | float | None) -> float | None:
    """Read "$2" or 2 as dollars; raises ValueError for anything else."""
    if value is None:
        return None
    text = value.strip().removeprefix("$") if isinstance(value, str) else value
    try:
        amount = math.nan if isinstance(text, bool) else float(text)
    except (TypeError, ValueError):
        amount = math.nan
    if not 0 < amount < math.inf:
        raise ValueError(f'budget {value!r} is no amount of dollars; write it as "$2" or 2.')
    return amount


def _checked(bench: Bench, module: str) -> Bench:
    _check_names(bench)
    _check_workspace(bench.workspace)
    _check_numbers(bench)
    _check_choices(bench)
    _check_surroundings(bench)
    _check_parts(bench)
    bench = replace(
        bench, agents={name: define_agents.checked(name, spec, module) for name, spec in bench.agents.items()}
    )
    bench = replace(bench, secrets=_secrets(bench))
    check_matrix(bench.matrix, bench.agents, bench.secrets)
    templates.check("suite", bench.suite, templates.SUITE)
    define_agents.check_templates(bench.agents, set(bench.matrix))
    judges.check(bench)
    return bench


def _check_names(bench: Bench) -> None:
    if not (isinstance(bench.name, str) and _NAME.fullmatch(bench.name)):
        raise _Refused(
            f"name={bench.name!r} is no bench name; write 'owner/name' with letters, digits, '.', '_' and '-'."
        )
    if not (isinstance(bench.version, str) and _VERSION.fullmatch(bench.version)):
        raise _Refused(f"version={bench.version!r} is no version; write text such as '1.0.0'.")
    if not isinstance(bench.schema, type):
        raise _Refused(
            f"schema={bench.schema!r} is not a class; declare `class Schema:` with one annotated field a measure."
        )
    if not isinstance(bench.title, str):
        raise _Refused(f"title={bench.title!r} is not text.")


def _check_workspace(workspace: Workspace | None) -> None:
    if workspace is None:
        return
    if not isinstance(workspace, Workspace):
        raise _Refused(f"workspace={workspace!r} is neither Workspace(...) nor None (an empty directory).")
    if workspace.retain not in RETAIN:
        raise _Refused(f"retain={workspace.retain!r} is not one of: {', '.join(RETAIN)}.")
    capture = workspace.capture
    if not isinstance(capture, Capture):
        raise _Refused(f"capture={capture!r} is not Capture(ignore=, max_bytes=).")
    if isinstance(capture.ignore, str):
        raise _Refused("Capture(ignore=...) is a list of .gitignore rules, not one text.")
    if parse_size(capture.max_bytes) < 0:
        raise _Refused(f"Capture(max_bytes={capture.max_bytes!r}) is below 0.")


def _check_numbers(bench: Bench) -> None:
    for name, value, least in (("trials", bench.trials, 1), ("retries", bench.retries, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise _Refused(f"{name}={value!r} is not a whole number of at least {least}.")
    for part in ("request", "trial", "suite"):
        seconds = getattr(bench.timeouts, part, None)
        if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0 < seconds < math.inf:
            raise _Refused(f"Timeouts({part}={seconds!r}) is not a number of seconds above 0.")
    if not isinstance(bench.budget, Budget):
        raise _Refused(f'budget={bench.budget!r} is not Budget(trial=, total=), such as Budget(total="$100").')
    parse_money(bench.budget.trial)
    parse_money(bench.budget.total)
    _check_transfer(bench.transfer)


def _check_transfer(transfer: Transfer) -> None:
    if not isinstance(transfer, Transfer):
        raise _Refused(f"transfer={transfer!r} is not Transfer(max_bytes=, max_files=, timeout=).")
    if parse_size(transfer.max_bytes) < 1:
        raise _Refused(f"Transfer(max_bytes={transfer.max_bytes!r}) is below 1.")
    if type(transfer.max_files) is not int or transfer.max_files < 1:
        raise _Refused(f"Transfer(max_files={transfer.max_files!r}) is not a whole number of at least 1.")
    if not isinstance(transfer.timeout, int | float) or not 0 < transfer.timeout < math.inf:
        raise _Refused(f"Transfer(timeout={transfer.timeout!r}) is not a number of seconds above 0.")


def _check_choices(bench: Bench) -> None:
    for name, value, allowed in (
        ("environment", bench.environment, ENVIRONMENTS),
        ("isolation", bench.isolation, ISOLATION),
        ("evaluation", bench.evaluation, MODES),
    ):
        if value not in allowed:
            raise _Refused(f"{name}={value!r} is not one of: {', '.join(allowed)}.")
    if bench.evaluation == "fresh" and not bench.save_artifacts:
        raise _Refused("evaluation='fresh' needs save_artifacts=True: it restores what was collected.")


def _check_surroundings(bench: Bench) -> None:
    network_row(bench.network)
    limits_row(bench.limits)
    if not isinstance(bench.image, str):
        raise _Refused(f"image={bench.image!r} is not the name of a container's image.")
    if bench.image and bench.environment not in ("auto", "container"):
        raise _Refused(f"image={bench.image!r} is declared, but environment={bench.environment!r} has no images.")


def _check_parts(bench: Bench) -> None:
    if not isinstance(bench.suite, str):
        raise _Refused(f"suite={bench.suite!r} is not text; write a command such as '{{python}} -m pytest -q'.")
    if bench.suite and bench.workspace is None:
        raise _Refused("suite= is declared, but workspace=None has no suite to run; leave one of them out.")
    if bench.setup is not None and not callable(bench.setup):
        raise _Refused(f"setup={bench.setup!r} is not a function of (workspace_path, cell).")
    if bench.judge is not None and not isinstance(bench.judge, Judge):
        raise _Refused(f"judge={bench.judge!r} is neither Judge(...) nor None.")
    pattern = bench.tests
    if not isinstance(pattern, str) or not pattern.startswith("tests/") or ".." in pattern.split("/"):
        raise _Refused(f"tests={pattern!r} must be a pattern below the folder tests/, such as 'tests/**/bench_*.py'.")
    if not isinstance(bench.agents, Mapping):
        raise _Refused(f"agents={bench.agents!r} is not a dict of names to Command, Python, Scripted or Cli.")
    if not isinstance(bench.matrix, Mapping):
        raise _Refused(f"matrix={bench.matrix!r} is not a dict of axis names to values.")
