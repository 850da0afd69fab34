"""A copy is the template: bytes, modes, times, empty directories and odd names."""

from __future__ import annotations

import errno
import os
import signal
import stat
import threading
from pathlib import Path

import pytest

from runner.errors import BenchError
from runner.worlds import copying
from runner.worlds.copying import copy_world
from runner.worlds.tree import scan
from runner.worlds.walk import Fingerprint, fingerprint


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_copy_has_the_same_bytes_modes_times_and_empty_directories(template: Path, tmp_path: Path) -> None:
    (template / "readonly").write_text("x")
    (template / "readonly").chmod(0o444)
    (template / "group").write_text("x")
    (template / "group").chmod(0o666)
    os.utime(template / "README", ns=(1, 123_456_789_012_345_678))
    os.utime(template / "src", ns=(1, 223_456_789_012_345_678))
    target = tmp_path / "copy"
    copy_world(template, target)
    assert scan(target).hash == scan(template).hash
    assert (target / "empty").is_dir()
    for path in template.rglob("*"):
        made, asked = (target / path.relative_to(template)).lstat(), path.lstat()
        assert (stat.S_IMODE(made.st_mode), made.st_mtime_ns) == (stat.S_IMODE(asked.st_mode), asked.st_mtime_ns), path


def test_modes_survive_a_tight_umask(template: Path, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        copy_world(template, tmp_path / "copy")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "copy" / "src" / "run.sh").stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "copy" / "README").stat().st_mode) == stat.S_IMODE(
        (template / "README").stat().st_mode
    )


def test_odd_names_and_large_files_are_copied(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    names = [os.fsdecode(name) for name in (b"new\nline", b"\xff\xfe", b"sp ace", b'"quote"', "ü".encode())]
    for name in names:
        (source / name).write_bytes(name.encode("utf-8", "surrogateescape"))
    (source / "large").write_bytes(os.urandom(3 << 20))
    (source / "nothing").touch()
    copy_world(source, tmp_path / "copy")
    assert names_in(tmp_path / "copy") == sorted([*names, "large", "nothing"])
    assert (tmp_path / "copy" / "large").read_bytes() == (source / "large").read_bytes()


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes copy small worlds too, whatever threads other tests have left in this one."""
    monkeypatch.setattr(copying, "SHARED_FROM", 10)
    monkeypatch.setattr(threading, "active_count", lambda: 1)


@pytest.mark.usefixtures("two")
def test_two_processes_copy_what_one_copies(template: Path, tmp_path: Path) -> None:
    for number in range(60):
        (template / f"file{number}").write_text(str(number) * number)
    copied = copy_world(template, tmp_path / "copy")
    assert scan(tmp_path / "copy").hash == scan(template).hash
    found = {path: fingerprint((tmp_path / "copy" / path).lstat()) for path in scan(template).by_path}
    assert copied.prints == found
    assert len(found) > 64


def test_beside_threads_no_process_is_forked(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "SHARED_FROM", 1)
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("a fork beside a thread"))
    over = threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()
    try:
        copy_world(template, tmp_path / "copy")
    finally:
        over.set()
        other.join()
    assert scan(tmp_path / "copy").hash == scan(template).hash


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("killed", [False, True])
def test_a_failure_in_the_second_process_is_not_lost(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed: bool
) -> None:
    for number in range(60):
        (template / f"file{number}").write_text("x")
    here, really = os.getpid(), copying._copy_some

    def copy_some(jobs: list[copying._Job], umask: int) -> list[Fingerprint]:
        if os.getpid() != here and killed:
            os.kill(os.getpid(), signal.SIGKILL)
        return really(jobs, umask) if os.getpid() == here else really([*jobs, *jobs[:1]], umask)

    monkeypatch.setattr(copying, "_copy_some", copy_some)
    with pytest.raises(OSError, match="was killed" if killed else "File exists"):
        copy_world(template, tmp_path / "copy")


@pytest.mark.usefixtures("two")
def test_a_failure_in_the_first_process_ends_the_second(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(60):
        (template / f"file{number}").write_text("x")
    here = os.getpid()

    def copy_some(jobs: list[copying._Job], umask: int) -> list[Fingerprint]:
        if os.getpid() == here:
            raise OSError(errno.ENOSPC, "No space left on device")
        signal.pause()
        return []

    started, fork = list[int](), os.fork
    monkeypatch.setattr(os, "fork", lambda: started.append(pid := fork()) or pid)
    monkeypatch.setattr(copying, "_copy_some", copy_some)
    with pytest.raises(OSError, match="No space left"):
        copy_world(template, tmp_path / "copy")
    (second,) = started
    with pytest.raises(ProcessLookupError):
        os.kill(second, 0)


def test_no_template_is_an_empty_world(tmp_path: Path) -> None:
    copy_world(None, tmp_path / "world")
    assert names_in(tmp_path / "world") == []


def test_a_link_is_refused_and_not_followed(template: Path, tmp_path: Path) -> None:
    (template / "out").symlink_to("/etc/passwd")
    with pytest.raises(BenchError, match="neither a file nor a folder"):
        copy_world(template, tmp_path / "copy")


def test_sharing_blocks_is_tried_until_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the file system shares blocks every file is asked for, elsewhere the first alone."""
    source = tmp_path / "source"
    source.mkdir()
    for number in range(9):
        (source / f"{number}").write_bytes(bytes([number]) * 5000)
    answers: list[bool] = []
    really = copying._share
    monkeypatch.setattr(copying, "_share", lambda one, other: answers.append(really(one, other)) or answers[-1])
    copy_world(source, tmp_path / "copy")
    assert answers in ([False], [True] * 9)
    assert all((tmp_path / "copy" / f"{n}").read_bytes() == bytes([n]) * 5000 for n in range(9))
