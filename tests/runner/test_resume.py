"""Runs that were cut short go on where they stopped, and only there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from runner.cancelling import standing
from runner.errors import BenchError, JournalError
from runner.journal import EVENTS, Journal, read_events
from runner.manifest import Manifest
from runner.prepare import prepare
from runner.replay import RunResult, read
from runner.running import begin, resume, run
from runner.worlds.places import worlds_root
from tests.runner.scenario.benches import write_bench

SLOW = """
    import time
    def bench_one(workspace, agent):
        agent.request("go")
        time.sleep(0.05)
        observe("resolved", True)
"""


def cancelled_run(folder: Path, after: int) -> Path:
    """Run until so many trials have ended, then cancel."""
    cancel, ended = threading.Event(), []

    def listen(event: dict[str, object]) -> None:
        if event["type"] == "trial.finished":
            ended.append(event)
        if len(ended) == after:
            cancel.set()

    result = run(folder, workers=1, on_event=listen, cancel=cancel)
    return folder / ".bench" / "runs" / result.manifest.run


def attempts(result: RunResult) -> list[int]:
    return [len(trial.attempts) for trial in result.trials]


def test_a_cancelled_run_goes_on_and_never_repeats_what_was_scored(tmp_path: Path) -> None:
    folder = write_bench(tmp_path / "bench", {"one": SLOW}, declare="trials=6")
    run_dir = cancelled_run(folder, after=2)
    before = read(run_dir)
    assert before.state == "cancelled"
    assert before.counts["scored"] >= 2
    after = resume(run_dir, workers=2)
    assert read(run_dir) == after
    assert (after.state, after.counts) == ("finished", {"scored": 6})
    scored = [trial.planned.index for trial in before.trials if trial.state == "scored"]
    assert all(len(after.trials[index].attempts) == 1 for index in scored)
    assert after.complete


def test_kill_9_of_the_runner_loses_only_running_trials(tmp_path: Path) -> None:
    """The real runner in a process of its own, killed without warning at several moments."""
    folder = write_bench(tmp_path / "bench", {"one": SLOW}, declare="trials=30")
    run_dir = begin(prepare(folder))
    script = f"from runner.running import resume; resume({str(run_dir)!r}, workers=2)"
    kept: dict[int, int] = {}
    for wanted in (3, 9, 15):
        process = subprocess.Popen([sys.executable, "-c", script])
        _until(partial(_enough, run_dir, wanted, process))
        assert standing(run_dir, "running") == "running"
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        _until(lambda: not _alive_below(run_dir))
        assert standing(run_dir, "running") == "interrupted"
        scored = {t.planned.index: len(t.attempts) for t in read(run_dir).trials if t.state == "scored"}
        assert kept.items() <= scored.items(), "what was scored stays as it was"
        assert len(scored) >= wanted
        kept = scored
    result = resume(run_dir, workers=2)
    assert (result.state, result.counts) == ("finished", {"scored": 30})
    assert all(len(result.trials[index].attempts) == count for index, count in kept.items())
    lost = [a for trial in result.trials for a in trial.attempts if a.fault == "lost"]
    assert len(lost) <= 2 * 3, "at most the trials that ran in the two workers"
    assert all(a.state == "run_error" for a in lost)
    assert not (worlds_root() / result.manifest.run).exists()


def _enough(run_dir: Path, wanted: int, process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is not None or sum(e.get("state") == "scored" for e in read_events(run_dir)) >= wanted


def _alive_below(run_dir: Path) -> list[str]:
    """Processes of the run, the server and its trials, that outlive the runner."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [path.parent.name] if str(run_dir).encode() in path.read_bytes() else []
        except OSError:
            continue
    return [pid for pid in found if pid != str(os.getpid())]


def _until(reached: object, limit: float = 60) -> None:
    assert callable(reached)
    end = time.monotonic() + limit
    while not reached():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def test_a_partial_last_line_is_cut_and_told(tmp_path: Path) -> None:
    folder = write_bench(tmp_path / "bench", {"one": SLOW}, declare="trials=3")
    run_dir = cancelled_run(folder, after=1)
    with (run_dir / EVENTS).open("ab") as file:
        file.write(b'{"seq": 999, "type": "obs')
    result = resume(run_dir, workers=1)
    assert result.counts == {"scored": 3}
    (repaired,) = [event for event in read_events(run_dir) if event["type"] == "journal.repaired"]
    assert repaired["cut"] == 25


