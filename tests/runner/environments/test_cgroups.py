"""Control groups of version 2: moves and ends on the kernel's own, limits on files of the same names.

A kernel lends memory and processes to one version alone, so where version 1 has them there are only files to write to.
Where version 2 has them, every test of a limit runs on it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.environments import cgroups
from runner.environments.cgroups import Group, Parents


@pytest.fixture
def handing_on(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path | None]:
    """A real group of version 2 that hands a controller on; None where this user can make none."""
    base = cgroups._mounts().get("", ("", Path("/")))[1]
    folder, added = base / f"try-{os.getpid()}", []
    try:
        (name, *_) = (base / "cgroup.controllers").read_text().split()
        if name not in (base / "cgroup.subtree_control").read_text().split():
            (base / "cgroup.subtree_control").write_text(f"+{name}")
            added.append(name)
        folder.mkdir()
        (folder / "cgroup.subtree_control").write_text(f"+{name}")
    except (OSError, ValueError):
        yield None
        return
    monkeypatch.setattr(cgroups, "CONTROLLERS", (name,))
    yield folder
    folder.rmdir()
    for one in added:
        (base / "cgroup.subtree_control").write_text(f"-{one}")


def test_what_joins_a_group_of_version_2_ends_with_it(handing_on: Path | None) -> None:
    if handing_on is None:
        assert cgroups.parents() is None or cgroups.parents().version == 1
        return
    inner = handing_on / "inner"
    inner.mkdir()
    base = handing_on.parent
    found = cgroups._unified({"": f"/{handing_on.name}/inner"}, {"": ("/", base)})
    assert found is not None
    assert {*found.folders.values()} == {handing_on}, "the nearest above that hands it on"
    inner.rmdir()
    group = Group.made(found, "trial", None, None)
    argv = group.joining(["sh", "-c", "echo in; sleep 1000 & sleep 1000"])
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"in\n"
        (folder,) = group.places
        assert str(process.pid) in (folder / "cgroup.procs").read_text().split()
        group.close()
        assert process.wait() == -9
    assert not folder.exists(), "the kernel removes no group that anything lives in"


def test_limits_of_version_2_are_written_where_that_version_looks_for_them(tmp_path: Path) -> None:
    found = Parents(2, dict.fromkeys(("memory", "pids"), tmp_path))
    group = Group.made(found, "trial", 1 << 20, 5)
    (folder,) = group.places
    assert {file.name: file.read_text() for file in folder.iterdir()} == {
        "memory.max": "1048576", "memory.swap.max": "0", "pids.max": str(5 + cgroups.OURS),
    }  # fmt: skip
    assert group.reached() == ()
    (folder / "memory.events").write_text("low 0\nhigh 0\nmax 7\noom 1\noom_kill 1\noom_group_kill 0\n")
    (folder / "pids.events").write_text("max 0\n")
    assert group.reached() == ("memory",)
    (folder / "pids.events").write_text("max 3\n")
    assert group.reached() == ("processes",), "only what is new since"
