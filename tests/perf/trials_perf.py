"""100 trials (copy, `sed`, a unittest run) against the same work in a bare shell loop with `xargs -P2`.

Interleaved pairs, sync before each; `local` first, `sandbox` beside it, and an empty trial's cost. The bar is for the
median of fifteen: those of five lay between 1.16 and 1.42 for the same code on one day."""

from __future__ import annotations

import compileall
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import runner
from runner.engine import LocalExecutor, drive
from runner.errors import RunnerError
from runner.prepare import prepare
from runner.running import begin
from runner.standby import Standby

TRIALS, BAR = 100, 1.25
PAIRS = {"local": 15, "sandbox": 5}
BENCH = """
from runner import Command, define_bench

class Schema:
    resolved: bool
    \"\"\"Does the suite pass?\"\"\"

bench = define_bench(
    name="perf/trials", version="1.0.0", schema=Schema, suite="{python} -m unittest -q",
    agents={"sed": Command("sed -i s/a-b/a+b/ calc.py")}, trials=TRIALS, isolation="none",
)
"""
SCENARIO = """
from runner import observe

def bench_fix(workspace, agent):
    agent.request("Make the suite pass.")
    observe("resolved", workspace.tests.passed())
"""
EMPTY = """
def bench_empty(workspace, agent):
    pass
"""
WORLD = {
    "calc.py": "def add(a, b):\n    return a-b\n",
    "test_calc.py": "import unittest\nfrom calc import add\n\nclass T(unittest.TestCase):\n"
    "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
    "README.md": "A small world.\n",
}
ONCE = 'cp -a "{world}" "{to}/@" && cd "{to}/@" && sed -i s/a-b/a+b/ calc.py && "{py}" -m unittest -q'
LOOP = f"seq {{n}} | xargs -P2 -I@ sh -c '{ONCE}'"


def write_bench(folder: Path, scenario: str) -> Path:
    for path, text in {
        **{f"workspace/{name}": text for name, text in WORLD.items()},
        "bench.py": BENCH.replace("TRIALS", str(TRIALS)),
        "tests/bench_it.py": scenario,
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def timed_loop(folder: Path) -> float:
    to = Path(tempfile.mkdtemp(dir=folder.parent))
    os.sync()
    began = time.perf_counter()
    command = LOOP.format(n=TRIALS, world=folder / "workspace", to=to, py=sys.executable)
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(["sh", "-c", command], check=True, env=env, capture_output=True)
    spent = time.perf_counter() - began
    shutil.rmtree(to)
    return spent


def timed_run(folder: Path, environment: str) -> float:
    """From the start of the first worker to the journal's last line, as `run` does it: the process that collected the
    scenarios for the plan serves the run; what it loads for the run itself is in it."""
    with closing(Standby()) as standby:
        run_dir = begin(prepare(folder, environment=environment, standby=standby))
        os.sync()
        began = time.perf_counter()
        with closing(LocalExecutor(run_dir, workers=2, standby=standby)) as executor:
            result = drive(run_dir, executor=executor, workers=2)
        spent = time.perf_counter() - began
    assert result.counts == {"scored": TRIALS}, result.counts
    return spent


def compare(folder: Path, environment: str) -> str:
    pairs = [(timed_loop(folder), timed_run(folder, environment)) for _ in range(PAIRS[environment])]
    loop, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(run / loop for loop, run in pairs)
    extra = (ours - loop) * 1000 * 2 / TRIALS
    return (
        f"{environment:8} {ours:6.2f} s  shell loop {loop:6.2f} s  ratio {ratio:.2f}  {extra:+.1f} ms a trial"
        f"  (median of {len(pairs)} pairs)"
    )


def main() -> int:
    compileall.compile_dir(Path(runner.__file__).parent, quiet=2)  # as anyone's second run finds it
    with tempfile.TemporaryDirectory(prefix="benchsite-perf-") as name:
        os.environ["BENCHSITE_WORLDS"] = f"{name}/worlds"
        folder = write_bench(Path(name) / "bench", SCENARIO)
        print(f"{TRIALS} trials, 2 workers, interleaved pairs (bar {BAR} for local)")
        for environment in PAIRS:
            try:
                print(compare(folder, environment), flush=True)
            except RunnerError as error:
                print(f"{environment:8} not measured: {error}")
        empty = write_bench(Path(name) / "empty", EMPTY)
        each = statistics.median(timed_run(empty, "local") for _ in range(3)) * 1000 * 2 / TRIALS
        print(f"an empty trial: {each:.1f} ms of one worker's time (the server's start is in it)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
