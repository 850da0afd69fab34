"""A limit of disk is a wall where one can be had: no byte gets over it, the agent goes on, and the trial says so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runner import cleaning
from runner.environments import Needs, disk, sandbox
from runner.environments.disk import held_by
from runner.environments.limits import Resources
from runner.errors import BenchError
from runner.prepare import prepare
from runner.replay import Attempt
from runner.running import run
from runner.surroundings import limits_in_words
from runner.worlds.places import worlds_root
from tests.runner.scenario.benches import by_cell, write_bench

MB = 1 << 20
LIMIT = 4 * MB
UNUSABLE = sandbox.unusable()
pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(bool(UNUSABLE), reason=f"The sandbox cannot be tested here: {UNUSABLE}"),
]
FILL = "cat /dev/zero > {} 2>/dev/null; "
AGENTS = {
    "many": "i=0; while echo x > f$i; do i=$((i+1)); done 2>/dev/null; true",
    "large": f"{FILL.format('big')} {FILL.format('~/big')} {FILL.format('/tmp/big')} true",
    "sparse": f"truncate -s 3M hole; {FILL.format('big')} dd if=/dev/zero of=hole bs=64k conv=notrunc; true",
    "again": f"for i in 1 2 3; do {FILL.format('a')} rm a; done; {FILL.format('a')} {FILL.format('b')} rm a; "
    f"{FILL.format('c')} true",
    "killed": f"{FILL.format('big')} true",
    "well": "echo done > done.txt; ! touch /out/mine",
}
HELD = """
    import os, signal
    def held(top):
        return sum(os.lstat(os.path.join(above, name)).st_blocks * 512 for above, _, names in os.walk(top)
                   for name in names)
"""
SCENARIO = """
    def bench_one(workspace, agent):
        agent.request("go", timeout=120)
        root = workspace.path.parent
        observe("count", held(workspace.path) + held(root / "home") + held(root / "tmp"))
        observe("note", " ".join(sorted(workspace.changed())[:3]))
        if bench.axis("agent") == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        observe("resolved", workspace.tests.passed())
"""
CLEAN = """
    @pytest.mark.evaluation("fresh", artifacts=["/workspace/big"], fixtures=False)
    def bench_one(workspace, agent, evaluation):
        agent.request("go", timeout=120)
        agent.request("on", timeout=120)
        observe("count", held(workspace.path))
        if bench.axis("agent") == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        with evaluation() as env:
            size = "cat /dev/zero > more 2>/dev/null; cat big | wc -c"
            observe("note", env.exec(["sh", "-c", size], timeout=60).stdout)
"""


def _bench(folder: Path, scenario: str, agents: list[str], limits: str, **given: object) -> Path:
    commands = ", ".join(f'"{name}": Command({f"sh {name}.sh"!r})' for name in agents)
    scripts = {f"{name}.sh": AGENTS[name] for name in agents}
    declare = (
        f'environment="sandbox", network=Network("none", "none"), limits=Limits({limits}), retries=0, '
        f'suite="sh -c \'echo x > .suite\'", matrix={{"agent": {agents}}}, workspace=Workspace(retain="always")'
    )
    world = {**scripts, **given.pop("world", {})}  # type: ignore[dict-item]
    return write_bench(folder, {"one": HELD + scenario}, agents=f"{{{commands}}}", declare=declare, world=world)


def _ended(folder: Path, scenario: str, agents: list[str], world: str, kinds: tuple[str, ...]) -> dict[str, Attempt]:
    """Run them, and check what is true of each whatever it wrote."""
    result = run(_bench(folder, scenario, agents, f"disk={LIMIT}"), workers=2, world=world, seed=1)
    assert result.manifest.plans[0]["held"]["disk"] in kinds
    assert result.manifest.host["world"] == world
    ended = by_cell(result)
    assert {name: one.state for name, one in ended.items()} == {
        name: "run_error" if name == "killed" else "scored" for name in agents
    }
    for name, one in ended.items():
        assert one.kept, "the world is kept, though it went with its mount"
        kept = folder / ".bench" / "runs" / result.manifest.run / one.kept.path
        assert (kept / f"{name}.sh").read_text() == AGENTS[name]
        if name == "killed":
            assert 3 * MB < (kept / "big").stat().st_size <= LIMIT, "its process was killed, and it is kept whole"
    assert not list((worlds_root() / result.manifest.run).glob("*"))
    return ended


def test_no_agent_gets_over_the_limit_and_each_is_graded_and_flagged(tmp_path: Path) -> None:
    ended = _ended(tmp_path / "bench", SCENARIO, [*AGENTS], "copy", ("tmpfs",))
    held = {name: attempt.observations["count"].value for name, attempt in ended.items()}
    assert held.pop("well") < MB
    assert held.pop("many") > LIMIT // 2, "it had all the files that it may"
    assert held == dict.fromkeys(held, LIMIT), "to the byte"
    flags = {name: attempt.flags for name, attempt in ended.items()}
    assert flags == {**dict.fromkeys(AGENTS, ("disk_limit",)), "killed": (), "well": ()}
    assert ended["large"].observations["note"].value == "big", "its changes are as they would be anywhere"


def test_where_memory_is_too_small_an_image_holds_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large world is a layer on it, and a fresh evaluation has one of its own. Without root, or devices for images,
    there is only the watch."""
    monkeypatch.setattr(disk, "PART_OF_MEMORY", 1 << 40)
    walled = held_by(Resources(disk=LIMIT), "sandbox")[0] != "watched"
    agents = ["large", "killed"] if walled else ["large"]
    large = _ended(tmp_path / "bench", CLEAN, agents, "overlay", ("image", "watched"))["large"]
    assert large.flags == ("disk_limit", "disk_full"), "the verifier filled its own"
    held = large.observations["count"].value
    assert int(large.observations["note"].value) > LIMIT - MB, "what was collected is whole there"
    assert LIMIT - MB < held <= LIMIT if walled else held > LIMIT


