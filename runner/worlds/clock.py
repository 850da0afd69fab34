"""The clock of a file system, and whether its times can be trusted."""

from __future__ import annotations

import functools
import os
import tempfile
from pathlib import Path

GUARD = 20_000_000
"""Nanoseconds: a time stamp this close to a clock reading may be shared by a later write."""
REMOTE = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "beegfs", "virtiofs", "vboxsf",
    "prl_fs", "gpfs", "orangefs", "ocfs2",
})  # fmt: skip


def clock_of(folder: Path) -> int:
    """Give the file system's own time in ns: the time stamp it gives a file made now, beside the folder's content."""
    try:
        descriptor = os.open(folder.parent, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    except OSError:  # not every file system has files without a name
        descriptor, name = tempfile.mkstemp(dir=folder.parent, prefix=".clock-")
        os.unlink(name)  # noqa: PTH108
    try:
        return os.fstat(descriptor).st_ctime_ns
    finally:
        os.close(descriptor)


def times_can_be_trusted(folder: Path) -> bool:
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
