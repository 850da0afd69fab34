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
    from .cancelling import cancel
    from .checking import check
    from .cleaning import clean
    from .cli.places import find_run, runs_of
    from .doctor import diagnose
    from .evidence import changes_of, open_world, patch_of, transcript_of
    from .exchange.bundle import write_bundle
    from .exchange.push import push
    from .frames import frame, table, write_parquet
    from .init import init as init_bench
    from .mock_model import MockModel
    from .prepare import prepare as prepare_bench
    from .records import RunResult
    from .regrading import regrade
    from .replay import read
    from .reports.gate import Rules, gate
    from .running import resume, run
    from .scenario.verbs import bench, expect, observe
    from .selection import Selection
    from .statistics.between import between
    from .statistics.summary import summary
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
    "MockModel",
    "Network",
    "Python",
    "Rules",
    "RunResult",
    "Scripted",
    "Selection",
    "Timeouts",
    "Transfer",
    "Workspace",
    "bench",
    "between",
    "cancel",
    "changes_of",
    "check",
    "clean",
    "crash",
    "define_bench",
    "delete",
    "diagnose",
    "expect",
    "find_run",
    "frame",
    "gate",
    "init_bench",
    "loop",
    "observe",
    "open_world",
    "patch",
    "patch_of",
    "prepare_bench",
    "push",
    "read",
    "regrade",
    "rerun",
    "resume",
    "run",
    "runs_of",
    "say",
    "sleep",
    "steps",
    "summary",
    "table",
    "transcript_of",
    "try_scenario",
    "usage",
    "verify",
    "write",
    "write_bundle",
    "write_parquet",
]  # fmt: skip

_LAZY = {
    "bench": "runner.scenario.verbs",
    "expect": "runner.scenario.verbs",
    "observe": "runner.scenario.verbs",
    "run": "runner.running",
    "resume": "runner.running",
    "RunResult": "runner.records",
    "Selection": "runner.selection",
    "init_bench": "runner.init",
    "prepare_bench": "runner.prepare",
    "diagnose": "runner.doctor",
    "check": "runner.checking",
    "try_scenario": "runner.trying",
    "rerun": "runner.trying",
    "regrade": "runner.regrading",
    "cancel": "runner.cancelling",
    "read": "runner.replay",
    "summary": "runner.statistics.summary",
    "between": "runner.statistics.between",
    "gate": "runner.reports.gate",
    "Rules": "runner.reports.gate",
    "clean": "runner.cleaning",
    "verify": "runner.stored",
    "write_bundle": "runner.exchange.bundle",
    "push": "runner.exchange.push",
    "MockModel": "runner.mock_model",
    **dict.fromkeys(("find_run", "runs_of"), "runner.cli.places"),
    **dict.fromkeys(("frame", "table", "write_parquet"), "runner.frames"),
    **dict.fromkeys(("changes_of", "open_world", "patch_of", "transcript_of"), "runner.evidence"),
}
_OTHERWISE = {"init_bench": "init", "prepare_bench": "prepare"}
"""Functions whose own name is that of their module, which would stand here in their place."""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'runner' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), _OTHERWISE.get(name, name))
