"""Whole runs on copied and on overlay worlds: the record is the same to the byte, and nothing stays mounted."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from runner.errors import EnvironmentRefused
from runner.journal import read_events
from runner.prepare import prepare
from runner.replay import Attempt, RunResult
from runner.running import begin, resume, run
from runner.sealing import seal
from runner.worlds.backends import try_styles
from runner.worlds.places import worlds_root
from tests.runner.scenario.benches import by_scenario, write_bench

SCENARIOS = """
    import subprocess

    def bench_works(workspace, agent):
        expect(workspace).to_have_file("generated.txt")
        agent.request("go")
        observe("count", len(workspace.changed()))
        agent.request("go on")
        said = subprocess.run(["git", "status", "--short"], cwd=workspace.path, capture_output=True).stdout
        bench.attach("log", said)
        (workspace.path / "graded.txt").write_text("by the scenario")
        observe("resolved", workspace.tests.passed() and workspace.read("lib/inner/a.txt") == "a")

    def bench_raises(workspace, agent, evaluation):
        agent.request("go")
        with evaluation() as env:
            observe("note", env.exec(["sh", "-c", "ls; cat lib/inner/a.txt"]).stdout)
        raise ValueError("so that the world is kept")
"""
FRESH = """
    @pytest.mark.evaluation("fresh", artifacts=["/workspace/new.txt"])
    def bench_fresh(workspace, agent, evaluation):
        agent.request("go")
        with evaluation() as env:
            observe("note", env.exec(["sh", "-c", "ls -R; cat new.txt; rm -r old gone; mkdir gone; ls gone"]).stdout)
        observe("count", len(workspace.changed()))
"""
SETUP = """
import os, subprocess, sys
def setup(world, cell):
    (world / "generated.txt").write_text("by setup")
    (world / "old" / "c.txt").unlink()
