"""A bundle: one zip file with manifest, events and blobs. The same run gives the same bytes; a hostile one is refused.

Layout: bundle.json {"format", "run", "manifest", "events", "digests"}, manifest.json, events.jsonl, blobs/<sha256>.
"""

from __future__ import annotations

import json
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from runner.blobs import BlobStore, is_digest
from runner.digests import CHUNK, canonical
from runner.errors import BundleError, JournalError
from runner.journal import EVENTS, MANIFEST, Event, decode
from runner.manifest import Manifest

from .checked import Checked, Measured, refuse_crowded, refuse_unfit
from .sources import Source, open_source

FORMAT = "benchsite/bundle/1"
INDEX = "bundle.json"
BLOBS = "blobs/"
LARGEST_INDEX = 64 << 20


@dataclass(frozen=True)
class Limits:
    """What a bundle may cost whoever opens it. `ratio` is unpacked to packed bytes, free up to `small` bytes."""

    entries: int = 200_000
    size: int = 8 << 30
    blob: int = 1 << 30
    ratio: int = 200
    small: int = 64 << 20


def write_bundle(run_dir: Path | str, target: Path | str, store: BlobStore | None = None) -> Path:
    """Write a run as a bundle, whole or not at all; returns the target."""
    run_dir, target = Path(run_dir), Path(target)
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with open_source(run_dir, store) as source, zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
            _write(archive, source)
        beside.replace(target)
    except OSError as error:
        raise BundleError(f"The bundle {target} cannot be written: {error.strerror or error}.") from error
    finally:
        beside.unlink(missing_ok=True)
    return target


def _write(archive: zipfile.ZipFile, source: Source) -> None:
    index = {
        "format": FORMAT,
        "run": source.run,
        "manifest": source.manifest,
        "events": source.events,
        "digests": source.blobs,
    }
    archive.writestr(_entry(INDEX), canonical(index))
    _add(archive, MANIFEST, source.files[source.manifest])
    _add(archive, EVENTS, source.files[source.events])
    for digest in source.blobs:
        _add(archive, BLOBS + digest, source.files[digest])


def _entry(name: str) -> zipfile.ZipInfo:
    """Fix everything that could differ between two writings: time, mode, system."""
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
    entry.external_attr = (stat.S_IFREG | 0o644) << 16
    return entry


def _add(archive: zipfile.ZipFile, name: str, path: Path) -> None:
    entry = _entry(name)
    entry.file_size = path.stat().st_size  # so that zipfile knows beforehand whether it needs zip64
    with path.open("rb") as data, archive.open(entry, "w") as out:
        while chunk := data.read(CHUNK):
            out.write(chunk)


