"""Driving runs: limits, retries, cancellation; with a fork server and without."""

from __future__ import annotations

import subprocess
import threading
import time
from pathlib import Path

import pytest

from runner.blobs import BlobStore
from runner.engine import LocalExecutor, TrialJob, drive
from runner.errors import AgentChanged, JournalError
from runner.jobs import trial_seed
from runner.journal import Event, Journal, read_events
from runner.prepare import Prepared, prepare
from runner.replay import Attempt, read
from runner.running import begin, resume, run
from runner.worlds.places import worlds_root
from tests.runner.scenario.benches import by_cell, write_bench
from tests.runner.test_hostile_agents import DAEMON, alive

ONE = """
    def bench_one(workspace, agent):
        reply = agent.request("go")
        observe("resolved", workspace.exists("done.txt"))
        observe("note", reply.text.strip()[:100])
"""


def test_siblings_never_mix_their_output(tmp_path: Path) -> None:
    scenario = """
        import sys
        def bench_one(workspace, agent):
            for number in range(2000):
                print(bench.axis("who"), number)
                print(bench.axis("who"), file=sys.stderr)
            observe("resolved", True)
    """
    folder = write_bench(
        tmp_path / "bench", {"one": scenario}, declare='matrix={"who": ["anna", "bert", "cleo"]}, trials=2'
    )
    result = run(folder, workers=4)
    blobs = BlobStore(folder / ".bench" / "blobs")
    for trial in result.trials:
        assert trial.final is not None
        who = result.manifest.cells[trial.planned.cell].axes["who"]
        logs = {artifact.name: blobs.read(artifact.blob).decode() for artifact in trial.final.artifacts}
        assert logs["scenario.stdout"] == "".join(f"{who} {number}\n" for number in range(2000))
        assert logs["scenario.stderr"] == f"{who}\n" * 2000


@pytest.mark.parametrize("fork", ["1", "0"])
def test_the_wall_limit_ends_a_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fork: str) -> None:
    monkeypatch.setenv("BENCHSITE_FORK", fork)
    scenario = """
        import time
        def bench_one(workspace, agent):
            if bench.axis("where") == "agent":
                agent.request("go")
            while True:
                time.sleep(1)
    """
    folder = write_bench(
        tmp_path / "bench",
        {"one": scenario},
        declare='matrix={"where": ["agent", "scenario"]}, timeouts=Timeouts(trial=5)',
        agents='{"looper": Scripted([write("done.txt", "x"), loop()])}',
    )
    ended = by_cell(run(folder, workers=2), "where")
    assert {(a.state, a.fault) for a in ended.values()} == {("run_error", "timeout")}
    assert ended["agent"].changes["agent"].counts["added"] == 1, "the record of a trial that ends itself is kept"
    assert ended["scenario"].kept is not None


FAILS_TWICE = """
import pathlib, sys
count = pathlib.Path(sys.argv[1])
tries = int(count.read_text()) + 1 if count.exists() else 1
count.write_text(str(tries))
sys.exit(127 if tries < 3 else 0)
"""


@pytest.mark.parametrize(("retries", "attempts", "state"), [(2, 3, "scored"), (1, 2, "run_error"), (0, 1, "run_error")])
def test_faults_of_the_machine_are_retried_and_every_attempt_kept(
    tmp_path: Path, retries: int, attempts: int, state: str
) -> None:
    folder = write_bench(
        tmp_path / "bench",
        {"one": "def bench_one(workspace, agent):\n    agent.request('go')\n"},
        declare=f"retries={retries}",
        agents=f'{{"shy": Command("{{python}} shy.py {tmp_path}/count")}}',
        world={"shy.py": FAILS_TWICE},
    )
    result = run(folder, workers=1)
    (trial,) = result.trials
    assert trial.state == state
    assert [attempt.number for attempt in trial.attempts] == list(range(1, attempts + 1))
    assert {attempt.fault for attempt in trial.attempts[:2]} == {"boot"}
    run_dir = folder / ".bench" / "runs" / result.manifest.run
    codes = [event["code"] for event in read_events(run_dir) if event["type"] == "trial.retried"]
    assert codes == ["boot"] * (attempts - 1)
    assert read(run_dir) == result, "what was folded while the run went on is what its journal says"