"""
AGENT = """Scripted([write("new.txt", "x"), steps.run("sh -c 'chmod 755 top.txt; touch kept.txt; mv old lib'"),
    steps.run("sh -c 'rm -r gone; mkdir gone; echo again > gone/b.txt; ln top.txt twin.txt; ln -s top.txt link'")])"""
WORLD = {
    "top.txt": "top",
    "kept.txt": "kept",
    "old/inner/a.txt": "a",
    "old/c.txt": "c",
    "gone/b.txt": "b",
    "gone/z": "z",
}


def bench(tmp_path: Path, environment: str) -> Path:
    folder = write_bench(
        tmp_path / "bench",
        {"s": SCENARIOS, **({"fresh": FRESH} if environment == "sandbox" else {})},
        agents=f'{{"mover": {AGENT}}}',
        world=WORLD,
        declare=f'environment="{environment}", setup=setup, workspace=Workspace(git=True, retain="failed")',
    )
    file = folder / "bench.py"
    file.write_text(SETUP + file.read_text())
    return folder


def style_here(folder: Path) -> str:
    """Which kind of overlay this machine can have; "" for none."""
    from runner.load import load_bench

    sealed = seal(load_bench(folder))
    assert sealed.world is not None
    return next((style for style, said in try_styles(sealed.world).items() if said in ("ok", "flat")), "")


def essence(attempt: Attempt) -> dict[str, object]:
    return {
        "ended": (attempt.state, attempt.fault, attempt.flags),
        "changes": {stage: record.blob for stage, record in attempt.changes.items()},
        "seen": {key: seen.value for key, seen in attempt.observations.items()},
        "artifacts": sorted((found.name, found.blob) for found in attempt.artifacts),
    }


def kept_files(folder: Path, result: RunResult, attempt: Attempt) -> dict[str, tuple[int, bytes | str]]:
    assert attempt.kept is not None
    root = folder / ".bench" / "runs" / result.manifest.run / attempt.kept.path
    paths = [path for path in sorted(root.rglob("*")) if ".git" not in path.parts]
    return {
        str(path.relative_to(root)): (
            path.lstat().st_mode,
            str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else "",
        )
        for path in paths
    }


@pytest.mark.parametrize("environment", ["local", "sandbox"])
def test_a_run_on_overlays_records_and_keeps_what_one_on_copies_does(tmp_path: Path, environment: str) -> None:
    folder = bench(tmp_path, environment)
    if not style_here(folder):
        with pytest.raises(EnvironmentRefused, match="kernel refuses"):
            prepare(folder, world="overlay")
        return
    copied, layered = run(folder, seed=1, world="copy"), run(folder, seed=1, world="overlay")
    assert (copied.manifest.host["world"], layered.manifest.host["world"]) == ("copy", "overlay")
    assert copied.manifest.cohort == layered.manifest.cohort
    ones, others = by_scenario(copied), by_scenario(layered)
    assert {name: essence(attempt) for name, attempt in ones.items()} == {
        name: essence(attempt) for name, attempt in others.items()
    }
    works, raises = others["s::works"], others["s::raises"]
    assert (works.state, raises.state, raises.fault) == ("scored", "eval_error", "evaluation")
    assert works.observations["resolved"].value is True
    assert set(works.changes) == {"agent", "evaluation"}
    assert not [issue for issue in (*works.issues, *raises.issues) if issue.code == "world"]
    if environment == "sandbox":
        assert "inner" in str(others["fresh"].observations["note"].value)
    assert kept_files(folder, copied, ones["s::raises"]) == kept_files(folder, layered, raises)
    assert not any((worlds_root() / result.manifest.run).exists() for result in (copied, layered))


def test_a_runner_killed_while_it_worked_on_an_overlay_leaves_no_mount_and_its_world_is_kept(tmp_path: Path) -> None:
    agents = """{"slow": Scripted([write("half.txt", "x"), steps.run("sh -c 'touch ../out/told; sleep 60'")])}"""
    scenario = {"s": "def bench_s(workspace, agent):\n    agent.request('go')\n"}
    folder = write_bench(tmp_path / "bench", scenario, agents=agents, world=WORLD)
    if not style_here(folder):
        return
    argv = [sys.executable, "-m", "runner", "run", str(folder), "--world", "overlay", "--workers", "1"]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        runs = folder / ".bench" / "runs"
        told = _wait_for(lambda: next(iter(worlds_root().glob("*/0-1/out/told")), None))
        process.send_signal(signal.SIGKILL)
    (run_dir,) = runs.iterdir()
    _wait_for(lambda: str(told.parents[1]) not in _mounts())
    assert list((told.parents[1] / "world").iterdir()) == []
    cancelled = threading.Event()
    cancelled.set()
    resume(run_dir, cancel=cancelled)
    kept = [event for event in read_events(run_dir) if event["type"] == "kept"]
    assert len(kept) == 1
    names = {path.name for path in (run_dir / kept[0]["path"]).iterdir()}
    assert names == {"readme.txt", "half.txt", "top.txt", "kept.txt", "old", "gone"}
    assert not told.parents[2].exists()


def _wait_for(look, seconds: float = 60):  # type: ignore[no-untyped-def]
    limit = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < limit
        time.sleep(0.02)
    return found


def _mounts() -> str:
    """Every mount of every process that can be asked."""
    said = []
    for file in Path("/proc").glob("[0-9]*/mountinfo"):
        with contextlib.suppress(OSError):
            said.append(file.read_text())
    return "".join(said)


def test_a_trial_that_cannot_mount_what_the_run_was_planned_with_has_a_copy_and_says_so(tmp_path: Path) -> None:
    folder = bench(tmp_path, "local")
    if not style_here(folder):
        return
    run_dir = begin(prepare(folder, world="overlay", seed=1))
    (sealed,) = (folder / ".bench" / "sealed").glob("*/workspace")
    os.chown(sealed / "top.txt", 12345, 12345)  # another user's: an overlay would show it so
    works = by_scenario(resume(run_dir))["s::works"]
    assert works.state == "scored"
    assert [issue.sentence for issue in works.issues if issue.code == "world"] == [
        "The world of this trial is a copy and no overlay: none can be had here any more."
    ]
