"""Carrying declared paths out of an environment: sizes capped, no link followed, bytes kept as blobs."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from posixpath import basename, normpath
from typing import TYPE_CHECKING, Any

from runner.collected import Collected
from runner.digests import sha256
from runner.environments.transfer import Lies, descend
from runner.errors import PathRefused, RunnerError, is_disk_full
from runner.worlds.rules import Rules
from runner.worlds.tree import Entry, Tree
from runner.worlds.walk import Found, below, git_mode, read_link

from .live import media_of

if TYPE_CHECKING:
    from .live import LiveTrial
    from .stage import Stage

_OPENING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_EVERYTHING = Rules((), 0)


class TooMuch(Exception):
    """A declared path holds more, or something else, than may be carried out."""


@dataclass
class Budget:
    """What may still be carried."""

    bytes: int
    files: int
    until: float

    @classmethod
    def of(cls, limits: Mapping[str, Any]) -> Budget:
        return cls(int(limits["bytes"]), int(limits["files"]), time.monotonic() + float(limits["seconds"]))

    def take(self, size: int) -> None:
        self.bytes, self.files = self.bytes - size, self.files - 1
        if self.bytes < 0 or self.files < 0:
            raise TooMuch("it holds more bytes or files than the limits of the plan leave")
        if time.monotonic() > self.until:
            raise RunnerError("it took longer than the limits of the plan allow")


def carry(trial: LiveTrial, stage: Stage, plan: Mapping[str, Any]) -> tuple[Collected, ...]:
    """Carry every declared path out, in order. After one that fails nothing more is carried."""
    budget, found = Budget.of(plan["limits"]), list[Collected]()
    for row in plan["artifacts"]:
        entry = Collected(row["path"], "not_collected", exclude=tuple(row["exclude"]))
        if not found or found[-1].status not in ("failed", "not_collected"):
            entry = _carried(trial, stage, entry, budget)
        found.append(entry)
    return tuple(found)


def _carried(trial: LiveTrial, stage: Stage, entry: Collected, budget: Budget) -> Collected:
    try:
        lies = stage.session.get(entry.path, stage.place.root / "got", budget.bytes)
        return _read(trial, lies, entry, budget)
    except (TooMuch, OSError, RunnerError) as error:
        if is_disk_full(error):
            trial.check_disk(error)
        if isinstance(error, TooMuch | PathRefused):
            trial.unsafe = entry.path, str(error)
        return replace(entry, status="failed", reason=str(error))


def _read(trial: LiveTrial, lies: Lies, entry: Collected, budget: Budget) -> Collected:
    """Every step is opened without following links."""
    try:
        descriptor = descend(lies)
    except FileNotFoundError:
        return replace(entry, status="missing")
    try:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rows = list(_folder(trial, descriptor, entry, budget))
            kind = "dir"
        else:
            rows, kind = [_file(trial, descriptor, basename(entry.path), entry.path, budget)], "file"
        if entry.exclude and not _anything(rows) and _holds_files(descriptor):
            return replace(entry, status="excluded", kind=kind)
    finally:
        os.close(descriptor)
    tree = Tree(tuple(sorted(rows, key=lambda row: os.fsencode(row.path))))
    digest = tree.store(trial.setting.blobs)
    return replace(entry, status="collected", kind=kind, files=tree.files, size=tree.size, tree=digest)


def _anything(rows: Sequence[Entry]) -> bool:
    return any(row.type != "dir" for row in rows)


def _holds_files(folder: int) -> bool:
    listings = below(folder, "", _EVERYTHING, 0)
    return any(not stat.S_ISDIR(status.st_mode) for _, _, entries, _ in listings for _, status in entries)


def _folder(trial: LiveTrial, descriptor: int, entry: Collected, budget: Budget) -> Iterator[Entry]:
    rules = Rules(entry.exclude, 0) if entry.exclude else _EVERYTHING
    for prefix, folder, entries, closed in below(descriptor, "", rules, 0):
        for name, status in entries:
            found = Found(prefix + name, name, folder, status, closed)
            if closed:
                raise TooMuch(f"the folder {found.path} in it cannot be entered")
            yield _one(trial, found, entry, budget)


def _one(trial: LiveTrial, found: Found, entry: Collected, budget: Budget) -> Entry:
    mode = found.stat.st_mode
    if stat.S_ISDIR(mode):
        return Entry(found.path, "dir", git_mode(mode))
    if stat.S_ISLNK(mode):
        budget.take(0)
        return _link(found)
    try:
        descriptor = os.open(found.name, _OPENING, dir_fd=found.folder)
    except OSError as error:
        raise TooMuch(f"{found.path} in it cannot be opened ({error.strerror})") from error
    try:
        return _file(trial, descriptor, found.path, f"{entry.path}/{found.path}", budget)
    finally:
        os.close(descriptor)


def _link(found: Found) -> Entry:
    """A link that stays within its folder is kept as a link; any other leads somewhere nobody declared."""
    target = read_link(found)
    if target is None or target.startswith("/") or _leads_out(found.path, target):
        raise TooMuch(f"{found.path} in it is a link that leads out of it")
    return Entry(found.path, "link", git_mode(found.stat.st_mode), 0, target=target)


def _leads_out(path: str, target: str) -> bool:
    end = normpath(f"{path.rpartition('/')[0] or '.'}/{target}")
    return end == ".." or end.startswith("../")


def _file(trial: LiveTrial, descriptor: int, name: str, shown: str, budget: Budget) -> Entry:
    """Known secrets are struck out: what is carried leaves the environment. What was stored is read again."""
    status, blobs = os.fstat(descriptor), trial.setting.blobs
    if not stat.S_ISREG(status.st_mode):
        raise TooMuch(f"{name} is neither a file nor a folder")
    budget.take(status.st_size)
    data = trial.redactor.strike(_bytes(descriptor, status.st_size, name))
    digest = blobs.put(data)
    if sha256(blobs.read(digest)) != digest:
        raise RunnerError(f"{name} was not stored as it was read")
    if trial.setting.bench.save_artifacts:
        trial.emit(
            "artifact", name=shown[-200:], kind="collected", media=media_of(data, "collected"), blob=digest,
            size=len(data),
        )  # fmt: skip
    return Entry(name, "file", git_mode(status.st_mode), len(data), digest, stored=True)


def _bytes(descriptor: int, size: int, name: str) -> bytes:
    data = bytearray()
    while chunk := os.read(descriptor, 1 << 20):
        data += chunk
        if len(data) > size:
            raise TooMuch(f"{name} grew while it was read")
    return bytes(data)


def read_bounded(lies: Lies, limit: int, path: str) -> bytes:
    """Read one file of an environment for a verifier; FileNotFoundError where it is not there."""
    descriptor = descend(lies)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise IsADirectoryError(f"{path} is no file")
        if status.st_size > limit:
            raise ValueError(f"{path} holds {status.st_size:,} bytes; at most {limit:,} are read")
        return _bytes(descriptor, status.st_size, path)
    finally:
        os.close(descriptor)
