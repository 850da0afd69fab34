"""`benchsite clean` removes what dead runners left, and nothing that lives.

Control groups are the whole machine's, so all that removes some stands in this one file."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runner.cleaning import Left, clean, left_behind
from runner.environments import cgroups, sandbox
from runner.environments.base import Needs
from runner.running import run
from runner.worlds.places import OWNER, Place, make_place, owned
from tests.runner.scenario.benches import DECLARATION, by_scenario, write_bench

DEAD = 4194304
UNUSABLE = sandbox.unusable()


@pytest.fixture
def worlds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHSITE_WORLDS", str(tmp_path / "worlds"))
    monkeypatch.setenv("BENCHSITE_CONTAINERS", "none-of-them")
    return tmp_path / "worlds"


def _of_the_dead(place: Place, run: Path | str = "") -> Place:
    owner = place.root / OWNER
    owner.unlink()
    owner.symlink_to(f"{DEAD} 1 {run}")
    (place.world / "file").write_bytes(b"x" * 100_000)
    return place


BREAKS = """
def breaks(path, cell):
    from runner.environments.base import KeptSession
    close = KeptSession.close

    def half(session):
        close(session)
        raise OSError(16, "Device or resource busy", "/sys/fs/cgroup/left")

    KeptSession.close = half
"""


def test_what_cannot_be_closed_is_recorded_with_the_trial_and_changes_no_verdict(tmp_path: Path) -> None:
    asked = """
        {mark}
        def bench_one(workspace, agent, evaluation):
            agent.request("go")
            with evaluation():
                observe("resolved", True)
    """
    modes = {mode: asked.format(mark=f'@pytest.mark.evaluation("{mode}")') for mode in ("none", "reuse")}
    folder = write_bench(tmp_path / "bench", modes, declare="suite='', setup=breaks", schema=DECLARATION + BREAKS)
    for attempt in by_scenario(run(folder)).values():
        assert (attempt.state, attempt.outcome) == ("scored", "solved"), attempt.reason
        (told,) = [issue for issue in attempt.issues if issue.code == "cleanup"]
        assert "An environment could not be closed whole" in told.sentence
        assert "/sys/fs/cgroup/left" in told.sentence


def test_worlds_of_the_dead_go_and_those_of_the_living_stay(worlds: Path, tmp_path: Path) -> None:
    mine = make_place("01MINE", 1, 1)
    dead = _of_the_dead(make_place("01DEAD", 1, 1))
    driven = tmp_path / "run"
    driven.mkdir()
    (driven / "events.jsonl").touch()
    between = _of_the_dead(make_place("01BETWEEN", 1, 1, owned(driven)), driven)
    nameless = make_place("01OLD", 1, 1)
    (nameless.root / OWNER).unlink()
    with (driven / "events.jsonl").open("rb") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        assert [(left.kind, left.name) for left in left_behind()] == [("world", str(dead.root))]
    os.utime(nameless.root, (time.time() - 90_000,) * 2)
    names = {str(place.root) for place in (dead, between, nameless)}
    assert {left.name for left, _ in clean(dry_run=True)} == names
    assert all(Path(name).is_dir() for name in names), "a dry run removes nothing"
    assert {trouble for _, trouble in clean()} == {""}
    assert not any(Path(name).exists() for name in names)
    assert mine.world.is_dir()
    assert left_behind() == []


@pytest.mark.sandbox
@pytest.mark.skipif(bool(UNUSABLE), reason=f"The sandbox cannot be tested here: {UNUSABLE}")
def test_a_sandbox_that_outlived_its_runner_is_ended_before_its_world_goes(worlds: Path) -> None:
    place = make_place("01DEAD", 1, 1)
    session = sandbox.ENVIRONMENT.open(place, Needs())
    try:
        assert left_behind() == [], "its owner lives"
        _of_the_dead(place)
        found = clean()
        assert [left.kind for left, trouble in found if not trouble] == ["sandbox", "world"]
        assert found[0][0] == Left("sandbox", str(session._keeper.pid))
        assert not place.root.exists()
    finally:
        session.close()


def test_a_group_whose_runner_is_gone_is_found_and_removed(worlds: Path) -> None:
    found = cgroups.parents()
    if found is None:  # then limits fall to the kernel's own of a process, or are refused: see above
        assert cgroups.left_behind() == []
        return
    own = cgroups.Group.made(found, "own", None, 10)
    stale = [folder / "benchsite-4194304-1-stale" for folder in dict.fromkeys(found.folders.values())]
    try:
        for folder in stale:
            folder.mkdir()
        left = cgroups.left_behind()
        assert set(stale) <= set(left)
        assert not set(own.places) & set(left)
        assert {trouble for _, trouble in clean()} == {""}
        assert not [folder for folder in stale if folder.exists()]
    finally:
        own.close()


def test_the_command_says_what_it_did(worlds: Path) -> None:
    def benchsite(*words: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "runner", "clean", *words], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout

    assert benchsite() == (0, "Nothing was left behind.\n")
    dead = _of_the_dead(make_place("01DEAD", 1, 1))
    assert benchsite("--dry-run") == (0, f"would remove the world {dead.root} (0.1 MB)\n")
    code, said = benchsite("--json")
    row = json.loads(said)["left"][0]
    assert (code, row["kind"], row["name"], row["removed"], row["trouble"]) == (0, "world", str(dead.root), True, "")
    assert not dead.root.exists()
