"""A tiny bench, and the command run as people run it: in a process of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

BENCH = '''
from typing import Literal
from runner import Scripted, crash, define_bench, loop, say, sleep

class Schema:
    resolved: bool
    """Did the agent say yes?"""
    words: int
    """Words of the answer."""
    tone: Literal["kind", "curt"]
    """How it answered."""

bench = define_bench(
    name="t/tiny", version="1.0", schema=Schema, workspace=None, environment="local",
    agents={"yes": Scripted([say("yes indeed")]), "no": Scripted([say("no")]), "slow": Scripted([sleep(60)]),
            "loop": Scripted([loop()])},
    matrix={"agent": ["yes", "no"], "colour": ["red"]}, trials=2,
)
'''
SCENARIO = '''
from runner import observe

def bench_ask(workspace, agent):
    """Ask for a yes."""
    reply = agent.request("Say yes.")
    observe("resolved", "yes" in reply.text)
    observe("words", len(reply.text.split()))
    observe("tone", "kind" if "yes" in reply.text else "curt")
'''


def make_bench(folder: Path, *, agents: str = '["yes", "no"]', scenario: str = SCENARIO, bench: str = BENCH) -> Path:
    (folder / "tests").mkdir(parents=True)
    (folder / "bench.py").write_text(bench.replace('["yes", "no"]', agents))
    (folder / "tests" / "bench_ask.py").write_text(scenario)
    return folder


def command_line(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "runner", *map(str, arguments)]


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "BENCHSITE_TOKEN")}
    return {**kept, **more}


def benchsite(*arguments: object, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command_line(*arguments),
        cwd=cwd,
        env=environment(**env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def json_of(*arguments: object, cwd: Path | None = None) -> Any:
    done = benchsite(*arguments, "--json", cwd=cwd)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def told(*arguments: object, cwd: Path) -> tuple[int, str]:
    """The command in this very process, which costs nothing to start: its exit code and what it printed."""
    from runner.cli import main

    out = io.StringIO()
    with contextlib.chdir(cwd), contextlib.redirect_stdout(out):
        return main([str(argument) for argument in arguments]), out.getvalue()
