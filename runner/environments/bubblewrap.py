"""Bubblewrap's command line: what a sandbox shows, and what it takes away."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import stat
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from runner.processes import output_of
from runner.worlds.places import Place, remove_tree

from . import reserving
from .base import SHARED, SYSTEM_PATH, Needs
from .network import Way, hosts_file
from .roots import Root
from .slirp import RESOLVER, program

WORLD, HOME, TMP, OUT, FIXTURES = "/workspace", "/agent", "/tmp", "/out", "/fixtures"
QUIET = {"PATH": SYSTEM_PATH, "LANG": "C.UTF-8"}
NOTHING_OF_OURS = (
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--as-pid-1",
    "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--",
)  # fmt: skip
"""What a sandbox is made with to find out whether one can be made."""
SIZES_SINCE = [0, 7]
FILTER = "--seccomp"
SETTINGS = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "asound", "mtrr", "pressure")
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
"""What bubblewrap takes from this machine's /dev."""


def search_path() -> str:
    return os.environ.get("PATH", SYSTEM_PATH) + os.pathsep + SYSTEM_PATH


@functools.lru_cache(maxsize=1)
def bwrap() -> str:
    return shutil.which("bwrap", path=search_path()) or "bwrap"


@functools.lru_cache(maxsize=1)
def version() -> str:
    _, said = output_of([bwrap(), "--version"], cwd="/", env=QUIET, timeout=20)
    found = re.search(r"\d+(\.\d+)+", said)
    return f"bubblewrap {found[0] if found else 'of unknown version'}"


@functools.lru_cache(maxsize=1)
def knows_sizes() -> bool:
    numbers = [int(part) for part in re.findall(r"\d+", version())[:2]]
    return numbers >= SIZES_SINCE


@functools.lru_cache(maxsize=1)
def own_network() -> bool:
    return bool(program(search_path())) and os.access("/dev/net/tun", os.R_OK | os.W_OK)


def by_slirp(needs: Needs) -> bool:
    """Whether a trial with a network gets one of its own, in which this machine's loopback is not."""
    return needs.network == "open" and needs.loopback != SHARED and own_network()


@contextlib.contextmanager
def given_files(needs: Needs, found: Sequence[Way]) -> Iterator[dict[str, int]]:
    """What bubblewrap reads from descriptors: files of /etc that differ from this machine's, and a filter of calls."""
    texts = {}
    if needs.network == "none":
        texts = {"/etc/hosts": hosts_file(found), "/etc/resolv.conf": b""}
    elif by_slirp(needs):
        texts = {"/etc/resolv.conf": RESOLVER}
    if needs.limits.disk is not None and (code := reserving.program()):
        texts[FILTER] = code
    files = {}
    try:
        for path, text in texts.items():
            files[path] = os.memfd_create("given")
            os.write(files[path], text)
            os.lseek(files[path], 0, os.SEEK_SET)
        yield files
    finally:
        for descriptor in files.values():
            os.close(descriptor)


def command(root: Root, place: Place, needs: Needs, files: Mapping[str, int]) -> list[str]:
    """The trial's own places and the read-only root. Nothing of /run, /var, /home or /srv is there."""
    argv = [
        bwrap(), "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
        "--hostname", "sandbox", "--as-pid-1", "--new-session", "--clearenv", "--cap-drop", "ALL",
    ]  # fmt: skip
    if threading.current_thread() is threading.main_thread():
        argv.append("--die-with-parent")  # dies with the thread that started it; the keeper's socket covers the rest
    if needs.network == "none" or by_slirp(needs):
        argv.append("--unshare-net")
    argv += [*_of_the_kernel(needs, place), "--bind", str(place.world), WORLD]
    for outside, inside in ((place.home, HOME), (place.tmp, TMP)):
        sized = needs.limits.disk is not None and needs.wall is None
        argv += ["--size", str(needs.limits.disk), "--tmpfs", inside] if sized else ["--bind", str(outside), inside]
    bind = "--bind" if needs.limits.disk is None else "--ro-bind"  # what is printed comes by descriptors
    argv += [bind, str(place.out), OUT, *root.arguments()]  # after /tmp: an interpreter may lie below it
    for path, descriptor in files.items():
        argv += [FILTER, str(descriptor)] if path == FILTER else ["--ro-bind-data", str(descriptor), path]
    if needs.fixtures is not None:
        argv += ["--ro-bind", str(needs.fixtures), FIXTURES]
    return [*argv, "--remount-ro", "/", "--chdir", WORLD]


def _of_the_kernel(needs: Needs, place: Place) -> list[str]:
    """/proc and /dev, where nothing of this machine can be changed: root owns its settings and devices in here too, and
    needs no capability to write to what is his."""
    argv = ["--proc", "/proc", "--dev", "/dev"]
    for setting in _settings():
        argv += ["--ro-bind", setting, setting]
    for device in _own_devices(place.root / "devices"):
        argv += ["--dev-bind", str(device), f"/dev/{device.name}"]
    size = [] if needs.limits.disk is None else ["--size", str(needs.limits.disk)]
    return [*argv, *size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]


@functools.lru_cache(maxsize=1)
def _settings() -> tuple[str, ...]:
    return tuple(str(path) for path in map(Path("/proc").joinpath, SETTINGS) if path.exists())


def _own_devices(folder: Path) -> list[Path]:
    """Devices for one trial; none where this user cannot change the machine's, or a file system has no devices."""
    if os.geteuid() != 0:
        return []
    made = [folder / name for name in DEVICES]
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
        try:
            for path in made:
                os.mknod(path, stat.S_IFCHR, os.stat(f"/dev/{path.name}").st_rdev)  # noqa: PTH116
                path.chmod(0o666)
            os.close(os.open(made[0], os.O_RDWR))
        except OSError:
            remove_tree(folder)
            return []
    return made
