"""A disk that fills up, a real one: the bench or its worlds lie on a tmpfs of 20 MB that bubblewrap mounts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runner import replay
from runner.digests import sha256_file
from runner.journal import Journal, read_events
from tests.runner.scenario.benches import WRITES, write_bench

ROOT = Path(__file__).parents[2]
EVIDENCE = """
    import os
    def bench_one(workspace, agent):
        agent.request("go")
        try:
            bench.attach("noise", os.urandom(300_000))
        except Exception:
            pass
        observe("resolved", workspace.exists("done.txt"))
"""
WORDY = """
    def bench_one(workspace, agent):
        agent.request("go")
        for number in range(300):
            observe("note", f"{number} " + "x" * 2000)
        observe("resolved", workspace.exists("done.txt"))
"""
SCENARIOS = {"blobs": EVIDENCE, "journal": WORDY, "worlds": EVIDENCE}

SLOW = 'Scripted([sleep(0.3), write("done.txt", "x")])'
"""Two worlds of 1.5 MB at one time do not fit into what is left of the disk, one does."""

# Runs inside, since the disk is gone with its mount: fill it nearly, run, look, make space, go on, look again.
INSIDE = """
import json, os, shutil, subprocess, sys
from pathlib import Path
disk, bench, out = map(Path, sys.argv[1:4])
small = disk / "bench"
if sys.argv[4] != "worlds":
    shutil.copytree(bench, small)
    bench = small
ballast, left = disk / "ballast", 2_500_000 if sys.argv[4] == "worlds" else 3_000_000
ballast.write_bytes(bytes(shutil.disk_usage(disk).free - left))
runner = [sys.executable, "-m", "runner", "run", str(bench), "--workers", "2"]
first = subprocess.run(runner, capture_output=True, text=True)
assert (bench / ".bench").is_dir(), first.stdout + first.stderr
shutil.copytree(bench / ".bench", out / "first")
ballast.unlink()
again = subprocess.run([*runner, "--resume", "latest"], capture_output=True, text=True)
shutil.copytree(bench / ".bench", out / "again")
ends = [(done.returncode, done.stdout, done.stderr) for done in (first, again)]
(out / "ends.json").write_text(json.dumps(ends))
"""


@pytest.mark.parametrize("what", SCENARIOS)
def test_a_full_disk_interrupts_the_run_and_nothing_is_lost(tmp_path: Path, what: str) -> None:
    world = {"large.txt": "y" * 1_500_000} if what == "worlds" else {}
    agents = f'{{"slow": {SLOW if what == "worlds" else WRITES}}}'
    folder = write_bench(tmp_path / "bench", {"one": SCENARIOS[what]}, declare="trials=12", agents=agents, world=world)
    disk, out = tmp_path / "disk", tmp_path / "out"
    disk.mkdir()
    out.mkdir()
    (code, stdout, stderr), (code_again, *_) = _within_a_small_disk(disk, folder, out, what)
    assert code == 3, stdout + stderr
    first = out / "first"
    (run_dir,) = (path for path in (first / "runs").iterdir() if path.name[0] != ".")
    assert stderr.count("\n") == 1
    assert stderr.startswith(f"The run {run_dir.name} was interrupted: The disk that holds {disk}")
    assert stderr.endswith(f"Free some space, then go on with: benchsite run --resume {run_dir.name}\n")
    _check_whole(first)
    before = replay.read(run_dir)
    assert before.state == "interrupted"
    assert set(before.counts) <= {"scored", "run_error", "cancelled", "not_run"}
    assert {a.fault for t in before.trials for a in t.attempts if a.state == "run_error"} <= {"lost"}
    _check_whole(out / "again")
    after = replay.read(out / "again" / "runs" / run_dir.name)
    assert (code_again, after.state, after.counts) == (0, "finished", {"scored": 12})
    scored = {t.planned.index: len(t.attempts) for t in before.trials if t.state == "scored"}
    assert all(len(after.trials[index].attempts) == count for index, count in scored.items()), "none ran twice"
    if what == "blobs":
        assert all(t.final and "noise" in [a.name for a in t.final.artifacts] for t in after.trials)


def test_what_an_agent_did_that_could_write_nothing_more_is_not_graded(tmp_path: Path) -> None:
    filler = """{"filler": Command("sh -c 'cat /dev/zero > filled; exit 1'")}"""
    folder = write_bench(tmp_path / "bench", {"one": EVIDENCE}, agents=filler, world={"a.txt": "a"})
    disk, out = tmp_path / "disk", tmp_path / "out"
    disk.mkdir()
    out.mkdir()
    for (code, _, stderr), name in zip(
        _within_a_small_disk(disk, folder, out, "worlds"), ("first", "again"), strict=True
    ):
        assert code == 3, stderr
        assert f"was interrupted: The disk that holds {disk}" in stderr
        (run_dir,) = (path for path in (out / name / "runs").iterdir() if path.name[0] != ".")
        run = replay.read(run_dir)
        assert run.state == "interrupted"
        assert {a.fault for t in run.trials for a in t.attempts if a.state == "run_error"} <= {"lost"}
        assert "scored" not in run.counts


def _within_a_small_disk(disk: Path, folder: Path, out: Path, what: str) -> list[tuple[int, str, str]]:
    bwrap = shutil.which("bwrap")
    assert bwrap is not None, "this test needs bubblewrap (on Debian: apt install bubblewrap)"
    worlds = disk / "worlds" if what == "worlds" else out.parent / "worlds"
    argv = [bwrap, "--dev-bind", "/", "/", "--size", str(20 << 20), "--tmpfs", str(disk), "--chdir", str(ROOT)]
    inside = [sys.executable, "-c", INSIDE, str(disk), str(folder), str(out), what]
    done = subprocess.run(
        [*argv, *inside], env={**os.environ, "BENCHSITE_WORLDS": str(worlds)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not worlds.exists() or not any(worlds.iterdir())
    ends: list[tuple[int, str, str]] = json.loads((out / "ends.json").read_text())
    return ends


def _check_whole(dot_bench: Path) -> None:
    """Every blob is what its name says, and every line of the journal is an event in its place."""
    blobs = [path for path in (dot_bench / "blobs").rglob("*") if path.is_file()]
    assert blobs
    assert all(sha256_file(path) == path.name for path in blobs)
    for run_dir in (dot_bench / "runs").iterdir():
        text = (run_dir / "events.jsonl").read_bytes()
        events = list(read_events(run_dir))
        assert text.endswith(b"\n")
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))


def test_a_journal_that_another_could_not_write_goes_on_in_its_order(tmp_path: Path) -> None:
    """The space held for the last words is given back, whoever closes the journal."""
    with Journal.open(tmp_path) as journal:
        assert (tmp_path / ".reserve").stat().st_size == 1 << 16
        journal.append("run.started", workers=1, load=0.0)
        journal.release()
        journal.append("run.finished", state="interrupted")
    assert [event["seq"] for event in read_events(tmp_path)] == [1, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["events.jsonl"]
