"""Files in and out of an environment through folders of this machine that are shown in it. No link is followed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from errno import ELOOP
from pathlib import Path

from runner.errors import PathRefused
from runner.paths import StrPath

Places = Sequence[tuple[str, StrPath]]
"""(path in the environment, the same folder on this machine)."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Lies:
    """Where a path of an environment can be read on this machine. `base` is ours; the steps below it are a stranger's,
    and whoever takes them follows no link."""

    base: Path
    steps: tuple[str, ...]


def find(path: str, places: Places) -> Lies:
    """Find the folder of this machine behind a path; PathRefused where none of the trial's own is."""
    for inside, host in places:
        if path == inside or path.startswith(inside.rstrip("/") + "/"):
            return Lies(Path(host), tuple(part for part in path[len(inside) :].split("/") if part))
    raise PathRefused(f"{path} lies in no folder of the trial ({', '.join(inside for inside, _ in places)})")


def descend(lies: Lies) -> int:
    """Open what lies there, for reading; FileNotFoundError where nothing does, PathRefused where a link would lead."""
    descriptor = os.open(lies.base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in lies.steps:
        try:
            opened = os.open(part, _READ, dir_fd=descriptor)
        except NotADirectoryError as error:
            raise FileNotFoundError(part) from error
        except FileNotFoundError:
            raise
        except OSError as error:
            why = "is a link, and none is followed" if error.errno == ELOOP else f"cannot be opened ({error.strerror})"
            raise PathRefused(f"{'/'.join(lies.steps)} {why}") from error
        finally:
            os.close(descriptor)
        descriptor = opened
    return descriptor


def install(source: Path, lies: Lies) -> None:
    """Put a file or folder of ours where `lies` says, with the folders above it; what stood there is replaced."""
    if not lies.steps:
        _fill(source, lies.base)
        return
    folder = _above(lies)
    try:
        _replace(source, lies.steps[-1], folder)
    finally:
        os.close(folder)


def _fill(source: Path, base: Path) -> None:
    """The folder itself may be shown inside, so it stays and what is in it goes."""
    if not source.is_dir():
        raise PathRefused(f"{base.name} is a folder of the trial and cannot become a file")
    folder = os.open(base, _FOLDER)
    try:
        for name in os.listdir(folder):  # noqa: PTH208  a descriptor
            _remove(name, folder)
        for entry in sorted(source.iterdir()):
            _copy(entry, entry.name, folder)
    finally:
        os.close(folder)


def _above(lies: Lies) -> int:
    folder = os.open(lies.base, _FOLDER)
    for part in lies.steps[:-1]:
        try:
            below = _entered(part, folder)
        except OSError as error:
            raise PathRefused(f"{'/'.join(lies.steps)} cannot be put there: {part} is no folder") from error
        finally:
            os.close(folder)
        folder = below
    return folder


def _entered(name: str, folder: int) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        os.mkdir(name, 0o755, dir_fd=folder)
        return os.open(name, _FOLDER, dir_fd=folder)


def _replace(source: Path, name: str, folder: int) -> None:
    """Write beside and rename, so that nobody sees half of it."""
    beside = f".{name[:100]}.{os.urandom(4).hex()}"
    try:
        _copy(source, beside, folder)
        _remove(name, folder)
        os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        _remove(beside, folder)
        raise


def _remove(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
    except (IsADirectoryError, PermissionError):
        shutil.rmtree(name, dir_fd=folder)


def _copy(source: Path, name: str, folder: int) -> None:
    if source.is_symlink():
        os.symlink(os.readlink(source), name, dir_fd=folder)  # noqa: PTH115  kept as written
    elif source.is_dir():
        os.mkdir(name, 0o755, dir_fd=folder)
        below = os.open(name, _FOLDER, dir_fd=folder)
        try:
            for entry in sorted(source.iterdir()):
                _copy(entry, entry.name, below)
        finally:
            os.close(below)
    else:
        with source.open("rb") as data, os.fdopen(os.open(name, _NEW, 0o600, dir_fd=folder), "wb") as file:
            shutil.copyfileobj(data, file)
            os.fchmod(file.fileno(), source.stat().st_mode & 0o755 | 0o600)
