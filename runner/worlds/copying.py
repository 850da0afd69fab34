"""Copying a world as quickly as the kernel lets us: no subprocess, no path objects, little of it in this process."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import threading
from dataclasses import dataclass, field

from runner.errors import BenchError
from runner.paths import StrPath

from .clock import clock_of

THREADS_FROM = 400
"""Files from which a second thread pays: a copy is mostly spent in the kernel, where threads run side by side."""

SMALL = 1 << 16
"""Bytes up to which reading and writing is cheaper than asking the kernel to copy."""

FICLONE = 0x40049409
"""Ask a file system to let two files share their blocks until one is written to: btrfs, XFS, bcachefs do."""

_Job = tuple[str, str, os.stat_result]
"""Source, target, the source's status."""


@dataclass
class Copied:
    """What a copy left behind: with it a baseline knows which files nobody touched since."""

    source: StrPath | None
    statuses: dict[str, os.stat_result] = field(default_factory=dict)
    """Of each file in the source: the copy has the same size, mode and mtime."""
    clock: int = 0
    """The file system's time when the copy ended: whatever was touched later has a later ctime."""
    alone: bool = False
    """Nobody was there since: neither a setup of the bench nor an agent."""


def copy_world(source: StrPath | None, target: StrPath, umask: int | None = None) -> Copied:
    """Copy a folder with modes, mtimes in ns and empty directories; None is the empty world. Links are refused.

    `umask` is that of this process, where it is known."""
    if not os.path.isdir(target):  # noqa: PTH112
        os.mkdir(target)  # noqa: PTH102
    if source is None:
        return Copied(None, {}, clock_of(target))
    copied = Copied(source)
    jobs: list[_Job] = []
    folders: list[tuple[str, os.stat_result]] = []
    _list(os.fspath(source), os.fspath(target), "", jobs, folders, copied.statuses)
    _copy_all(jobs, read_umask() if umask is None else umask)
    for path, status in reversed(folders):
        os.chmod(path, stat.S_IMODE(status.st_mode))  # noqa: PTH101
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    copied.clock = clock_of(target)
    return copied


def _list(
    source: str,
    target: str,
    prefix: str,
    jobs: list[_Job],
    folders: list[tuple[str, os.stat_result]],
    statuses: dict[str, os.stat_result],
) -> None:
    """Make the directories and note the files. Modes and times of directories wait: writing below changes them."""
    below = []
    with os.scandir(source) as entries:
        for entry in entries:
            name, status = entry.name, entry.stat(follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                jobs.append((f"{source}/{name}", f"{target}/{name}", status))
                statuses[prefix + name] = status
            elif stat.S_ISDIR(status.st_mode):
                below.append((name, status))
            else:
                raise BenchError("It is neither a file nor a folder; a world has no other.", file=f"{source}/{name}")
    for name, status in below:
        os.mkdir(f"{target}/{name}", 0o700)  # noqa: PTH102
        folders.append((f"{target}/{name}", status))
        _list(f"{source}/{name}", f"{target}/{name}", f"{prefix}{name}/", jobs, folders, statuses)


def _copy_all(jobs: list[_Job], umask: int) -> None:
    if len(jobs) < THREADS_FROM:
        return _copy_some(jobs, umask)
    half, failed = len(jobs) // 2, list[BaseException]()

    def other_half() -> None:
        try:
            _copy_some(jobs[half:], umask)
        except BaseException as error:
            failed.append(error)

    other = threading.Thread(target=other_half)
    other.start()
    try:
        _copy_some(jobs[:half], umask)
    finally:
        other.join()
    if failed:
        raise failed[0]


def _copy_some(jobs: list[_Job], umask: int) -> None:
    """One long loop: at thousands of files a call costs as much as the system calls it makes."""
    open_, read, write, close, utime = os.open, os.read, os.write, os.close, os.utime
    reading_flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    writing_flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    taken_away = umask | 0o6000  # writing to a file takes setuid away, too
    sharing = True
    for source, target, status in jobs:
        size, mode = status.st_size, status.st_mode & 0o7777
        reading = open_(source, reading_flags)
        try:
            writing = open_(target, writing_flags, mode | 0o200)
            try:
                sharing = sharing and (size == 0 or _share(reading, writing))
                if not sharing and size <= SMALL:
                    data = read(reading, SMALL + 1)
                    if write(writing, data) != size:
                        raise OSError(errno.EIO, "It changed while it was copied", source)
                elif not sharing:
                    _copy_bytes(reading, writing, size)
                utime(writing, ns=(status.st_atime_ns, status.st_mtime_ns))
                if mode & taken_away or not mode & 0o200:
                    os.fchmod(writing, mode)
            finally:
                close(writing)
        finally:
            close(reading)


def _share(reading: int, writing: int) -> bool:
    """Where this is refused once it is for all files of a world; whatever the reason, copying says it again."""
    try:
        fcntl.ioctl(writing, FICLONE, reading)
    except OSError:
        return False
    return True


def read_umask() -> int:
    """Read the umask without setting it, which would change it for other threads for a moment."""
    descriptor = os.open("/proc/self/status", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _, found, rest = os.read(descriptor, SMALL).partition(b"\nUmask:")
    finally:
        os.close(descriptor)
    return int(rest.split(None, 1)[0], 8) if found else 0o777


def _copy_bytes(reading: int, writing: int, size: int) -> None:
    """Let the kernel copy: where the file system can, it shares the blocks."""
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
