"""Benches written to disk for tests: real files, nothing in place of our own code."""

from __future__ import annotations

from pathlib import Path

SCHEMA = "class Schema:\n    solved: bool\n"
BENCH = """\
from runner import *
from runner.steps import run
{schema}
bench = define_bench(name="acme/demo", schema=Schema, {options})
"""
SCENARIO = '''\
from runner import bench, expect, observe

def bench_it(workspace, agent):
    """Does it?"""
    agent.request("Do it.")
    observe("solved", True)
'''
AGENTS = 'agents={"quiet": Scripted([say("done")])}, environment="local"'


def write_files(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def write_bench(folder: Path, options: str = AGENTS, schema: str = SCHEMA, files: dict[str, str] | None = None) -> Path:
    """Write a small bench; `files` adds to it or replaces what it has."""
    standard = {
        "bench.py": BENCH.format(schema=schema, options=options),
        "tests/bench_it.py": SCENARIO,
        "workspace/notes.txt": "start\n",
    }
    return write_files(folder, {**standard, **(files or {})})
