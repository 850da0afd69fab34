"""Limits of memory, processes and disk hold, are told when they are reached, and harm nothing beside the trial."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.environments import cgroups, limits, sandbox
from runner.environments.base import HIDDEN, KeptSession, Needs
from runner.environments.limits import DiskWatch, Resources, held_by
from runner.errors import EnvironmentRefused
from runner.processes import Done
from runner.worlds.places import Place

Opener = Callable[..., KeptSession]
MB = 1 << 20
UNUSABLE = sandbox.unusable()
pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(bool(UNUSABLE), reason=f"The sandbox cannot be tested here: {UNUSABLE}"),
]
HUNGRY = f"{sys.executable} -I -S -c 'x = bytearray(400 * 2**20)' && echo had it"


def run(session: KeptSession, place: Place, line: str, timeout: float = 20) -> tuple[Done, str]:
    out = place.out / "o"
    done = session.exec(["sh", "-c", line], env={}, stdout=out, stderr=out, timeout=timeout)
    return done, out.read_text(errors="replace")


def test_more_memory_than_allowed_is_not_had_and_the_sandbox_lives_on(opener: Opener, place: Place) -> None:
    session = opener("sandbox", Needs(limits=Resources(memory=64 * MB)))
    done, told = run(session, place, HUNGRY)
    assert "had it" not in told
    assert not done.ok
    assert done.over == (("memory",) if cgroups.parents() else ())
    assert run(session, place, "echo there")[0].over == ()
    assert run(session, place, "echo there")[1] == "there\n"


def test_a_fork_bomb_ends_with_its_trial_and_leaves_room_for_what_comes_after(opener: Opener, place: Place) -> None:
    session = opener("sandbox", Needs(limits=Resources(processes=20)))
    bomb = "b() { b | b & }; b; sleep 0.2"
    done, _ = run(session, place, bomb, timeout=60)
    assert done.over == (("processes",) if cgroups.parents() else ())
    assert run(session, place, "echo there")[1] == "there\n"
    count = "set -- /proc/[0-9]*; echo $#"  # without a fork: what is left of the bomb may hold the last room for one
    assert int(run(session, place, count)[1]) <= 22
    session.close()
    assert not [path for path in cgroups.left_behind() if place.root.name in path.name]


def test_a_full_disk_is_the_trials_own(opener: Opener, place: Place) -> None:
    session = opener("sandbox", Needs(limits=Resources(disk=8 * MB)))
    for folder in ("/tmp", "$HOME"):
        told = run(session, place, f"for i in 1 2 3; do head -c 4194304 /dev/zero > {folder}/$i || echo full; done")[1]
        assert "full" in told
    assert not run(session, place, "head -c 9000000 /dev/zero > big")[0].ok, "no file is larger than the limit"
    endless = "rm big; i=0; while :; do head -c 1000000 /dev/zero > f$i; i=$((i+1)); sleep 0.01; done"
    done, _ = run(session, place, f"({endless}) & wait")
    assert (done.over, done.timed_out, done.exit_code) == (("disk",), False, None)
    size = held_by(place.world)
    assert run(session, place, "rm f*; echo there")[1] == "there\n"
    assert held_by(place.world) < size, "what wrote it was ended, the background too"


def test_who_was_stopped_for_the_size_of_one_file_has_met_the_limit_of_disk(opener: Opener, place: Place) -> None:
    """Though a hole takes no room; agent, suite and verifier alike, each flagged by what is told of its command."""
    session = opener("sandbox", Needs(limits=Resources(disk=8 * MB)))
    stopped, _ = run(session, place, "exec truncate -s 9M hole")
    passed_on, _ = run(session, place, "truncate -s 9M hole; exit $?")
    assert (stopped.signal, stopped.over) == (signal.SIGXFSZ, ("disk",))
    assert (passed_on.exit_code, passed_on.over) == (128 + signal.SIGXFSZ, ("disk",))
    assert run(session, place, "truncate -s 8M hole")[0].over == ()
    unlimited = opener("local")
    assert run(unlimited, place, "exit 153")[0].over == ()


def test_where_disk_is_limited_no_space_is_had_without_writing_it(opener: Opener, place: Place) -> None:
    session = opener("sandbox", Needs(limits=Resources(disk=8 * MB)))
    assert "not supported" in run(session, place, "fallocate -l 1000000 reserved")[1]
    assert held_by(place.world) < MB
    code = "import ctypes; c = ctypes.CDLL(None, use_errno=True); print(c.syscall(425, 1, 0), ctypes.get_errno())"
    assert run(session, place, f"{sys.executable} -I -S -c '{code}'")[1] == f"-1 {errno.ENOSYS}\n", "nor by io_uring"
    code = 'import os; os.posix_fallocate(os.open("r", 66), 0, 100_000)'
    assert run(session, place, f"{sys.executable} -I -S -c '{code}'")[0].ok, "programs that ask for it go on by writing"
    assert held_by(place.world) >= 100_000


def test_what_takes_up_room_fast_is_looked_at_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no look that is due by itself: only the room that is gone makes this one, whoever else frees some."""
    monkeypatch.setattr("runner.environments.limits.LOOKED_EVERY", 1e9)
    watch, over = DiskWatch((tmp_path,), 4 * MB), tuple[str, ...]()
    for number in range(100):
        (tmp_path / str(number)).write_bytes(b"x" * MB)
        if over := watch():
            break
    assert over == ("disk",)
    assert held_by(tmp_path) > 4 * MB