def test_a_cell_whose_first_three_trials_cannot_boot_is_stopped(tmp_path: Path) -> None:
    folder = write_bench(
        tmp_path / "bench",
        {"one": ONE},
        declare='matrix={"agent": ["broken", "worker"]}, trials=6',
        agents='{"broken": Command("./no-such-program"), "worker": Scripted([write("done.txt", "x")])}',
    )
    prepared = prepare(folder, probe=False)
    run_dir = begin(prepared)
    executor = LocalExecutor(run_dir)
    try:
        result = drive(run_dir, executor=executor, workers=1)
    finally:
        executor.close()
    broken = [t for t in result.trials if result.manifest.cells[t.planned.cell].axes["agent"] == "broken"]
    assert sorted(t.state for t in broken) == ["not_run"] * 3 + ["run_error"] * 3
    assert {t.final.fault for t in broken if t.final} == {"boot"}
    assert all("all ended alike (boot)" in t.reason for t in broken if t.state == "not_run")
    assert [*result.stopped.values()] == [next(t.reason for t in broken if t.state == "not_run")]
    assert result.counts["scored"] == 6
    assert read(run_dir) == result


def test_a_spent_budget_leaves_the_rest_unrun(tmp_path: Path) -> None:
    folder = write_bench(
        tmp_path / "bench",
        {"one": "def bench_one(workspace, agent):\n    agent.request('go')\n"},
        declare='trials=4, budget=Budget(total="$0.5", trial="$0.4")',
        agents='{"dear": Scripted([usage(cost=0.3)])}',
    )
    result = run(folder, workers=1)
    assert result.counts == {"scored": 2, "not_run": 2}
    assert {trial.reason for trial in result.trials if trial.state == "not_run"} == {
        "The run's budget of $0.5 was spent."
    }


def test_a_trial_over_its_own_budget_is_the_subjects_error(tmp_path: Path) -> None:
    folder = write_bench(
        tmp_path / "bench",
        {"one": "def bench_one(workspace, agent):\n    agent.request('go')\n    observe('resolved', True)\n"},
        declare='budget=Budget(trial="$0.1")',
        agents='{"dear": Scripted([usage(cost=0.3)])}',
    )
    (trial,) = run(folder, workers=1).trials
    assert trial.final is not None
    assert (trial.state, trial.final.fault, trial.final.usage.cost) == ("run_error", "budget", 0.3)
    assert not trial.final.observations


def test_an_unknown_cost_is_flagged_where_there_is_a_budget(tmp_path: Path) -> None:
    folder = write_bench(
        tmp_path / "bench",
        {"one": "def bench_one(workspace, agent):\n    agent.request('go')\n"},
        declare='budget=Budget(trial="$0.1")',
    )
    (trial,) = run(folder, workers=1).trials
    assert trial.final is not None
    assert trial.final.flags == ("budget_unenforced",)


@pytest.mark.parametrize("fork", ["1", "0"])
def test_cancelling_kills_what_runs_and_journals_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fork: str
) -> None:
    monkeypatch.setenv("BENCHSITE_FORK", fork)
    folder = write_bench(
        tmp_path / "bench",
        {"one": ONE},
        declare="trials=5",
        agents='{"hanger": Command("{python} daemon.py 600")}',
        world={"daemon.py": DAEMON},
    )
    cancel, names = threading.Event(), []

    def cancel_soon() -> None:
        """Once the agent's daemon runs, which is after its trial was started."""
        limit = time.monotonic() + 120
        while time.monotonic() < limit and not list(worlds_root().glob(f"{names[0]}/*/world/daemon.pid")):
            time.sleep(0.02)
        pids.extend(int(p.read_text() or 0) for p in worlds_root().glob(f"{names[0]}/*/world/daemon.pid"))
        cancel.set()

    pids: list[int] = []
    watcher = threading.Thread(target=cancel_soon)

    def prepared(plan: Prepared) -> None:
        names.append(plan.manifest.run)
        watcher.start()

    result = run(folder, workers=1, cancel=cancel, on_prepared=prepared)
    watcher.join()
    assert result.state == "cancelled"
    assert result.counts == {"cancelled": 5}
    started = [trial for trial in result.trials if trial.attempts]
    assert len(started) == 1
    assert started[0].final is not None
    assert started[0].final.kept is not None
    assert len(pids) == 1
    assert not alive(pids[0])
    assert not (worlds_root() / result.manifest.run).exists()


def test_events_reach_the_listener_in_the_journals_order(tmp_path: Path) -> None:
    folder = write_bench(tmp_path / "bench", {"one": ONE}, declare="trials=4")
    heard: list[int] = []
    run(folder, workers=4, on_event=lambda event: heard.append(event["seq"]))
    assert heard == sorted(heard)


