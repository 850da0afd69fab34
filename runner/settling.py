"""After a trial's process has ended: its world is kept or removed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from .blobs import BlobStore
from .credentials import NOTE, take_back
from .definition import Capture, parse_size
from .errors import DiskFull, RunnerError, is_disk_full
from .jobs import TrialJob
from .journal import Event, now
from .manifest import Manifest
from .retention import wanted
from .sealing import SEALED, WORLD
from .worlds.keeping import Mounts, keep
from .worlds.places import Place, drop_place, worlds_root
from .worlds.rules import Rules


class Settler:
    def __init__(self, run_dir: Path, manifest: Manifest, blobs: BlobStore) -> None:
        self.run_dir, self.manifest, self.blobs = run_dir, manifest, blobs
        limit = manifest.limits.get("max_bytes") or parse_size(Capture().max_bytes)
        self.rules = Rules((), int(limit))

    def settle(self, job: TrialJob, finished: Event, mounts: Mounts | None = None) -> Iterator[Event]:
        """Keep the world where the bench wants it kept, and leave nothing else behind. `mounts` are the trial's own."""
        place = Place(f"{worlds_root()}/{self.manifest.run}/{job.index}-{job.attempt}")
        try:
            if os.path.lexists(place.at(NOTE)) and (login := take_back(place.root)) and login.flaw:
                yield self._warning(job, "credentials", login.flaw)
            if wanted(self.manifest.retain, finished["state"], finished.get("outcome")) and place.world.is_dir():
                yield self._kept(job, place, mounts)
            drop_place(place)
        except (RunnerError, OSError) as error:
            if is_disk_full(error):
                raise DiskFull(self.run_dir) from error
            yield self._warning(job, "world", f"The trial's world could not be put away: {error}")

    def _kept(self, job: TrialJob, place: Place, mounts: Mounts | None) -> Event:
        template = self._template()
        kept = keep(place, self.run_dir, job.index, job.attempt, self.blobs, self.rules, template, mounts)
        return self._event(job, "kept", path=kept.path, blob=kept.blob, files=kept.files, size=kept.size)

    def _template(self) -> Path | None:
        sealed = self.manifest.sealed
        return self.run_dir.parent.parent / SEALED / sealed / WORLD if sealed else None

    def _warning(self, job: TrialJob, code: str, sentence: str) -> Event:
        told = {"severity": "warning", "phase": "cleanup", "code": code, "sentence": sentence, "detail": ""}
        return self._event(job, "issue", **told)

    def _event(self, job: TrialJob, type: str, **fields: object) -> Event:
        return {"type": type, "at": now(), "trial": job.index, "attempt": job.attempt, **fields}
