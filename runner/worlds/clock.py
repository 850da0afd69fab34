"""The clock of a file system, and whether its times can be trusted."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from runner.paths import StrPath

GUARD = 20_000_000
"""Nanoseconds: a time stamp this close to a clock reading may be shared by a later write."""
REMOTE = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "beegfs", "virtiofs", "vboxsf",
    "prl_fs", "gpfs", "orangefs", "ocfs2",
})  # fmt: skip


def clock_of(folder: StrPath) -> int:
    """Give the file system's own time in ns: the stamp that it gives the folder's parent when asked to do so now.

    A file made for that would cost ten times as much: ext4 looks past every inode that was given up lately."""
    parent = os.path.dirname(folder)  # noqa: PTH120
    os.utime(parent)
    return os.stat(parent).st_ctime_ns  # noqa: PTH116


def times_can_be_trusted(folder: StrPath) -> bool:
    """Local file systems stamp every write; over a network or FUSE another machine's clock and cache decide."""
    return _trusted(os.stat(folder).st_dev)  # noqa: PTH116


@functools.lru_cache(maxsize=64)
def _trusted(device: int) -> bool:
    number = f"{os.major(device)}:{os.minor(device)}"
    try:
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    for line in lines:
        head, _, tail = line.partition(" - ")
        if head.split()[2] == number:
            kind = tail.split()[0]
            return kind not in REMOTE and not kind.startswith("fuse")
    return True