def test_what_cannot_be_walled_is_watched_and_prepare_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Resources(disk=LIMIT)
    assert held_by(limits, "sandbox") == ("tmpfs", "")
    monkeypatch.setattr(disk, "tried", lambda kind: f"no {kind} here")
    assert held_by(limits, "sandbox")[0] == "watched"
    monkeypatch.setattr(disk, "PART_OF_MEMORY", 1 << 40)
    assert "more than a quarter of this machine's memory" in held_by(limits, "sandbox")[1]
    monkeypatch.setattr(disk, "parents", lambda: "a control group")
    assert "count against the trial's limit of memory" in held_by(Resources(MB, disk=LIMIT), "sandbox")[1]
    prepared = prepare(_bench(tmp_path / "bench", SCENARIO, ["well"], f"disk={LIMIT}"))
    assert prepared.manifest.plans[0]["held"]["disk"] == "watched"
    (told,) = [line for line in prepared.warnings if "disk" in line]
    assert "watched, which is no hard limit" in told
    assert limits_in_words(prepared.manifest.plans[0]) == "disk 4 MiB watched, which is no hard limit"
    assert sandbox.ENVIRONMENT.holding(Needs(limits=limits))["disk"] == "watched"
    (tmp_path / "bench" / "workspace" / "large.txt").write_bytes(bytes(LIMIT))
    with pytest.raises(BenchError, match=r"takes 4,2\d\d,\d+ bytes of disk, and Limits\(disk=...\) allows 4,194,304"):
        prepare(tmp_path / "bench")


def test_a_killed_runner_leaves_nothing_mounted_and_clean_removes_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The image's file lies with the world; its device is let go with the last process that saw it."""
    monkeypatch.setenv("BENCHSITE_WORLDS", str(tmp_path / "worlds"))
    kind = "tmpfs" if disk.tried("image") else "image"
    folder = _bench(tmp_path / "bench", SCENARIO, ["well"], f"disk={LIMIT}")
    (folder / "workspace" / "well.sh").write_text("sleep 600")
    chosen = f"import runner; from runner.environments import disk; disk.held_by = lambda *_: ({kind!r}, '')"
    code = f"{chosen}; runner.run({str(folder)!r})"
    runner = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[3], start_new_session=True)
    try:
        _until(lambda: any((tmp_path / "worlds").glob("0*/0-1/out/request-1.stdout")))
    finally:
        os.killpg(runner.pid, signal.SIGKILL)
        runner.wait()
    (place,) = (tmp_path / "worlds").glob("0*/0-1")
    assert (place / "disk.img").exists() is (kind == "image")
    assert str(place) not in Path("/proc/self/mountinfo").read_text()
    _until(lambda: not any(str(place).encode() in _backing(loop) for loop in Path("/sys/block").glob("loop*")))
    _until(lambda: any(left.kind == "world" for left in cleaning.left_behind()))
    assert all(not why for _, why in cleaning.clean())
    assert not place.exists()


def _backing(loop: Path) -> bytes:
    try:
        return (loop / "loop" / "backing_file").read_bytes()
    except OSError:
        return b""


def _until(came: object, seconds: float = 120) -> None:
    limit = time.monotonic() + seconds
    while not came():  # type: ignore[operator]
        assert time.monotonic() < limit
        time.sleep(0.02)
