"""Real benches, written into a test's own folder."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from runner.replay import Attempt, RunResult

DECLARATION = """\
from enum import Enum
from typing import Annotated, Literal
from runner import *
from runner import Cli, steps

class Schema:
    resolved: bool
    \"\"\"Is it done?\"\"\"
    count: int
    \"\"\"How many?\"\"\"
    share: float
    \"\"\"How much?\"\"\"
    kind: Literal["patch", "rewrite"]
    \"\"\"Which way?\"\"\"
    note: str
    \"\"\"Words.\"\"\"

"""
WRITES = 'Scripted([write("done.txt", "done\\n"), say("I did it.")])'


def write_bench(
    folder: Path,
    scenarios: dict[str, str],
    *,
    declare: str = "",
    agents: str = f'{{"worker": {WRITES}}}',
    world: dict[str, str] | None = None,
    helpers: str = "",
    schema: str = DECLARATION,
) -> Path:
    """Write a bench. `scenarios` maps a file's name to its source; `declare` is added to define_bench."""
    (folder / "tests").mkdir(parents=True)
    (folder / "workspace").mkdir()
    for path, text in {"readme.txt": "hello\n", **(world or {})}.items():
        (folder / "workspace" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "workspace" / path).write_text(text, encoding="utf-8")
    options = {"suite": '"{python} -c pass"', "environment": '"local"', "trials": "1", "agents": agents}
    given = "".join(f"{name}={value}, " for name, value in options.items() if f"{name}=" not in declare)
    text = f'{schema}\nbench = define_bench(name="acme/try", version="1.0.0", schema=Schema, {given}{declare})\n'
    (folder / "bench.py").write_text(text, encoding="utf-8")
    (folder / "helpers.py").write_text(dedent(helpers), encoding="utf-8")
    for name, source in scenarios.items():
        head = "import pytest\nfrom runner import Collect, bench, expect, observe\n"
        (folder / "tests" / f"bench_{name}.py").write_text(head + dedent(source), encoding="utf-8")
    return folder


def by_scenario(result: RunResult) -> dict[str, Attempt]:
    """The final attempt of each scenario; with several cells, the last cell's."""
    scenarios = result.manifest.scenarios
    return {scenarios[t.planned.scenario].id: t.final for t in result.trials if t.final is not None}


def by_cell(result: RunResult, axis: str = "agent") -> dict[str, Attempt]:
    cells = result.manifest.cells
    return {cells[t.planned.cell].axes[axis]: t.final for t in result.trials if t.final is not None}
