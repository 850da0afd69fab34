"""Copying a world as quickly as the kernel lets us: no subprocess, no path objects, little of it in this process."""

from __future__ import annotations

import errno
import os
import stat
import threading
from dataclasses import dataclass, field
from pathlib import Path

from runner.errors import BenchError

from .clock import clock_of
from .walk import Fingerprint, fingerprint

THREADS_FROM = 400
"""Files from which a second thread pays: a copy is mostly spent in the kernel, where threads run side by side."""

_Job = tuple[str, str, str, os.stat_result]
"""Path below the root, source, target, the source's status."""


@dataclass
class Copied:
    """What a copy left behind: with it a baseline knows which files nobody touched since."""

    source: Path | None
    fingerprints: dict[str, Fingerprint] = field(default_factory=dict)
    clock: int = 0
    """The file system's time when the copy ended."""


def copy_world(source: Path | None, target: Path) -> Copied:
    """Copy a folder with modes, mtimes in ns and empty directories; None is the empty world. Links are refused."""
    target.mkdir(exist_ok=True)
    if source is None:
        return Copied(None, {}, clock_of(target))
    copied = Copied(source)
    jobs: list[_Job] = []
    folders: list[tuple[str, os.stat_result]] = []
    _list(os.fspath(source), os.fspath(target), "", jobs, folders)
    _copy_all(jobs, copied.fingerprints)
    for path, status in reversed(folders):
        os.chmod(path, stat.S_IMODE(status.st_mode))  # noqa: PTH101
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    copied.clock = clock_of(target)
    return copied


def _list(source: str, target: str, prefix: str, jobs: list[_Job], folders: list[tuple[str, os.stat_result]]) -> None:
    """Make the directories and note the files. Modes and times of directories wait: writing below changes them."""
    below = []
    with os.scandir(source) as entries:
        for entry in entries:
            name, status = entry.name, entry.stat(follow_symlinks=False)
            job = (prefix + name, f"{source}/{name}", f"{target}/{name}", status)
            if stat.S_ISREG(status.st_mode):
                jobs.append(job)
            elif stat.S_ISDIR(status.st_mode):
                below.append(job)
            else:
                raise BenchError("It is neither a file nor a folder, so it cannot be part of a world.", file=job[1])
    for path, inner_source, inner_target, status in below:
        os.mkdir(inner_target, 0o700)  # noqa: PTH102
        folders.append((inner_target, status))
        _list(inner_source, inner_target, path + "/", jobs, folders)


def _copy_all(jobs: list[_Job], fingerprints: dict[str, Fingerprint]) -> None:
    if len(jobs) < THREADS_FROM:
        return _copy_some(jobs, fingerprints)
    half, failed = len(jobs) // 2, list[BaseException]()

    def other_half() -> None:
        try:
            _copy_some(jobs[half:], fingerprints)
        except BaseException as error:
            failed.append(error)

    other = threading.Thread(target=other_half)
    other.start()
    try:
        _copy_some(jobs[:half], fingerprints)
    finally:
        other.join()
    if failed:
        raise failed[0]


def _copy_some(jobs: list[_Job], fingerprints: dict[str, Fingerprint]) -> None:
    for path, source, target, status in jobs:
        fingerprints[path] = _copy_file(source, target, status)


def _copy_file(source: str, target: str, status: os.stat_result) -> Fingerprint:
    mode = stat.S_IMODE(status.st_mode)
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode | 0o200)
        try:
            _copy_bytes(reading, writing, status.st_size)
            os.utime(writing, ns=(status.st_atime_ns, status.st_mtime_ns))
            made = os.fstat(writing)
            if stat.S_IMODE(made.st_mode) != mode:  # the umask took bits away, or the file is read-only
                os.fchmod(writing, mode)
                made = os.fstat(writing)
            return fingerprint(made)
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _copy_bytes(reading: int, writing: int, size: int) -> None:
    """Let the kernel copy (it shares blocks where the file system can); small files are cheaper by hand."""
    if 0 < size <= 16384:
        data = os.read(reading, size + 1)
        if len(data) == size:
            os.write(writing, data)
            return
        os.lseek(reading, 0, os.SEEK_SET)
    while True:
        try:
            if os.copy_file_range(reading, writing, max(size, 1 << 16)) == 0:
                return
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
                raise
            break
    while os.sendfile(writing, reading, None, 1 << 24):
        pass
