"""Agents that crash, hang, daemonise, kill what started them, flood their output, and name files oddly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runner import scheduling
from runner.blobs import BlobStore
from runner.journal import read_events
from runner.replay import Attempt, RunResult
from runner.running import run
from runner.worlds.changes import ChangeSet
from runner.worlds.places import worlds_root
from tests.runner.scenario.benches import by_cell, write_bench

ONE = """
    def bench_one(workspace, agent):
        reply = agent.request("go")
        observe("resolved", workspace.exists("done.txt"))
        observe("note", reply.text.strip()[:100])
"""
DAEMON = """
import os, sys, time
if os.fork():
    time.sleep(float(sys.argv[1]))
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
open("daemon.pid", "w").write(str(os.getpid()))
open("done.txt", "w").write("partly")
time.sleep(600)
"""
KILLER = """
import os, signal, sys, time
pid = os.getpid()
for step in range(int(sys.argv[1])):
    with open(f"/proc/{pid}/stat") as file:
        pid = int(file.read().rpartition(")")[2].split()[1])
open("killed.txt", "w").write(str(pid))
os.kill(pid, signal.SIGKILL)
time.sleep(60)
"""
NOISY = "import sys\nfor _ in range(4000): sys.stdout.write('x' * 19999 + chr(10))\nopen('done.txt', 'w').close()\n"
HOSTILE = """{
    "well": Scripted([write("done.txt", "x"), say("well")]),
    "crasher": Scripted([write("done.txt", "x"), crash(3)]),
    "hanger": Command("{python} daemon.py 600"),
    "leaver": Command("{python} daemon.py 0.2"),
    "killer": Command("{python} killer.py 2"),
    "noisy": Command("{python} noisy.py"),
    "odd": Command("sh odd.sh"),
}"""
ODD = r"""touch -- done.txt 'a b' '-n' "$(printf 'new\nline')" "$(printf 'bad\377byte')" "q'uote\""
mkdir -p 'd e'; echo x > 'd e/ü'
"""


DIED = "The trial's process died with the server that had started it (killed by signal 9; see server.log)."


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    agents = '["well", "crasher", "hanger", "leaver", "killer", "noisy", "odd"]'
    return write_bench(
        tmp_path_factory.mktemp("engine") / "bench",
        {"one": ONE},
        declare=f'matrix={{"agent": {agents}}}, timeouts=Timeouts(request=3, trial=60), '
        'workspace=Workspace(retain="always")',
        agents=HOSTILE,
        world={"daemon.py": DAEMON, "killer.py": KILLER, "noisy.py": NOISY, "odd.sh": ODD},
    )


@pytest.fixture(scope="module")
def result(folder: Path) -> RunResult:
    return run(folder, workers=2)


@pytest.fixture(scope="module")
def ended(result: RunResult) -> dict[str, Attempt]:
    return by_cell(result)


@pytest.fixture(scope="module")
def run_dir(folder: Path, result: RunResult) -> Path:
    return folder / ".bench" / "runs" / result.manifest.run


def test_an_agent_that_crashes_is_graded_and_flagged(ended: dict[str, Attempt]) -> None:
    assert (ended["crasher"].state, ended["crasher"].outcome, ended["crasher"].flags) == (
        "scored",
        "solved",
        ("exit_code",),
    )
    assert ended["crasher"].requests[0].exit_code == 3


def test_a_timed_out_agent_is_stopped_whole_and_graded(run_dir: Path, ended: dict[str, Attempt]) -> None:
    attempt = ended["hanger"]
    assert (attempt.state, attempt.outcome) == ("scored", "solved")
    assert "request_timeout" in attempt.flags
    assert attempt.requests[0].timed_out
    assert not alive(_daemon(run_dir, attempt))


def test_what_an_agent_leaves_running_ends_with_its_trial(run_dir: Path, ended: dict[str, Attempt]) -> None:
    assert ended["leaver"].state == "scored"
    assert not alive(_daemon(run_dir, ended["leaver"]))


def _daemon(run_dir: Path, attempt: Attempt) -> int:
    assert attempt.kept is not None
    return int((run_dir / attempt.kept.path / "daemon.pid").read_text())


def test_an_agent_that_kills_what_started_it_loses_its_own_trial_only(
    result: RunResult, ended: dict[str, Attempt]
) -> None:
    assert (ended["killer"].state, ended["killer"].fault) == ("run_error", "lost")
    assert result.state == "finished"
    assert all(ended[name].state == "scored" for name in ended if name != "killer")


def test_a_killed_server_is_started_again(tmp_path: Path) -> None:
    folder = write_bench(
        tmp_path / "bench",
        {"one": ONE},
        declare='matrix={"agent": ["killer", "worker"]}, trials=2',
        agents='{"killer": Command("{python} killer.py 3"), "worker": Scripted([write("done.txt", "x")])}',
        world={"killer.py": KILLER},
    )
    result = run(folder, workers=1)
    assert result.counts == {"run_error": 2, "scored": 2}
    assert {attempt.fault for attempt in by_cell(result).values()} == {"lost", None}


def test_a_run_whose_server_is_killed_by_every_trial_ends_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ended by itself in between would show that not all is lost; a start of the server takes a second, though."""
    monkeypatch.setattr(scheduling, "LOST", 1)
    kills = "import os, signal\n    def bench_one(agent):\n        agent.request('go')\n"
    kills += "        os.kill(os.getppid(), signal.SIGKILL)\n        signal.pause()\n"
    result = run(write_bench(tmp_path / "bench", {"one": f"\n    {kills}"}, declare="trials=4"), workers=1, seed=1)
    assert (result.state, result.counts) == ("finished", {"run_error": 2, "not_run": 2})
    lost, unrun = result.trials[result.manifest.order[0]], result.trials[result.manifest.order[-1]]
    assert lost.final
    assert (lost.final.fault, lost.final.reason) == ("lost", DIED)
    assert unrun.reason.startswith(f"The last 2 attempts were lost one after another, the last one so: {DIED} Find")


