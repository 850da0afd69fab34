"""Cancelling from another terminal: one trial, or the run; what was not asked for goes on."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from runner.cancelling import ASKED, cancel, is_driven
from runner.cli.places import runs_of
from runner.errors import RunnerError
from runner.journal import Event, read_events
from runner.planning import order
from runner.replay import read
from runner.running import resume
from tests.runner.cli.make import benchsite, command_line, environment
from tests.runner.scenario.benches import write_bench

SLOW = """
    def bench_one(workspace, agent):
        agent.request("go")
        observe("resolved", True)
"""


@contextmanager
def going(folder: Path, *options: object) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A run in a process of its own, once its first trial runs."""
    before = set(runs_of(folder))
    process = subprocess.Popen(
        command_line("run", folder, "--workers", 1, "--json", *options), env=environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process, until(lambda: begun(set(runs_of(folder)) - before))
    finally:
        process.kill()
        process.communicate()


def begun(runs: set[Path]) -> Path | None:
    return next((run_dir for run_dir in runs if started(run_dir)), None)


def until(found: Any, seconds: float = 60) -> Any:
    limit = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < limit, "waited in vain"
        time.sleep(0.02)
    return value


def started(run_dir: Path) -> list[int]:
    return [event["trial"] for event in read_events(run_dir) if event["type"] == "trial.started"]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Agents that wait for each other: `quick` ends at once, `hanger` would take ten minutes."""
    return write_bench(
        tmp_path_factory.mktemp("cancel") / "bench",
        {"one": SLOW},
        declare='matrix={"agent": ["hanger", "quick"]}, trials=2',
        agents='{"hanger": Scripted([sleep(600)]), "quick": Scripted([say("done")])}',
    )


def test_one_trial_that_runs_and_one_that_waits_are_cancelled_and_the_rest_goes_on(bench: Path) -> None:
    with going(bench) as (process, run_dir):
        manifest = read(run_dir).manifest
        hangers = [trial.index for trial in manifest.trials if manifest.cells[trial.cell].axes["agent"] == "hanger"]
        running = until(lambda: [index for index in started(run_dir) if index in hangers])[0]
        (waiting,) = [index for index in hangers if index != running]
        told = benchsite("cancel", run_dir, "--trial", waiting)
        assert told.returncode == 0, told.stderr
        assert told.stdout == f"Trial {waiting} ({manifest.where(waiting)}) was cancelled.\n"
        assert json.loads(benchsite("cancel", f"{run_dir}/{running}", "--json").stdout) == {
            "run": run_dir.name, "trial": running, "state": "cancelled",
        }  # fmt: skip
        out, err = process.communicate(timeout=60)
        assert process.returncode == 3, err
    ran = json.loads(out)
    assert (ran["state"], ran["counts"]) == ("finished", {"cancelled": 2, "scored": 2})
    result = read(run_dir)
    assert result.trials[running].reason == "It was cancelled while it ran."
    assert result.trials[waiting].reason == "It was cancelled before it ran."
    assert [len(result.trials[index].attempts) for index in (running, waiting)] == [1, 0]
    assert not list((run_dir / ASKED).iterdir())
    assert not is_driven(run_dir)
    ended = next(trial.planned.index for trial in result.trials if trial.state == "scored")
    for index in (None, ended):
        with pytest.raises(RunnerError, match=r"is not running: it is finished. There is nothing to cancel\."):
            cancel(run_dir, index)


def test_a_whole_run_is_cancelled_as_ctrl_c_would_and_goes_on_later(bench: Path) -> None:
    seen: list[Event] = []
    with going(bench, "--cell", "agent=hanger") as (process, run_dir):
        with pytest.raises(RunnerError, match=r"has no trial 7: its trials are 0 to 1"):
            cancel(run_dir, 7)
        assert cancel(run_dir).index is None
        process.communicate(timeout=60)
        assert process.returncode == 130
    assert read(run_dir).counts == {"cancelled": 2}
    (run_dir / ASKED / "0").touch()  # asked of a runner that is gone: the next one is not asked

    def stop(event: Event) -> None:
        seen.append(event)
        if event["type"] == "trial.started":
            (run_dir / ASKED / "run").touch()

    assert resume(run_dir, workers=1, on_event=stop).state == "cancelled"
    assert sum(event["type"] == "trial.started" for event in seen) == 1


def test_what_has_ended_already_and_a_runner_that_died_are_said(bench: Path) -> None:
    rows = ((0, 0, 0, 1, 0), (0, 0, 0, 2, 0), (1, 0, 0, 1, 0), (1, 0, 0, 2, 0))
    quick_first = next(seed for seed in range(100) if order(rows, seed)[0] > 1)
    with going(bench, "--seed", quick_first) as (process, run_dir):
        (ended,) = until(lambda: [e["trial"] for e in read_events(run_dir) if e["type"] == "trial.finished"])[:1]
        with pytest.raises(RunnerError, match=rf"Trial {ended} \(.*agent=quick.*\) has ended already: scored\."):
            cancel(run_dir, ended)
        process.kill()
        process.communicate()
    until(lambda: not is_driven(run_dir))
    with pytest.raises(RunnerError, match="is not running: it has no runner any more"):
        cancel(run_dir, 0)
