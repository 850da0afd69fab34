"""Copying a world as quickly as the kernel lets us: no subprocess, no path objects, little of it in this process."""

from __future__ import annotations

import errno
import fcntl
import os
import pickle
import signal
import stat
import threading
from dataclasses import dataclass, field
from typing import NoReturn

from runner.errors import BenchError
from runner.paths import StrPath
from runner.processes import die_with_parent

from .clock import clock_of
from .walk import Fingerprint, fingerprint

SHARED_FROM = 400
"""Files from which a second process pays: a copy is mostly spent in the kernel, where two run side by side."""

SMALL = 1 << 16
"""Bytes up to which reading and writing is cheaper than asking the kernel to copy."""

FICLONE = 0x40049409
"""Ask a file system to let two files share their blocks until one is written to: btrfs, XFS, bcachefs do."""

_Job = tuple[str, str, str, os.stat_result]
"""A file's path in the world, its source, its target, the source's status."""
_Folder = tuple[str, str, os.stat_result]
"""A folder's path in the world, its target, the source's status."""


@dataclass
class Copied:
    """What a copy left behind: with it a baseline knows which files nobody touched since."""

    source: StrPath | None
    prints: dict[str, Fingerprint] = field(default_factory=dict)
    """Of each file and folder, when it was done."""
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
    jobs: list[_Job] = []
    folders: list[_Folder] = []
    _list(os.fspath(source), os.fspath(target), "", jobs, folders)
    made = _copy_all(jobs, read_umask() if umask is None else umask)
    prints = {job[0]: one for job, one in zip(jobs, made, strict=True)}
    for name, path, status in reversed(folders):
        os.chmod(path, stat.S_IMODE(status.st_mode))  # noqa: PTH101
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        prints[name] = fingerprint(os.lstat(path))
    return Copied(source, prints, clock_of(target))


def _list(source: str, target: str, prefix: str, jobs: list[_Job], folders: list[_Folder]) -> None:
    """Make the directories and note the files. Modes and times of directories wait: writing below changes them."""
    below = []
    with os.scandir(source) as entries:
        for entry in entries:
            name, status = entry.name, entry.stat(follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                jobs.append((prefix + name, f"{source}/{name}", f"{target}/{name}", status))
            elif stat.S_ISDIR(status.st_mode):
                below.append((name, status))
            else:
                raise BenchError("It is neither a file nor a folder; a world has no other.", file=f"{source}/{name}")
    for name, status in below:
        os.mkdir(f"{target}/{name}", 0o700)  # noqa: PTH102
        folders.append((prefix + name, f"{target}/{name}", status))
        _list(f"{source}/{name}", f"{target}/{name}", f"{prefix}{name}/", jobs, folders)


def _copy_all(jobs: list[_Job], umask: int) -> list[Fingerprint]:
    """Give what each file is afterwards. A second process copies the other half; a thread would wait for this one at
    each system call. Beside threads of others none is forked."""
    if len(jobs) < SHARED_FROM or threading.active_count() > 1:
        return _copy_some(jobs, umask)
    half = len(jobs) // 2
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _copy_for_another(jobs[half:], umask, writer)
    os.close(writer)
    try:
        with os.fdopen(reader, "rb") as answer:
            ours, theirs = _copy_some(jobs[:half], umask), answer.read()
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        raise
    finally:
        os.waitpid(pid, 0)
    made = pickle.loads(theirs) if theirs else OSError(errno.EIO, "The process that copied half of it was killed")
    if isinstance(made, BaseException):
        raise made
    return [*ours, *made]


def _copy_for_another(jobs: list[_Job], umask: int, writer: int) -> NoReturn:
    """In the second process: answer with what the files are, or with what went wrong, and go."""
    try:
        die_with_parent()
        made: object
        try:
            made = _copy_some(jobs, umask)
        except OSError as error:
            made = error
        with os.fdopen(writer, "wb") as answer:
            pickle.dump(made, answer)
    finally:
        os._exit(0)


def _copy_some(jobs: list[_Job], umask: int) -> list[Fingerprint]:
    """One long loop: at thousands of files a call costs as much as the system calls it makes."""
    open_, read, write, close, utime, fstat = os.open, os.read, os.write, os.close, os.utime, os.fstat
    reading_flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    writing_flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    taken_away = umask | 0o6000  # writing to a file takes setuid away, too
    made, sharing = list[Fingerprint](), True
    for _, source, target, status in jobs:
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
                made.append(fingerprint(fstat(writing)))
            finally:
                close(writing)
        finally:
            close(reading)
    return made


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
