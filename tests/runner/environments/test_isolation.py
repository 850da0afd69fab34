"""Isolation is proven: an agent that hunts and harms finds nothing and harms nothing, except where there is none."""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from runner.environments import cgroups, sandbox
from runner.environments.bubblewrap import DEVICES, own_network
from runner.errors import EnvironmentRefused
from runner.replay import Attempt, RunResult
from runner.running import resume, run
from runner.worlds.places import worlds_root
from tests.image import NAME
from tests.runner.scenario.benches import by_cell, write_bench

UNUSABLE = sandbox.unusable()
SCENARIO = """
    {mark}
    def bench_one(workspace, agent):
        agent.request("go", timeout=120)
        observe("resolved", workspace.tests.passed())
        bench.attach("found", workspace.read("found.json") if workspace.exists("found.json") else "null")
"""
AGENTS = """{
    "hunter": Command("{python} hunter.py"),
    "bomber": Command("sh bomb.sh"),
    "filler": Command("sh fill.sh"),
    "hog": Command("{python} -c 'x = bytearray(2**31)'"),
    "well": Scripted([write("done.txt", "x")]),
}"""
WORLD = {
    "hunter.py": Path(__file__).with_name("hunter.py").read_text(encoding="utf-8"),
    "bomb.sh": "b() { b | b & }; b; sleep 1\n",
    "fill.sh": "i=0; while :; do head -c 1000000 /dev/zero > f$i; i=$((i+1)); done\n",
}
HELD = 'limits=Limits(memory="256 MiB", processes=40, disk="16 MiB"), '
SHUT = "" if own_network() else 'network=Network("none", "none"), '
"""Where an open network would show the loopback, which the run then says, there is nothing to prove."""


@dataclass(frozen=True)
class Hunt:
    result: RunResult
    ended: dict[str, Attempt]
    found: dict[str, list[str]]
    left: str
    run_dir: Path


def _hunt(folder: Path, kind: str, declare: str, agents: list[str], mark: str, port: int) -> Hunt:
    home, left = folder / "home", f"left-by-{folder.name}-{kind}"
    home.mkdir(parents=True)
    (home / "canary.txt").write_text("CANARY-HOME")
    root = folder / "bench"
    other = worlds_root() / "01OTHER" / "1-1" / "world"
    aims = {
        "fixtures": str(root / "fixtures"), "journal": str(root / ".bench"), "worlds": str(worlds_root()),
        "home": str(home), "port": port, "abstract": f"canary-{port}", "left": left, "harms": kind != "local",
        "skipped": [sys.prefix, sys.base_prefix, str(Path(__file__).parents[3])],
    }  # fmt: skip
    write_bench(
        root, {"one": SCENARIO.format(mark=mark)}, agents=AGENTS,
        declare=f'matrix={{"agent": {agents}}}, environment="{kind}", timeouts=Timeouts(trial=120), {declare}',
        world={**WORLD, "aims.json": json.dumps(aims)},
    )  # fmt: skip
    for place, text in ((root / "fixtures", "FIXTURE"), (root / ".bench", "JOURNAL"), (other, "WORLD")):
        place.mkdir(parents=True, exist_ok=True)
        (place / "canary.txt").write_text(f"CANARY-{text}")
    result = run(root, workers=2)
    ended = by_cell(result)
    artifact = next(one for one in ended["hunter"].artifacts if one.name == "found")
    found = json.loads((root / ".bench" / "blobs" / artifact.blob[:2] / artifact.blob).read_bytes())
    return Hunt(result, ended, found, left, root / ".bench" / "runs" / result.manifest.run)


