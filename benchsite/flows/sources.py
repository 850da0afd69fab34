"""Where a run is read from: a run directory, or the site's own store of blobs."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from benchsite.artifacts.store import store
from runner.blobs import BlobStore
from runner.errors import JournalError
from runner.journal import EVENTS, MANIFEST

BESIDE = frozenset({"blobs", "sealed"})
"""Folders beside a bench's runs; a world sealed there may hold files of any name."""


def runs_below(path: Path) -> list[Path]:
    """Name the run directories at and below a folder. None is looked into: kept worlds are an agent's, and hostile."""
    found = []
    for folder, folders, names in os.walk(path):
        here = Path(folder)
        if MANIFEST in names and (here == path or EVENTS in names or here.parent.name == "runs"):
            found.append(here)
            folders.clear()
        else:
            folders[:] = sorted(set(folders) - BESIDE)
    return found


@dataclass(frozen=True)
class Source:
    manifest: Path
    events: Path
    blobs: BlobStore

    @classmethod
    def of_folder(cls, run_dir: Path) -> Source:
        """A run directory; its blobs lie beside the folder of runs."""
        run_dir = run_dir.resolve()
        if not (run_dir / MANIFEST).is_file():
            raise JournalError(f"{run_dir} is not a run: it holds no {MANIFEST}.")
        return cls(run_dir / MANIFEST, run_dir / EVENTS, BlobStore(run_dir.parent.parent / "blobs"))

    @classmethod
    def of_store(cls, manifest: str, events: str) -> Source:
        """What an upload sent, or an earlier ingest kept. `events` "" is a run of which nothing was kept."""
        site = store()
        missing = [digest for digest in (manifest, events) if digest and not site.has(digest)]
        if missing:
            raise JournalError(f"The blob {missing[0][:8]}… of the run's journal is not in the store.")
        return cls(site.path(manifest), site.path(events) if events else site.root / "none", site)

    def manifest_bytes(self) -> bytes:
        return self.manifest.read_bytes()

    @contextmanager
    def open_events(self) -> Iterator[BinaryIO]:
        """Open the journal; a run that has not begun has none yet."""
        try:
            file: BinaryIO = self.events.open("rb")
        except FileNotFoundError:
            file = io.BytesIO()
        with file:
            yield file
