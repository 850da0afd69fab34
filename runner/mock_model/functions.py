"""Replies by function: a Python file that is named beside the script, never by it, so that a script is only data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from runner.errors import RunnerError

Functions = Mapping[str, Callable[..., Any]]


def load_functions(file: Path) -> dict[str, Callable[..., Any]]:
    """Run a Python file and give its public functions by name."""
    names: dict[str, Any] = {"__name__": "mock_model_functions", "__file__": str(file)}
    try:
        exec(compile(file.read_bytes(), str(file), "exec"), names)
    except OSError as error:
        raise RunnerError(f"The functions file {file} cannot be read: {error.strerror}.") from error
    except Exception as error:
        raise RunnerError(f"The functions file {file} cannot be used: {type(error).__name__}: {error}") from error
    return {name: value for name, value in names.items() if callable(value) and not name.startswith("_")}


def check_name(name: Any, functions: Functions, where: str) -> Callable[..., Any]:
    """Find the function that a talk names; a callable itself is taken where the script is made in Python."""
    if callable(name):
        found: Callable[..., Any] = name
        return found
    if name not in functions:
        known = f"the file given has {', '.join(functions)}" if functions else "name their file with --functions FILE"
        raise RunnerError(f"{where} asks for the function {name!r}; {known}.")
    return functions[name]