@pytest.fixture
def service() -> Iterator[int]:
    """A service on this machine, at a port of its loopback and at an abstract address."""

    def serve(listening: socket.socket) -> None:
        while True:
            try:
                with listening.accept()[0] as client:
                    client.sendall(b"CANARY-SERVICE")
            except OSError:
                return

    with socket.socket() as port, socket.socket(socket.AF_UNIX) as abstract:
        port.bind(("127.0.0.1", 0))
        abstract.bind(f"\0canary-{port.getsockname()[1]}")
        for one in (port, abstract):
            one.listen()
            threading.Thread(target=serve, args=(one,), daemon=True).start()
        yield port.getsockname()[1]
        for one in (port, abstract):
            one.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def hunts(tmp_path: Path, service: int, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("BENCHSITE_WORLDS", str(tmp_path / "worlds"))
    monkeypatch.setenv("CANARY", "CANARY-ENVIRONMENT")

    def hunt(kind: str, declare: str = "", agents: list[str] | None = None, mark: str = "") -> Hunt:
        return _hunt(tmp_path / kind, kind, declare, agents or ["hunter"], mark, service)

    return hunt


def _running(word: str) -> list[Path]:
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in file.read_bytes().split(b"\0"):
                found.append(file)
        except OSError:
            continue
    return found


def _harmed_nothing(hunt: Hunt) -> None:
    assert hunt.result.state == "finished"
    assert {name: attempt.state for name, attempt in hunt.ended.items()} == dict.fromkeys(hunt.ended, "scored")
    assert not _running(hunt.left), "what it left behind ended with its trial"
    assert all(Path("/dev", name).stat().st_mtime != 1 for name in DEVICES), "the machine's devices are as they were"
    assert [one.name for one in worlds_root().iterdir()] == ["01OTHER"]
    assert not [group for group in cgroups.left_behind() if hunt.result.manifest.run in group.name]


@pytest.mark.sandbox
@pytest.mark.skipif(bool(UNUSABLE), reason=f"The sandbox cannot be tested here: {UNUSABLE}")
def test_limits_end_what_breaks_them_and_the_trial_is_graded(hunts: object) -> None:
    """And in a sandbox the hunter finds nothing."""
    hunt = hunts("sandbox", HELD + SHUT, ["hunter", "bomber", "filler", "hog", "well"])  # type: ignore[operator]
    assert (hunt.found, hunt.result.manifest.isolation) == ({}, "sandbox")
    _harmed_nothing(hunt)
    limits = {"memory_limit", "processes_limit", "disk_limit"}
    flags = {name: limits & {*attempt.flags} for name, attempt in hunt.ended.items()}
    assert (flags["well"], flags["hunter"], flags["filler"]) == (set(), set(), {"disk_limit"})
    if cgroups.parents():
        assert (flags["bomber"], flags["hog"]) == ({"processes_limit"}, {"memory_limit"})
    assert all(attempt.observations["resolved"].value is True for name, attempt in hunt.ended.items()), "the suite ran"


def test_in_a_container_it_finds_nothing_and_harms_nothing(
    hunts: object, containers: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    hunt = hunts("container", HELD, ["hunter", "bomber", "filler"], f'@pytest.mark.environment(image="{NAME}")')  # type: ignore[operator]
    assert hunt.found == {}
    assert hunt.result.manifest.isolation == "container"
    assert re.fullmatch(r"container (podman|docker) \d[\w.+~-]*\w", hunt.result.manifest.harness["environment"])
    _harmed_nothing(hunt)
    assert hunt.result.manifest.plans[0]["held"]["image"].startswith("sha256:")
    assert "disk_limit" in hunt.ended["filler"].flags
    assert resume(hunt.run_dir).counts == {"scored": 3}
    monkeypatch.setenv("BENCHSITE_CONTAINERS", "none-of-them")
    with pytest.raises(EnvironmentRefused, match="install the package 'podman'"):
        resume(hunt.run_dir)


def test_on_the_machine_itself_it_finds_everything_and_the_run_says_that_there_is_no_isolation(hunts: object) -> None:
    hunt = hunts("local")  # type: ignore[operator]
    assert {"fixtures", "journal", "worlds", "home", "processes", "network"} <= set(hunt.found)
    assert hunt.result.manifest.isolation == "none"
    _harmed_nothing(hunt)
