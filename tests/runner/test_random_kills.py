"""The runner, or its server, is killed at moments that a seed chooses; in the end the result is that of a calm run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from runner import keeper
from runner.journal import read_events
from runner.prepare import prepare
from runner.replay import RunResult, read
from runner.running import begin, resume, run
from runner.worlds.places import worlds_root
from tests.runner.scenario.benches import write_bench

SCENARIO = """
    import random

    def bench_one(workspace, agent):
        agent.request("go")
        observe("resolved", workspace.exists("done.txt"))
        observe("share", random.random())

    def bench_two(workspace, agent):
        expect(bench.axis("agent")).to_equal("quick")
        agent.request("go")
        observe("count", len(workspace.changed()))
"""
AGENTS = '{"quick": Scripted([write("done.txt", "x")]), "slow": Scripted([sleep(0.03), write("other.txt", "x")])}'
TRIALS = 2 * 2 * 5
SERVER, RUNNER = "server", "runner"
KILLS = (RUNNER, SERVER, RUNNER, SERVER, RUNNER)


def essence(result: RunResult) -> dict[int, object]:
    """What a trial is, apart from its times: the same whatever was killed on the way."""
    return {
        trial.planned.index: (
            trial.state,
            trial.final and trial.final.outcome,
            trial.final and {key: seen.value for key, seen in trial.final.observations.items()},
            trial.final and {stage: record.blob for stage, record in trial.final.changes.items()},
            trial.final and len(trial.final.requests),
        )
        for trial in result.trials
    }


def test_whatever_is_killed_and_when_the_result_is_that_of_an_undisturbed_run(tmp_path: Path) -> None:
    folder = write_bench(
        tmp_path / "bench", {"s": SCENARIO}, declare='matrix={"agent": ["quick", "slow"]}, trials=5', agents=AGENTS
    )
    calm = run(folder, workers=2, seed=11)
    begun = (_much_disturbed(folder) for _ in range(5))  # on a busy machine a run is over before it was killed enough
    run_dir = next(filter(None, begun), None)
    assert run_dir, "the run must not be over before it was disturbed"
    result = resume(run_dir, workers=2)
    assert (result.state, len(result.trials)) == ("finished", TRIALS)
    assert essence(result) == essence(calm)
    _check_journal(run_dir, result)
    assert not (worlds_root() / result.manifest.run).exists()


def _much_disturbed(folder: Path) -> Path | None:
    """Begin a run and kill what runs it again and again; gives it when that met it alive often enough."""
    run_dir = begin(prepare(folder, seed=11))
    chance = random.Random(20)
    finished: dict[int, int] = {}
    killed = 0
    for victim in KILLS:
        killed += _disturbed(run_dir, victim, after=chance.randint(3, 30), pause=chance.random() * 0.02)
        now = {t.planned.index: len(t.attempts) for t in read(run_dir).trials if t.state in ("scored", "excluded")}
        assert finished.items() <= now.items(), "what had ended is never run again"
        finished = now
    return run_dir if killed >= 3 else None


def _disturbed(run_dir: Path, victim: str, after: int, pause: float) -> bool:
    """Let the runner go on until so many more events are written, then kill it or its server; was it still there?"""
    before = _lines(run_dir)
    script = f"from runner.running import resume; resume({str(run_dir)!r}, workers=2)"
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    while process.poll() is None and _lines(run_dir) < before + after:
        time.sleep(0.002)
    time.sleep(pause)
    servers = [pid for pid, _ in keeper.descendants(process.pid) if _is_server(pid, run_dir)]
    targets = servers[:1] if victim == SERVER else [process.pid]
    alive = process.poll() is None and bool(targets)
    for pid in targets if alive else []:
        os.kill(pid, signal.SIGKILL)
    process.wait(timeout=60)
    while any(_is_server(int(path.name), run_dir) for path in Path("/proc").glob("[0-9]*")):
        time.sleep(0.005)  # the server of a dead runner ends what it started, then itself
    return alive


def _lines(run_dir: Path) -> int:
    path = run_dir / "events.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _is_server(pid: int, run_dir: Path) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return b"--serve" in words and str(run_dir).encode() in words


def _check_journal(run_dir: Path, result: RunResult) -> None:
    events = list(read_events(run_dir))
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    begun = [(e["trial"], e["attempt"]) for e in events if e["type"] == "trial.started"]
    ended = [(e["trial"], e["attempt"]) for e in events if e["type"] == "trial.finished"]
    assert len(set(begun)) == len(begun), "no attempt began twice"
    assert sorted(ended) == sorted(begun), "every attempt ended once"
    assert {trial for trial, _ in ended} == set(range(TRIALS)), "no trial was lost"
    for trial in result.trials:
        assert [attempt.number for attempt in trial.attempts] == list(range(1, len(trial.attempts) + 1))
        assert {attempt.fault for attempt in trial.attempts[:-1]} <= {"lost"}