def test_a_listener_that_raises_stops_the_run_as_interrupted(tmp_path: Path) -> None:
    folder = write_bench(tmp_path / "bench", {"one": ONE}, declare="trials=3")

    def listen(event: Event) -> None:
        if event["type"] == "observe":
            raise OSError("the listener's disk is full")

    with pytest.raises(OSError, match="disk is full"):
        run(folder, workers=1, on_event=listen)
    (run_dir,) = (folder / ".bench" / "runs").iterdir()
    assert list(read_events(run_dir))[-1]["state"] == "interrupted"


def test_fresh_processes_give_the_same_results_as_forks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = ONE + '        import random\n        observe("share", random.random())\n'
    folder = write_bench(tmp_path / "bench", {"one": scenario}, declare="trials=3")
    seen = []
    for fork in ("1", "0"):
        monkeypatch.setenv("BENCHSITE_FORK", fork)
        result = run(folder, workers=2, seed=7)
        seen.append([_essence(trial.final) for trial in result.trials])
    assert seen[0] == seen[1]


def _essence(attempt: Attempt | None) -> object:
    assert attempt is not None
    values = {key: observation.value for key, observation in attempt.observations.items()}
    changes = {stage: record.blob for stage, record in attempt.changes.items()}
    return attempt.state, attempt.outcome, attempt.flags, values, changes, attempt.requests[0].text


def test_an_executor_serves_others_and_leaves_the_journal_alone(tmp_path: Path) -> None:
    """What a worker on a queue does: one job, its events, no journal."""
    folder = write_bench(tmp_path / "bench", {"one": ONE})
    prepared = prepare(folder)
    run_dir = begin(prepared)
    executor = LocalExecutor(run_dir, workers=1)
    try:
        events = list(executor.execute(TrialJob(run_dir, 0, 1, trial_seed(prepared.manifest, 0))))
    finally:
        executor.close()
    assert (events[0]["type"], events[-1]["type"]) == ("trial.started", "trial.finished")
    assert events[-1]["outcome"] == "solved"
    assert not (run_dir / "events.jsonl").exists()
    assert not any("seq" in event for event in events)


def test_a_run_has_one_writer(tmp_path: Path) -> None:
    folder = write_bench(tmp_path / "bench", {"one": ONE})
    run_dir = begin(prepare(folder))
    executor = LocalExecutor(run_dir)
    try:
        with Journal.open(run_dir), pytest.raises(JournalError, match="being written by another process"):
            drive(run_dir, executor=executor)
    finally:
        executor.close()


TOOL = """#!/bin/sh
if [ "$1" = --version ]; then echo tool 1.0; exit; fi
if [ -e UPDATE ]; then sed 's/tool 1.0/tool 2.0/' "$0" > "$0.new"; chmod 755 "$0.new"; mv "$0.new" "$0"; fi
"""


@pytest.mark.parametrize("works", [True, False])
def test_a_version_that_changes_during_a_run_stops_it_and_names_both(tmp_path: Path, works: bool) -> None:
    """The agent updates itself while it works, or between two trials; a trial of both versions is measured anew."""
    tool, update = tmp_path / "tool", tmp_path / "update"
    tool.write_text(TOOL.replace("UPDATE", str(update)))
    tool.chmod(0o755)
    folder = write_bench(
        tmp_path / "bench",
        {"one": ONE},
        declare="trials=4",
        agents=f'{{"tool": Command("{tool}", version="{tool} --version")}}',
    )

    def listen(event: Event) -> None:
        if event["type"] == "trial.finished":
            update.touch()
            if not works:
                subprocess.run([tool], check=True)

    with pytest.raises(AgentChanged, match=r"its agent 'tool' was version 1\.0 when it began and is 2\.0 now"):
        run(folder, workers=1, on_event=listen)
    (run_dir,) = (folder / ".bench" / "runs").iterdir()
    result = read(run_dir)
    assert (result.state, result.counts) == ("interrupted", {"scored": 1, "run_error": 1, "not_run": 2})
    update.unlink()
    tool.write_text(TOOL)
    after = resume(run_dir, workers=1)
    assert after.counts == {"scored": 4}
    assert sorted(len(trial.attempts) for trial in after.trials) == [1, 1, 1, 2]


def test_editing_the_bench_while_it_runs_changes_nothing(tmp_path: Path) -> None:
    folder = write_bench(tmp_path / "bench", {"one": ONE}, declare="trials=2")

    def edit(event: Event) -> None:
        (folder / "tests" / "bench_one.py").write_text("raise SystemExit\n")
        (folder / "workspace" / "done.txt").write_text("already")

    result = run(folder, workers=1, on_event=edit)
    assert result.counts == {"scored": 2}
    assert {t.final.changes["agent"].counts["added"] for t in result.trials if t.final} == {1}
