"""The fork server as a process: what it hands on from trial to trial, and that it goes."""

from __future__ import annotations

from pathlib import Path

from runner.engine import LocalExecutor, TrialJob
from runner.prepare import prepare
from runner.running import begin, run

from .benches import write_bench

ONE = """
    def bench_one(workspace, agent):
        agent.request("go")
        observe("resolved", workspace.exists("done.txt"))
"""


def test_what_compares_lines_is_loaded_by_the_first_trial_that_needs_it_for_all_after_it(tmp_path: Path) -> None:
    scenario = """
        import sys
        def bench_one(workspace, agent):
            known = "pygit2" in sys.modules
            agent.request("go")
            observe("resolved", known)
            observe("count", workspace.changes()[0].lines_added)
    """
    agents = '{"worker": Scripted([write("readme.txt", "1\\n0\\n3\\n0\\n0\\n")])}'
    folder = write_bench(
        tmp_path / "bench", {"one": scenario}, declare="trials=3", agents=agents, world={"readme.txt": "1\n2\n3\n4\n"}
    )
    seen = [trial.final.observations for trial in run(folder, workers=1).trials if trial.final is not None]
    assert sorted(row["resolved"].value is True for row in seen) == [False, True, True]
    assert [row["count"].value for row in seen] == [3, 3, 3]


def test_the_server_goes_when_the_executor_is_closed(tmp_path: Path) -> None:
    folder = write_bench(tmp_path / "bench", {"one": ONE})
    run_dir = begin(prepare(folder))
    executor = LocalExecutor(run_dir)
    list(executor.execute(TrialJob(run_dir, 0, 1, 1)))
    executor.close()
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if _names(path, run_dir)]


def _names(cmdline: Path, run_dir: Path) -> bool:
    try:
        return str(run_dir).encode() in cmdline.read_bytes()
    except OSError:
        return False
