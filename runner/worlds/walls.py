"""A wall around what a trial writes: a file system of the size its limit of disk allows, mounted for the trial alone.

World, HOME and TMPDIR lie on it; what writes more is told that there is no space left, and goes on. The mounts belong
to the trial's process: whatever is killed, nothing stays mounted. Run as a program it tries a kind and says "ok".
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from runner.errors import RunnerError, is_disk_full
from runner.paths import StrPath

from . import mounting
from .places import Place

TMPFS, IMAGE = "tmpfs", "image"
"""What holds a limit of disk: memory, or a file with a file system in it, which takes root."""
WALLS = (TMPFS, IMAGE)
FULL, FEW = 64 << 10, 8
"""So few bytes, or new files, left over are none."""
KEPT = 4096
"""Blocks that ext4 gives to nobody, on a small disk a fortieth of it."""
IN_ONE = 2 << 20
"""What ext4 may write as one: it refuses all of that where not all of it has space."""
PAGE, PER_FILE, MANY = 4096, 16384, 1 << 18
SPARE = 128
OVERHEAD = 8 << 20
QUIET = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
MKFS = ("mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", "-O", "^has_journal", "-E", "lazy_itable_init=1,nodiscard")


def head_room(limit: int) -> int:
    """What is kept back for grading a world that its agent filled."""
    return min(limit // 4, 16 << 20)


def most_files(limit: int) -> int:
    return max(1024, min(limit // PAGE, max(MANY, limit // PER_FILE))) + SPARE


def is_full(folder: StrPath, below: int = FULL, *, for_root: bool = False) -> bool:
    """Some file systems have no size, or no number of files, and tell of none that is left. `for_root`: where this
    process is root's, what a disk keeps back is kept for it."""
    status = os.statvfs(folder)
    free = status.f_bavail
    if for_root and os.geteuid() == 0:
        free = status.f_bfree - min(status.f_blocks // 40, KEPT)
    no_room = status.f_blocks > 0 and free * status.f_frsize < below
    return no_room or (status.f_files > 0 and status.f_favail < FEW)


class Wall:
    """`folder` is where it is mounted; `limit` bytes can be written there, and some more once `give_way` was called."""

    def __init__(self, kind: str, folder: Path, limit: int) -> None:
        self.folder, self.limit = folder, limit
        self._below = FULL if kind == TMPFS else min(IN_ONE, limit // 8)
        self._ballast, self._spare = folder / "ballast", folder / "spare"
        self._was_full = False

    def is_full(self) -> bool:
        return is_full(self.folder, self._below)

    def watch(self) -> tuple[str, ...]:
        """Asked while a command runs, which is never stopped for it: remember that it had no space left."""
        self._was_full = self._was_full or self.is_full()
        return ()

    def told(self) -> tuple[str, ...]:
        """Say whether the command that has just ended met the wall; what comes now has the head-room."""
        if not (self._was_full or self.is_full()):
            return ()
        self._was_full = False
        self.give_way()
        return ("disk",)

    def give_way(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._ballast.unlink()
            for name in os.listdir(self._spare):  # noqa: PTH208  names alone
                (self._spare / name).unlink()

    def close_up(self) -> None:
        """Take the head-room back, as far as it is there, before an agent works on."""
        if self._ballast.exists():
            return
        self.take(self._ballast, max(0, self._room() - head_room(self.limit)))
        with contextlib.suppress(OSError):
            self._spare.mkdir(exist_ok=True)
            for number in range(SPARE):
                (self._spare / str(number)).touch()

    def take(self, file: Path, left: int) -> None:
        """Let a file grow until so much room is left; what it takes to note that takes some, too."""
        with contextlib.suppress(OSError), file.open("ab") as growing:
            for _ in range(8):
                if (more := self._room() - left) < PAGE:
                    break
                os.posix_fallocate(growing.fileno(), growing.seek(0, os.SEEK_END), more)

    def _room(self) -> int:
        status = os.statvfs(self.folder)
        return status.f_bavail * status.f_frsize


def wall_off(kind: str, limit: int, files: int, places: Sequence[Place]) -> list[Wall]:
    """Give this process mounts of its own and each of these places a wall, its folders below it; what they hold
    already is hidden. `files` come on top of what the limit allows. OSError or RunnerError where it cannot be had."""
    user = os.geteuid() != 0
    mounting.enter(user)
    walls = [_raised(kind, place, limit, files + most_files(limit)) for place in places]
    if user:
        mounting.drop_powers()
    return walls


def _raised(kind: str, place: Place, limit: int, files: int) -> Wall:
    place.disk.mkdir()
    if kind == IMAGE:
        _mount_image(place, limit + head_room(limit), files)
    else:
        mounting.mount_memory(os.fspath(place.disk), limit + head_room(limit), files)
    for folder in (place.world, place.home, place.tmp):
        (place.disk / folder.name).mkdir()
        mounting.bind(os.fspath(place.disk / folder.name), os.fspath(folder))
    wall = Wall(kind, place.disk, limit)
    wall.take(place.disk / "rest", limit + head_room(limit))  # an image is made a little larger
    wall.close_up()
    return wall


def _mount_image(place: Place, size: int, files: int) -> None:
    """The file is sparse and the device is let go with its last mount."""
    image = place.root / "disk.img"
    with image.open("wb") as file:
        file.truncate(size + size // 32 + files * 512 + OVERHEAD)
    for argv in (
        [*MKFS, "-N", str(files), str(image)],
        ["mount", "-o", "loop,nodelalloc,noinit_itable,nosuid,nodev", str(image), str(place.disk)],
    ):
        done = subprocess.run(argv, env=QUIET, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RunnerError(f"{argv[0]}: {(done.stderr or done.stdout).strip()}")
    (place.disk / "lost+found").rmdir()


def main(kind: str, root: str) -> int:
    """Write into one until it is full, as an agent would; a kernel that mounts may still count otherwise."""
    place = Place(root)
    try:
        (wall,) = wall_off(kind, PAGE << 8, 0, [place])
        with (place.world / "file").open("wb") as file:
            for _ in range(512):
                file.write(bytes(PAGE))
    except (OSError, RunnerError) as error:
        print("ok" if is_disk_full(error) and wall.is_full() else error)
    else:
        print("more could be written than it should hold")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