def test_files_in_a_limited_home_are_seen_from_this_machine(opener: Opener, place: Place) -> None:
    session = opener("sandbox", Needs(limits=Resources(disk=8 * MB)))
    run(session, place, "echo hi > ~/said; echo ho > /tmp/said")
    assert (Path(session.home) / "said").read_text() == "hi\n"
    found = session.get("/tmp/said", place.out, 100)
    assert found.base.joinpath(*found.steps).read_text() == "ho\n"
    (Path(session.home) / "config").write_text("mine")
    assert run(session, place, f"cat {session.host_to_inside(Path(session.home) / 'config')}")[1] == "mine"


def test_each_limit_names_what_holds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    every = Needs(limits=Resources(memory=MB, processes=5, disk=MB))
    held = sandbox.ENVIRONMENT.holding(every)
    assert {"memory", "processes", "disk"} <= set(held)
    monkeypatch.setattr(sandbox, "parents", lambda: None)
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert "root is bound by a control group alone" in sandbox.ENVIRONMENT.refusal(every)
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    monkeypatch.setattr(limits.platform, "release", lambda: "6.1.0-13-amd64")
    assert sandbox.ENVIRONMENT.refusal(every) == ""
    assert sandbox.ENVIRONMENT.holding(every)["memory"] == "rlimit, of each process"
    monkeypatch.setattr(limits.platform, "release", lambda: "5.10.0")
    assert "from version 5.14 on" in sandbox.ENVIRONMENT.refusal(every)
    monkeypatch.setattr(sandbox, "knows_sizes", lambda: False)
    assert "bubblewrap 0.7" in sandbox.ENVIRONMENT.refusal(Needs(limits=Resources(disk=MB)))


def test_a_user_who_is_not_root_is_held_too() -> None:
    """With the system's Python and a copy of the runner, since nothing else of ours need be readable for everyone."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(Path(sandbox.__file__).parents[1], Path(folder) / "runner", ignore=lambda *_: ["__pycache__"])
        shutil.copyfile(Path(__file__).with_name("unprivileged.py"), Path(folder) / "script.py")
        (Path(folder) / "worlds").mkdir(mode=0o777)
        Path(folder).chmod(0o755)
        (Path(folder) / "worlds").chmod(0o777)
        user = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "BENCHSITE_WORLDS": f"{folder}/worlds", "PYTHONPATH": folder}
        argv = ["/usr/bin/python3", "-B", f"{folder}/script.py"]
        done = subprocess.run(argv, env=env, cwd="/", capture_output=True, text=True, check=False, **user)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
    assert {"memory", "processes", "disk"} <= set(told["held"])
    assert "had it" not in told["memory"]
    assert told["processes"] == "there\n"
    assert "full" in told["disk"][0]
    assert told["disk"][1] == "seen\n"
    assert told["low port"] == "led\n"
    assert ("tap0" in told["network"]) is (told["held"]["loopback"] == HIDDEN)
    assert f"CapEff:\t{'0' * 16}" in told["capabilities"]


def test_an_environment_without_limits_refuses_them(opener: Opener) -> None:
    with pytest.raises(EnvironmentRefused, match="cannot limit memory and disk"):
        opener("local", Needs(limits=Resources(memory=MB, disk=MB)))


def test_holes_and_hard_links_count_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 100_000)
    before = held_by(tmp_path)
    os.link(tmp_path / "a", tmp_path / "b")
    with (tmp_path / "hole").open("wb") as file:
        file.truncate(1 << 30)
    assert 100_000 <= before <= held_by(tmp_path) < before + 50_000
