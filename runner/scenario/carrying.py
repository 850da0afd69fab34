"""Carrying declared paths out of an environment: sizes capped, no link followed, bytes kept as blobs."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.blobs import BlobStore
from runner.digests import sha256

if TYPE_CHECKING:
    from .live import LiveTrial

Places = Sequence[tuple[str, Path]]
"""(path in the environment, the same folder on the host)."""


class TooMuch(Exception):
    """A declared path holds more, or something else, than may be carried out."""


@dataclass(frozen=True)
class CollectedPath:
    """One declared path: `files` maps relative path to digest; a single file has the one entry ""."""

    path: str
    is_dir: bool
    files: dict[str, str]
    _blobs: BlobStore = field(repr=False, compare=False)

    def read_bytes(self, name: str = "") -> bytes:
        if name not in self.files:
            known = ", ".join(sorted(self.files)[:10]) if self.is_dir else "it is a single file"
            raise KeyError(f"{self.path} holds no {name!r} ({known}).")
        return self._blobs.read(self.files[name])

    def read_text(self, name: str = "") -> str:
        return self.read_bytes(name).decode("utf-8", "surrogateescape")


@dataclass
class Budget:
    """What may still be carried."""

    bytes: int
    files: int
    until: float

    @classmethod
    def of(cls, limits: Mapping[str, Any]) -> Budget:
        until = time.monotonic() + float(limits.get("seconds", 600))
        return cls(int(limits.get("bytes", 64 << 20)), int(limits.get("files", 2000)), until)

    def take(self, size: int) -> None:
        self.bytes, self.files = self.bytes - size, self.files - 1
        if self.bytes < 0 or self.files < 0:
            raise TooMuch("they hold more bytes or files than the plan's limits allow")
        if time.monotonic() > self.until:
            raise TooMuch("it took longer than the plan's limits allow")


def carry(
    trial: LiveTrial, places: Places, paths: Sequence[str], limits: Mapping[str, Any]
) -> dict[str, CollectedPath]:
    budget, blobs = Budget.of(limits), trial.setting.blobs
    found: dict[str, CollectedPath] = {}
    for path in paths:
        base, relative = _located(path, places)
        files, is_dir = {}, False
        for name, data, folder in _read(base, relative, budget):
            data = trial.redactor.strike(data)  # it leaves the environment, and may be attached
            files[name], is_dir = blobs.put(data), folder
            if sha256(blobs.read(files[name])) != files[name]:
                raise TooMuch(f"{path} was not stored as it was read")
            if trial.setting.bench.save_artifacts:
                shown = f"{path}/{name}" if name else path
                trial.attach(shown[-200:], data, media="", kind="collected")
        if files or is_dir or _is_empty_folder(base, relative):
            found[path] = CollectedPath(path, is_dir or not files, files, blobs)
    return found


def _located(path: str, places: Places) -> tuple[Path, list[str]]:
    for inside, host in places:
        if path == inside or path.startswith(inside.rstrip("/") + "/"):
            return host, [part for part in path[len(inside) :].split("/") if part]
    raise TooMuch(f"{path} lies in no folder of the trial ({', '.join(inside for inside, _ in places)})")


def _read(base: Path, parts: list[str], budget: Budget) -> Iterator[tuple[str, bytes, bool]]:
    """Give (name below the path, bytes, whether the path is a folder). Every step is opened without following links."""
    try:
        descriptor = _descend(base, parts)
    except FileNotFoundError:
        return
    try:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            for name, data in _folder(descriptor, "", budget):
                yield name, data, True
        else:
            yield "", _file(descriptor, "/".join(parts), budget), False
    finally:
        os.close(descriptor)


def _descend(base: Path, parts: list[str]) -> int:
    descriptor = os.open(base, os.O_RDONLY | os.O_DIRECTORY)
    for part in parts:
        try:
            below = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=descriptor)
        except NotADirectoryError as error:
            raise FileNotFoundError(part) from error
        except FileNotFoundError:
            raise
        except OSError as error:
            raise TooMuch(f"{'/'.join(parts)} is a link, or cannot be opened ({error.strerror})") from error
        finally:
            os.close(descriptor)
        descriptor = below
    return descriptor


def _folder(descriptor: int, prefix: str, budget: Budget) -> Iterator[tuple[str, bytes]]:
    for name in sorted(os.listdir(descriptor)):
        try:
            below = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=descriptor)
        except OSError as error:
            raise TooMuch(f"{prefix}{name} is a link, or cannot be opened ({error.strerror})") from error
        try:
            if stat.S_ISDIR(os.fstat(below).st_mode):
                yield from _folder(below, f"{prefix}{name}/", budget)
            else:
                yield prefix + name, _file(below, prefix + name, budget)
        finally:
            os.close(below)


def _file(descriptor: int, name: str, budget: Budget) -> bytes:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise TooMuch(f"{name} is neither a file nor a folder")
    budget.take(status.st_size)
    data = bytearray()
    while chunk := os.read(descriptor, 1 << 20):
        data += chunk
        if len(data) > status.st_size:
            raise TooMuch(f"{name} grew while it was read")
    return bytes(data)


def _is_empty_folder(base: Path, parts: list[str]) -> bool:
    return base.joinpath(*parts).is_dir()