def test_a_running_attempt_is_buried_as_lost_and_run_again(tmp_path: Path) -> None:
    folder = write_bench(tmp_path / "bench", {"one": SLOW})
    run_dir = begin(prepare(folder))
    with Journal.open(run_dir) as journal:
        journal.append("run.started", workers=1, load=0.0)
        journal.append("trial.started", trial=0, attempt=1, seed=1, worker=0)
    (trial,) = resume(run_dir).trials
    assert [(a.number, a.state, a.fault) for a in trial.attempts] == [
        (1, "run_error", "lost"),
        (2, "scored", None),
    ]


def test_a_finished_run_is_left_as_it_is(tmp_path: Path) -> None:
    folder = write_bench(tmp_path / "bench", {"one": SLOW})
    result = run(folder, workers=1)
    run_dir = folder / ".bench" / "runs" / result.manifest.run
    before = (run_dir / EVENTS).read_bytes()
    assert resume(run_dir).counts == {"scored": 1}
    assert (run_dir / EVENTS).read_bytes() == before


@pytest.mark.parametrize(("retries", "attempts_after"), [(0, 1), (1, 2)])
def test_errors_run_again_only_while_retries_are_left(tmp_path: Path, retries: int, attempts_after: int) -> None:
    folder = write_bench(tmp_path / "bench", {"one": SLOW}, declare=f"retries={retries}")
    run_dir = begin(prepare(folder))
    with Journal.open(run_dir) as journal:
        journal.append("run.started", workers=1, load=0.0)
        journal.append("trial.started", trial=0, attempt=1, seed=1, worker=0)
        journal.append("trial.finished", trial=0, attempt=1, state="run_error", fault="boot", reason="", seconds=1.0)
    (trial,) = resume(run_dir).trials
    assert len(trial.attempts) == attempts_after


CHANGES = {
    "template": lambda folder: (folder / "workspace" / "readme.txt").write_text("other"),
    "code": lambda folder: (folder / "tests" / "bench_one.py").write_text(
        "def bench_one(workspace, agent):\n    agent.request('other')\n"
    ),
    "suite": lambda folder: _swap(folder, '"{python} -c pass"', '"{python} -c 0"'),
    "schema": lambda folder: _swap(folder, "    count: int\n", "    count: float\n"),
}


def _swap(folder: Path, old: str, new: str) -> None:
    text = (folder / "bench.py").read_text()
    assert old in text
    (folder / "bench.py").write_text(text.replace(old, new))


@pytest.mark.parametrize("part", CHANGES)
def test_a_changed_definition_is_refused_and_the_part_named(tmp_path: Path, part: str) -> None:
    folder = write_bench(tmp_path / "bench", {"one": SLOW}, declare="trials=2")
    run_dir = begin(prepare(folder))
    CHANGES[part](folder)
    with pytest.raises(BenchError, match=rf"cannot go on: its bench has changed since \({part}\)"):
        resume(run_dir)
    assert not (run_dir / EVENTS).exists()


def test_name_readme_and_matrix_may_change(tmp_path: Path) -> None:
    folder = write_bench(tmp_path / "bench", {"one": SLOW})
    run_dir = begin(prepare(folder))
    (folder / "README.md").write_text("new words")
    _swap(folder, "1.0.0", "1.0.1")
    assert resume(run_dir).counts == {"scored": 1}


def test_a_run_made_elsewhere_is_refused(tmp_path: Path) -> None:
    folder = write_bench(tmp_path / "bench", {"one": SLOW})
    run_dir = begin(prepare(folder))
    manifest = Manifest.read(run_dir / "manifest.json").to_json() | {"sealed": None, "origin": "junit"}
    Manifest.from_json(manifest).write(run_dir / "manifest.json")
    with pytest.raises(JournalError, match="was not made by this runner"):
        resume(run_dir)


def test_an_agent_of_another_version_is_refused(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho tool 1.0\n")
    tool.chmod(0o755)
    declare = (
        f"agents={{'tool': Command('{tool}', version='{tool} --version')}}, matrix={{'agent': ['tool']}}, trials=4"
    )
    folder = write_bench(tmp_path / "bench", {"one": SLOW}, declare=declare)
    run_dir = cancelled_run(folder, after=1)
    tool.write_text("#!/bin/sh\necho tool 2.0\n")
    with pytest.raises(BenchError, match=r"its agent 'tool' was version '.*1\.0' and is '.*2\.0' now"):
        resume(run_dir)
