"""Reading pytest's items: what a case is called, what its marks say, and what stops the bench."""

from __future__ import annotations

import inspect
import itertools
import traceback
from bdb import BdbQuit
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import SkipTest

import pytest

from runner.definition import MODES, Artifact, Collect, Limits, Network
from runner.plans import artifact_row
from runner.surroundings import limits_row, network_row

from .collecting import CollectedCase, Complaint

UNNAMED = "\u0001"
"""Stands in an id for a part the author did not name; positions are no names, they move when a row is added."""
_counter = itertools.count()


def unnamed_id(argname: str) -> str:
    return f"{UNNAMED}{argname}{next(_counter)}"


def case_of(item: pytest.Function, root: Path) -> CollectedCase:
    code = inspect.unwrap(item.obj).__code__
    callspec = getattr(item, "callspec", None)
    params = {} if callspec is None else {name: _shown(value) for name, value in sorted(callspec.params.items())}
    return CollectedCase(
        file=item.path.relative_to(root).as_posix(),
        line=code.co_firstlineno,
        function=item.originalname,
        pin=_pin(item),
        case="" if callspec is None else callspec.id,
        params=params,
        doc=inspect.getdoc(item.obj) or "",
        evaluation=_evaluation(item),
        environment=_environment(item),
        uses_evaluation="evaluation" in item.fixturenames,
    )


def complaints_of(item: pytest.Function, root: Path) -> Iterator[Complaint]:
    code = inspect.unwrap(item.obj).__code__
    file, line = item.path.relative_to(root).as_posix(), code.co_firstlineno
    for sentence in (*_unfit(item), *_unknown_fixtures(item), *_bad_marks(item)):
        yield Complaint(sentence, file, line)


def import_complaint(error: BaseException, file: Path, root: Path) -> Complaint:
    """Tell why a file could not be imported: the error itself, at the bench's own line, with the way that led there."""
    error = error.__cause__ or error  # pytest wraps what a module raised
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(root)]
    where, line = (Path(frames[-1].filename), frames[-1].lineno) if frames else (file, None)
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).is_relative_to(root):
        where, line = Path(error.filename), error.lineno
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    said = " ".join(said.split())[:2000]
    if isinstance(error, pytest.skip.Exception | SkipTest):
        text = (
            f"It leaves itself out of the plan: {said.rstrip('.')}. Skip in its scenarios, then their trials tell it."
        )
        return Complaint(text, where.relative_to(root).as_posix(), line)
    if isinstance(error, BdbQuit):
        said = "a breakpoint() stops within a scenario, in `benchsite try SCENARIO --pdb`"
    last = f"{type(error).__name__}: {said}" if said else type(error).__name__
    way = traceback.format_list(frames)[:-1]  # where it ends stands before the sentence
    text = f"It could not be imported: {last.rstrip('.')}."
    if way:
        text += f" It was reached by:\n{''.join(way).rstrip()}"
    return Complaint(text, where.relative_to(root).as_posix(), line)


def _unfit(item: pytest.Function) -> Iterator[str]:
    name = item.originalname
    if inspect.iscoroutinefunction(item.obj) or inspect.isasyncgenfunction(item.obj):
        yield f"{name} is an async function; write scenarios as plain functions."
    callspec = getattr(item, "callspec", None)
    if callspec is not None and UNNAMED in callspec.id:
        yield f"A case of {name} has no id; name every parameter set with ids=[...] or pytest.param(..., id=...)."


def _unknown_fixtures(item: pytest.Function) -> Iterator[str]:
    known = item._fixtureinfo.name2fixturedefs
    for name in item.fixturenames:
        if name not in known and name != "request":
            yield f"{item.originalname} asks for {name!r}, which is no fixture; there are workspace, agent, evaluation."


def _bad_marks(item: pytest.Function) -> Iterator[str]:
    for read, mark in ((_pin, "scenario"), (_evaluation, "evaluation"), (_environment, "environment")):
        try:
            read(item)
        except ValueError as error:
            yield f"The mark {mark} on {item.originalname} {str(error).rstrip('.')}."


def _pin(item: pytest.Function) -> str | None:
    mark = item.get_closest_marker("scenario")
    if mark is None:
        return None
    pin = mark.kwargs.get("id")
    if mark.args or set(mark.kwargs) != {"id"} or not isinstance(pin, str) or not pin.strip():
        raise ValueError("must be written as pytest.mark.scenario(id='...')")
    return pin


def _evaluation(item: pytest.Function) -> dict[str, Any] | None:
    mark = item.get_closest_marker("evaluation")
    if mark is None:
        return None
    unknown = set(mark.kwargs) - {"mode", "artifacts", "collect", "fixtures"}
    if unknown or len(mark.args) > 1:
        raise ValueError("takes a mode, artifacts=, collect= and fixtures=, nothing else")
    mode = mark.args[0] if mark.args else mark.kwargs.get("mode")
    if mode is not None and mode not in MODES:
        raise ValueError(f"names the mode {mode!r}; it must be one of {', '.join(MODES)}")
    found: dict[str, Any] = {} if mode is None else {"mode": mode}
    if "artifacts" in mark.kwargs:
        found["artifacts"] = _paths(mark.kwargs["artifacts"])
    if "collect" in mark.kwargs:
        found["collect"] = _commands(mark.kwargs["collect"])
    if "fixtures" in mark.kwargs:
        found["fixtures"] = _yes_or_no(mark.kwargs["fixtures"])
    return found


def _environment(item: pytest.Function) -> dict[str, Any] | None:
    mark = item.get_closest_marker("environment")
    if mark is None:
        return None
    kinds = {"image": str, "limits": Limits, "network": Network}
    if mark.args or set(mark.kwargs) - set(kinds):
        raise ValueError("takes image=, limits= and network=, nothing else")
    for name, value in mark.kwargs.items():
        if not isinstance(value, kinds[name]):
            raise ValueError(f"must give {name} as {'text' if name == 'image' else f'{kinds[name].__name__}(...)'}")
    given = dict(mark.kwargs)
    found = {"image": given["image"]} if "image" in given else {}
    found |= {"resources": limits_row(given["limits"])} if "limits" in given else {}
    return found | ({"network": network_row(given["network"])} if "network" in given else {})


def _paths(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list | tuple) or not all(isinstance(path, str | Artifact) for path in value):
        raise ValueError("must give artifacts as a list of paths, or of Artifact('path', exclude=[...])")
    rows = [artifact_row(path) for path in value]
    if any(isinstance(one.exclude, str) for one in value if isinstance(one, Artifact)):
        raise ValueError("must give exclude as a list of .gitignore rules, not one text")
    return rows


def _commands(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list | tuple):
        raise ValueError("must give collect as a list of Collect('command', timeout=seconds)")
    return [_command(row) for row in value]


def _command(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        value = Collect(value)
    if not isinstance(value, Collect) or not value.command.strip() or not value.timeout > 0:
        raise ValueError("must give collect as a list of Collect('command', timeout=seconds)")
    return {"command": value.command, "timeout": value.timeout}


def _yes_or_no(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must give fixtures as True or False")
    return value


def _shown(value: Any) -> str:
    return (value if isinstance(value, str) else repr(value))[:2000]
