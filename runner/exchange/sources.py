"""A run directory as something to send: its manifest, its events as they stood, and the blobs they need."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runner.blobs import BlobStore
from runner.digests import sha256_file
from runner.errors import BundleError
from runner.journal import EVENTS, MANIFEST
from runner.manifest import Manifest
from runner.replay import RunResult, read

from .references import references


@dataclass(frozen=True)
class Source:
    """`files` maps every digest to the file that holds it, manifest and events included."""

    result: RunResult
    manifest: str
    events: str
    files: dict[str, Path]

    @property
    def run(self) -> str:
        return self.result.manifest.run

    @property
    def blobs(self) -> list[str]:
        return sorted(digest for digest in self.files if digest not in (self.manifest, self.events))


def blobs_of(run_dir: Path) -> BlobStore:
    """Find the blob store that stands beside the runs folder of a bench."""
    return BlobStore(run_dir.resolve().parent.parent / "blobs")


@contextmanager
def open_source(run_dir: Path, store: BlobStore | None = None) -> Iterator[Source]:
    """Take manifest and events as they stand now (a copy, since a runner may still write) and find all blobs."""
    store = store or blobs_of(run_dir)
    Manifest.read(run_dir / MANIFEST)  # its sentence is the right one for a folder that is no run
    with tempfile.TemporaryDirectory(prefix="benchsite-send-") as name:
        copy = Path(name)
        shutil.copyfile(run_dir / MANIFEST, copy / MANIFEST)
        _whole_lines(run_dir / EVENTS, copy / EVENTS)
        result = read(copy)
        files = {digest: _present(store, digest) for digest in _needed(result, store)}
        manifest, events = sha256_file(copy / MANIFEST), sha256_file(copy / EVENTS)
        yield Source(result, manifest, events, {**files, manifest: copy / MANIFEST, events: copy / EVENTS})


def _needed(result: RunResult, store: BlobStore) -> Iterator[str]:
    attempts = (attempt for trial in result.trials for attempt in trial.attempts)
    return references(result.manifest, attempts, store)


def _present(store: BlobStore, digest: str) -> Path:
    if not store.has(digest):
        raise BundleError(f"The blob {digest[:12]}… that the run needs is missing from {store.root}.")
    return store.path(digest)


def _whole_lines(source: Path, target: Path) -> None:
    """Copy a journal without the partial last line of a writer at work."""
    if not source.exists():
        target.touch()
        return
    shutil.copyfile(source, target)
    with target.open("r+b") as file:
        end = file.seek(0, 2)
        while end > 0:
            start = max(0, end - 65536)
            file.seek(start)
            found = file.read(end - start).rfind(b"\n")
            if found >= 0:
                file.truncate(start + found + 1)
                return
            end = start
        file.truncate(0)