def test_an_attempt_that_ends_by_itself_shows_that_not_all_is_lost() -> None:
    losses, lost = scheduling.Losses(2), Attempt(1, 1, "run_error", fault="lost")
    assert not any(losses.ended(one) for one in [lost] * 6 + [Attempt(1, 1, "scored")] + [lost] * 6)
    assert "The last 7 attempts" in losses.ended(lost)


def test_huge_output_is_cut_in_the_middle(folder: Path, ended: dict[str, Attempt]) -> None:
    output = ended["noisy"].requests[0].output
    assert ended["noisy"].outcome == "solved"
    assert output is not None
    data = BlobStore(folder / ".bench" / "blobs").read(output)
    assert len(data) < 33 << 20
    assert "bytes left out" in data[16 << 20 : (16 << 20) + 100].decode()


def test_odd_names_reach_the_record(folder: Path, ended: dict[str, Attempt]) -> None:
    blob = BlobStore(folder / ".bench" / "blobs").read(ended["odd"].changes["agent"].blob)
    paths = ChangeSet.from_json(json.loads(blob)).paths()
    assert paths == ["-n", "a b", "bad\udcffbyte", "d e/ü", "done.txt", "new\nline", "q'uote\""]


def test_worlds_are_kept_exactly_and_nothing_else_is_left(
    run_dir: Path, result: RunResult, ended: dict[str, Attempt]
) -> None:
    assert not (worlds_root() / result.manifest.run).exists()
    for attempt in ended.values():
        assert attempt.kept is not None
        assert (run_dir / attempt.kept.path / "readme.txt").read_text() == "hello\n"


def test_the_journal_is_in_order_and_ends_well(run_dir: Path) -> None:
    events = list(read_events(run_dir))
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert (events[0]["type"], events[-1]["type"], events[-1]["state"]) == ("run.started", "run.finished", "finished")
    assert not [event for event in events if event["type"] in ("at", "exit")]