class Bundle:
    """An open bundle whose shape was judged. Bytes are verified as they are read: a wrong one raises BundleError."""

    def __init__(self, archive: zipfile.ZipFile, name: str, limits: Limits) -> None:
        self._archive, self._name, self._limits = archive, name, limits
        self._entries = refuse_unfit(archive, name, limits.entries)
        self._expected: dict[str, str] = {}
        index = self._index()
        self.run: str = index["run"]
        self.digests: tuple[str, ...] = tuple(index["digests"])
        self._expected |= {MANIFEST: index["manifest"], EVENTS: index["events"]}
        self._expected.update({BLOBS + digest: digest for digest in self.digests})
        self._refuse_strangers()
        self.manifest = self._manifest()

    @property
    def size(self) -> int:
        """How many bytes it is unpacked."""
        return sum(entry.file_size for entry in self._entries.values())

    def events(self) -> Iterator[Event]:
        """Stream the events; the digest of the journal is verified at its end."""
        with self._open(EVENTS) as file:
            yield from decode(cast(IO[bytes], file))
            file.drain()

    def blobs(self) -> Iterator[tuple[str, IO[bytes]]]:
        """Give every blob as (digest, stream); a stream verifies itself when it is read to its end."""
        for digest in self.digests:
            with self._open(BLOBS + digest) as file:
                yield digest, cast(IO[bytes], file)

    def unpack(self, run_dir: Path, store: BlobStore, tell: Callable[[int, int], None] = lambda done, of: None) -> Path:
        """Put blobs into the store, manifest and events into a new run directory.

        Blobs that the store has are read in full all the same: naming a digest must not pass for having its bytes.
        """
        for done, (digest, stream) in enumerate(self.blobs()):
            tell(done, len(self.digests))
            store.put_stream(stream, expected=digest, limit=self._limits.blob)
        run_dir.mkdir(parents=True, exist_ok=True)
        for name in (EVENTS, MANIFEST):  # the manifest last: with it the directory becomes a run
            self._extract(name, run_dir / name)
        return run_dir

    def _extract(self, name: str, target: Path) -> None:
        beside = target.with_name(f".{name}.part")
        try:
            with self._open(name) as file, beside.open("wb") as out:
                while chunk := file.read(CHUNK):
                    out.write(chunk)
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)

    def _open(self, name: str) -> Checked:
        try:
            stream = self._archive.open(self._entries[name])
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
            raise BundleError(f"{self._name}: the entry {name} cannot be read ({error}).") from error
        return Checked(stream, f"{self._name}: the entry {name}", self._expected.get(name), self._limits.blob)

    def _index(self) -> dict[str, Any]:
        if INDEX not in self._entries:
            raise BundleError(f"{self._name} is not a bundle: it holds no {INDEX}.")
        index = self._json(INDEX)
        if not str(index.get("format", "")).startswith("benchsite/bundle/1"):
            raise BundleError(f"{self._name} is not a bundle this version can read: its 'format' is not {FORMAT}.")
        digests = index.get("digests")
        wanted = [index.get("manifest"), index.get("events"), *(digests if isinstance(digests, list) else [None])]
        if not isinstance(index.get("run"), str) or not all(isinstance(d, str) and is_digest(d) for d in wanted):
            raise BundleError(f"{self._name}: {INDEX} must give run, manifest, events and digests.")
        return index

    def _json(self, name: str) -> dict[str, Any]:
        if self._entries[name].file_size > LARGEST_INDEX:
            raise BundleError(f"{self._name}: the entry {name} is larger than {LARGEST_INDEX} bytes.")
        with self._open(name) as file:
            data = file.read()
        refuse_crowded(data, f"{self._name}: the entry {name}")
        try:
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise BundleError(f"{self._name}: the entry {name} is not valid JSON.") from error
        if not isinstance(value, dict):
            raise BundleError(f"{self._name}: the entry {name} is not a JSON object.")
        return value

    def _refuse_strangers(self) -> None:
        for name in sorted(self._entries.keys() - self._expected.keys() - {INDEX}):
            raise BundleError(f"{self._name}: the entry {name[:100]!r} does not belong into a bundle.")
        for name in sorted(self._expected.keys() - self._entries.keys()):
            raise BundleError(f"{self._name}: the entry {name} is announced in {INDEX} but is not there.")
        _refuse_bomb(self._archive, self._entries, self._name, self._limits)

    def _manifest(self) -> Manifest:
        try:
            manifest = Manifest.from_json(self._json(MANIFEST))
        except (JournalError, AttributeError) as error:
            raise BundleError(f"{self._name}: {error}") from error
        if manifest.run != self.run:
            raise BundleError(f"{self._name}: the manifest is of run {manifest.run[:40]!r}, not of {self.run[:40]!r}.")
        return manifest


def _refuse_bomb(archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], name: str, limits: Limits) -> None:
    """Judge by declared sizes (zipfile never reads more), against the file's own size (entries may overlap)."""
    for entry in entries.values():
        if entry.file_size > limits.blob:
            raise BundleError(f"{name}: the entry {entry.filename} is larger than {limits.blob} bytes.")
    total = sum(entry.file_size for entry in entries.values())
    if total > limits.size:
        raise BundleError(f"{name} would unpack to {total} bytes; {limits.size} are allowed.")
    file = archive.fp
    packed = file.seek(0, 2) if file is not None else 0
    if total > limits.small and total > limits.ratio * packed:
        raise BundleError(f"{name} unpacks to {total // max(packed, 1)} times its size; {limits.ratio} are allowed.")


@contextmanager
def open_bundle(path: Path, limits: Limits | None = None) -> Iterator[Bundle]:
    """Open a bundle that may be hostile; every refusal is a BundleError of one sentence."""
    limits = limits or Limits()
    try:
        file = path.open("rb")
    except OSError as error:
        raise BundleError(f"The bundle {path} cannot be opened: {error.strerror or error}.") from error
    with file:
        yield from _opened(file, path.name, limits)


def _opened(file: IO[bytes], name: str, limits: Limits) -> Iterator[Bundle]:
    try:
        archive = zipfile.ZipFile(Measured(file, name, limits.entries))
    except (zipfile.BadZipFile, zipfile.LargeZipFile, ValueError, OSError, OverflowError, zlib.error) as error:
        raise BundleError(f"{name} is not a readable zip file: {error}.") from error
    with archive:
        yield Bundle(archive, name, limits)
