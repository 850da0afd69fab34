"""Benchsite's runner. A bench imports its words from here; nothing heavy is loaded until it is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import steps
from .define import define_bench
from .definition import (
    Artifact,
    Budget,
    Capture,
    Cli,
    Collect,
    Command,
    Judge,
    Limits,
    Measure,
    Network,
    Python,
    Scripted,
    Timeouts,
    Transfer,
    Workspace,
)
from .steps import crash, delete, loop, patch, say, sleep, usage, write

if TYPE_CHECKING:
    from .checking import check
    from .evidence import changes_of, open_world, patch_of, transcript_of
    from .running import resume, run
    from .scenario.verbs import bench, expect, observe
    from .selection import Selection
    from .stored import verify
    from .trying import rerun, try_scenario

__all__ = [
    "Artifact",
    "Budget",
    "Capture",
    "Cli",
    "Collect",
    "Command",
    "Judge",
    "Limits",
    "Measure",
    "Network",
    "Python",
    "Scripted",
    "Selection",
    "Timeouts",
    "Transfer",
    "Workspace",
    "bench",
    "changes_of",
    "check",
    "crash",
    "define_bench",
    "delete",
    "expect",
    "loop",
    "observe",
    "open_world",
    "patch",
    "patch_of",
    "rerun",
    "resume",
    "run",
    "say",
    "sleep",
    "steps",
    "transcript_of",
    "try_scenario",
    "usage",
    "verify",
    "write",
]  # fmt: skip

_LAZY = {
    "bench": "runner.scenario.verbs",
    "expect": "runner.scenario.verbs",
    "observe": "runner.scenario.verbs",
    "run": "runner.running",
    "resume": "runner.running",
    "Selection": "runner.selection",
    "check": "runner.checking",
    "try_scenario": "runner.trying",
    "rerun": "runner.trying",
    "verify": "runner.stored",
    **dict.fromkeys(("changes_of", "open_world", "patch_of", "transcript_of"), "runner.evidence"),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'runner' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
