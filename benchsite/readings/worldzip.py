"""A folder of a world as a zip, written while it is sent. Only files and folders go in; the rest is named in it."""

from __future__ import annotations

import re
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from runner.digests import CHUNK
from runner.errors import RunnerError
from runner.worlds.tree import Entry

from . import words
from .address import from_address
from .shelf import Shelf
from .trialhead import find
from .worlds import At, noun, shelf_of, world_of

FILES = 50_000
BYTES = 2_000_000_000
LEFT_OUT = "NOT-IN-THIS-ZIP.txt"
_UNFIT = re.compile(r'[\x00-\x1f\x7f-\x9f\\:*?"<>|\ud800-\udfff]')
"""What names of files may hold here, and some system would take for a path, a drive, or refuse."""


class ZipRefused(RunnerError):
    """A folder that is too large to be packed by the site; says what to do instead."""


@dataclass(frozen=True)
class Pack:
    """What goes into the zip, as (name in it, entry), and a line for each thing that does not."""

    name: str
    files: tuple[tuple[str, Entry], ...]
    left_out: tuple[str, ...]
    shelf: Shelf

    def chunks(self) -> Iterator[bytes]:
        """Write the zip piece by piece; memory holds one piece."""
        sink = _Sink()
        notes = [*self.left_out]
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, entry in self.files:
                yield from _write(archive, sink, name, entry, self.shelf, notes)
            if notes:
                archive.writestr(_info(LEFT_OUT, 0o644), "\n".join(notes).encode("utf-8", "backslashreplace") + b"\n")
        yield sink.drain()


def pack(user: Any, ulid: str, index: int, address: str, at: At) -> Pack | None:
    """Plan the zip of a folder; None where there is none. Raises ZipRefused where it would be too large."""
    head = find(user, ulid, index)
    path = from_address(address) if address else ""
    if head is None or path is None:
        return None
    shelf = shelf_of(head)
    world = world_of(head, shelf, at)
    if world.refused or (path and (path not in world.entries or world.entries[path].type != "dir")):
        return None
    inside = [entry for entry in world.entries.values() if not path or entry.path.startswith(path + "/")]
    size = sum(entry.size or 0 for entry in inside if entry.type == "file" and entry.stored)
    if len(inside) > FILES or size > BYTES:
        raise ZipRefused(
            f"The folder has {len(inside):,} entries and {words.size(size)}; at most {FILES:,} and {words.size(BYTES)} "
            f"are packed here. Run `benchsite open {ulid}:{index}` where the bench is."
        )
    shelf.expect(entry.sha256 for entry in inside if entry.stored)
    files, left_out = _named(sorted(inside, key=lambda entry: entry.path), path, shelf)
    folder = _fit(path.rsplit("/", 1)[-1]) or head.run.bench.name
    name = f"{folder}-trial-{index}{'-start' if at == 'start' else ''}.zip"
    return Pack(name, tuple(files), tuple(dict.fromkeys(left_out)), shelf)


def _named(inside: list[Entry], path: str, shelf: Shelf) -> tuple[list[tuple[str, Entry]], list[str]]:
    files: list[tuple[str, Entry]] = []
    left_out: list[str] = []
    taken = {LEFT_OUT}
    for entry in inside:
        inner = entry.path[len(path) + 1 :] if path else entry.path
        name = _fit(inner)
        if why := _why_not(entry, shelf):
            left_out.append(f"{_text(inner)}: {why}")
            continue
        while name in taken:
            name += "_"
        taken.add(name)
        if name != inner:
            left_out.append(f"{_text(inner)}: is here as {name}")
        files.append((name, entry))
    return files, left_out


def _why_not(entry: Entry, shelf: Shelf) -> str:
    if entry.type == "link":
        return f"a symbolic link to {_text(entry.target or '')}; links are not packed"
    if entry.type == "dir" or (entry.type == "file" and not entry.size and not entry.stored):
        return ""
    if entry.type != "file":
        return f"a {noun(entry.type)}"
    if not entry.stored or not entry.sha256:
        return f"its {words.size(entry.size)} were too large to be stored"
    state = shelf.state(entry.sha256)
    return "" if state == "present" else f"its content is {state}"


def _write(
    archive: zipfile.ZipFile, sink: _Sink, name: str, entry: Entry, shelf: Shelf, notes: list[str]
) -> Iterator[bytes]:
    if entry.type == "dir":
        archive.writestr(_info(name + "/", 0o755, stat.S_IFDIR), b"")
        return
    file = shelf.open(entry.sha256) if entry.stored and entry.sha256 else None
    if entry.stored and file is None:
        notes.append(f"{name}: {shelf.why.get(entry.sha256 or '', 'not to be had')}")
        return
    info = _info(name, 0o755 if entry.mode == "100755" else 0o644)
    with archive.open(info, "w", force_zip64=(entry.size or 0) > 1 << 31) as out:
        while file is not None and (chunk := file.read(CHUNK)):
            out.write(chunk)
            yield sink.drain()
    if file is not None:
        file.close()


def _info(name: str, mode: int, kind: int = stat.S_IFREG) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 3
    info.external_attr = (kind | mode) << 16
    return info


def _fit(path: str) -> str:
    """Write a path so that every system unpacks it below the folder and none takes a part of it for something else."""
    return _UNFIT.sub("_", path)


def _text(path: str) -> str:
    return path.encode("utf-8", "backslashreplace").decode().replace("\n", "\\n")


class _Sink:
    """Where zipfile writes: it cannot seek, so sizes follow the data. What was written is taken out in between."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        return

    def drain(self) -> bytes:
        data = b"".join(self._parts)
        self._parts.clear()
        return data
