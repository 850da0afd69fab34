"""A small real bench whose outcomes are known, run once for the browser's journeys."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BENCH = '''
from typing import Literal

from runner import Scripted, Workspace, define_bench, patch, say, write

class Schema:
    resolved: bool
    """Does the suite pass?"""
    touched: int
    """Files changed."""
    tests_untouched: bool
    """Are the tests as they were?"""
    patch_length: int
    """Bytes of the patch."""
    closing_words: str
    """What the agent said last."""
    greeting_style: Literal["by name", "fixed", "absent"]
    """How it greets now."""

bench = define_bench(
    name="journeys/greeting", version="1.0.0", title="Greet by name", schema=Schema, suite="{python} -m unittest -q",
    workspace=Workspace("./workspace", retain="unsolved"),
    agents={
        "careful": Scripted([patch("greet.py", "'Hello'", "f'Hello, {name}'"), say("Done.")]),
        "sloppy": Scripted([patch("greet.py", "'Hello'", "'Hello, you'"), write("notes.md", "# Notes\\n")]),
    },
    matrix={"agent": ["careful", "sloppy"]}, trials=2, environment="local",
)
'''
SCENARIO = '''
from runner import bench, expect, observe

def bench_greet(workspace, agent):
    """greet() must greet by name."""
    expect(workspace).to_have_file("greet.py")
    reply = agent.request("Make greet() greet by name.")
    observe("resolved", workspace.tests.passed())
    observe("touched", len(workspace.changed()))
    observe("tests_untouched", "test_greet.py" not in workspace.changed())
    observe("patch_length", len(workspace.diff()))
    observe("closing_words", reply.text)
    observe("greeting_style", "by name" if "{name}" in workspace.read("greet.py") else "fixed")
    bench.attach("diff", workspace.diff())
'''
FILES = {
    "bench.py": BENCH,
    "README.md": "# Greeting\n\nDoes an agent greet by *name*?\n",
    "tests/bench_greet.py": SCENARIO,
    "workspace/greet.py": "def greet(name):\n    return 'Hello'\n",
    "workspace/test_greet.py": (
        "import unittest\n\nfrom greet import greet\n\n\nclass Greet(unittest.TestCase):\n"
        "    def test_by_name(self):\n        self.assertEqual(greet('Ada'), 'Hello, Ada')\n"
    ),
}


def write_bench(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def run_bench(folder: Path) -> Path:
    """Run it with the command line, as its author would; gives the run's directory."""
    done = subprocess.run(
        [sys.executable, "-m", "runner", "run", str(folder), "--workers", "2"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = (folder / ".bench" / "runs").iterdir()
    return run
