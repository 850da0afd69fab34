"""What a trial left, for a person at a terminal: its patch, its transcript, its world."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .blobs import BlobStore
from .digests import digest as digest_of
from .errors import RunnerError
from .processes import output_of
from .records import Attempt, Request, RunResult
from .replay import read
from .transcript import Step, read_steps
from .worlds.applying import REMADE, remake, why_lost
from .worlds.aside import told
from .worlds.changes import ChangeSet, Side
from .worlds.patch import git_patch, ignored_comments
from .worlds.tree import Entry, Tree

TOO_LONG = "longer than this system opens"
NO_SETUP = digest_of("")
"""The hash of a setup that is not there."""


@dataclass(frozen=True)
class Evidence:
    """One trial of a run that was read from disk."""

    run_dir: Path
    result: RunResult
    index: int

    @classmethod
    def of(cls, run_dir: Path | str, index: int) -> Evidence:
        folder = Path(run_dir).resolve()
        result = read(folder)
        if not 0 <= index < len(result.trials):
            raise RunnerError(
                f"The run {result.manifest.run} has no trial {index}: its trials are 0 to {len(result.trials) - 1}."
            )
        return cls(folder, result, index)

    @property
    def blobs(self) -> BlobStore:
        return BlobStore(self.run_dir.parent.parent / "blobs")

    @property
    def where(self) -> str:
        return self.result.manifest.where(self.index)

    @property
    def attempt(self) -> Attempt:
        final = self.result.trials[self.index].final
        if final is None:
            trial = self.result.trials[self.index]
            raise RunnerError(f"The trial {self.where} left nothing: it is {trial.state}. {trial.reason}".rstrip())
        return final

    def record(self, digest: str) -> dict[str, Any]:
        try:
            value: dict[str, Any] = json.loads(self.blobs.read(digest))
        except (OSError, ValueError) as error:
            raise RunnerError(f"The record {digest[:12]}… of {self.where} cannot be read: {error}.") from error
        return value


def changes_of(run_dir: Path | str, index: int, stage: str = "agent") -> ChangeSet:
    """Give what a trial's agent changed; `evaluation` is what scenario, suite and collect commands wrote after it."""
    trial = Evidence.of(run_dir, index)
    record = trial.attempt.changes.get(stage)
    if record is None and stage == "agent":
        raise RunnerError(f"The trial {trial.where} has no change record: its agent was never asked.")
    return ChangeSet() if record is None else ChangeSet.from_json(trial.record(record.blob))


def patch_of(run_dir: Path | str, index: int, stage: str = "agent") -> bytes:
    """Give those changes as a patch that `git apply` takes; what it cannot hold is named in comments above it."""
    trial, changes = Evidence.of(run_dir, index), changes_of(run_dir, index, stage)
    aside = trial.attempt.ignored if stage == "agent" else ()
    return ignored_comments(aside) + git_patch(changes, trial.blobs)


def transcript_of(run_dir: Path | str, index: int) -> Iterator[tuple[Request, list[Step]]]:
    """Give a trial's requests with the steps of each; a request without a transcript has its reply alone."""
    trial = Evidence.of(run_dir, index)
    for request in trial.attempt.requests:
        yield request, _steps(trial.blobs, request)


def _steps(blobs: BlobStore, request: Request) -> list[Step]:
    if request.transcript and blobs.has(request.transcript):
        return list(read_steps(io.BytesIO(blobs.read(request.transcript))))
    reply = blobs.read(request.text).decode("utf-8", "replace") if request.text and blobs.has(request.text) else ""
    return [Step("assistant", "message", reply)] if reply else []


@dataclass(frozen=True)
class Opened:
    """`source`: kept (the world itself), stored (its tree and blobs) or rebuilt (template and changes).

    `missing` names what could not be given back, each with the reason.
    """

    path: Path
    source: str
    files: int
    missing: tuple[str, ...]


def open_world(run_dir: Path | str, index: int, target: Path | str) -> Opened:
    """Put the world as the agent left it into a new folder: the kept one, or one rebuilt from what was recorded."""
    trial, folder = Evidence.of(run_dir, index), Path(target).resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RunnerError(f"{folder} is in the way; name a folder that is new or empty with --to.")
    kept = trial.attempt.kept
    if kept is not None and (trial.run_dir / kept.path).is_dir():
        return _copied(trial.run_dir / kept.path, folder)
    missing: list[str] = []
    if kept is not None and trial.blobs.has(kept.blob):
        source, entries = "stored", {entry.path: entry for entry in _tree(trial, kept.blob)}
    else:
        source, entries = "rebuilt", _end_state(trial, missing)
        missing += told(trial.attempt.ignored)
    folder.mkdir(parents=True, exist_ok=True)
    unwritten = _written(folder, entries.values(), trial.blobs)
    files = sum(entry.type != "dir" for entry in entries.values()) - len(unwritten)
    return Opened(folder, source, files, (*missing, *unwritten))


def _copied(source: Path, target: Path) -> Opened:
    """`cp -a` keeps links, modes and times."""
    target.mkdir(parents=True, exist_ok=True)
    argv = ["cp", "-a", "--", f"{source}/.", str(target)]
    done, said = output_of(argv, cwd=source, env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}, timeout=3600)
    told = said.splitlines()
    others = [line for line in told if not line.endswith(os.strerror(errno.ENAMETOOLONG))]
    if not done.ok and (others or not told):
        raise RunnerError(f"The kept world could not be copied to {target}: {' '.join(others)[:500]}")
    lost = (f"paths {TOO_LONG} there, with what lies below them: {len(told):,}",) if told else ()
    return Opened(target, "kept", sum(len(files) for _, _, files in os.walk(target)), lost)


def _tree(trial: Evidence, digest: str) -> tuple[Entry, ...]:
    return Tree.from_json(trial.record(digest)).entries


def _end_state(trial: Evidence, missing: list[str]) -> dict[str, Entry]:
    """Lay the changes of the agent over the template."""
    manifest, record = trial.result.manifest, trial.attempt.changes.get("agent")
    entries = {entry.path: entry for entry in _tree(trial, manifest.template)} if manifest.template else {}
    if record is None:
        raise RunnerError(f"The world of {trial.where} was not kept, and its agent was never asked: see the template.")
    if manifest.hashes.get("setup", "") not in ("", NO_SETUP):
        missing.append("what the bench's setup wrote and the agent left alone: only changes after setup are recorded")
    changes = ChangeSet.from_json(trial.record(record.blob))
    for path in (*changes.removed, *(change.path for change in changes.changes)):
        entries.pop(path, None)
    entries.update({path: Entry(path, "dir", "040000") for path in changes.made})
    entries.update({change.path: _entry(change.path, change.after) for change in changes.changes if change.after})
    return entries


def _entry(path: str, side: Side) -> Entry:
    return Entry(path, side.type, side.mode, side.size, side.sha256, side.target, side.stored)


def _written(folder: Path, entries: Iterable[Entry], blobs: BlobStore) -> list[str]:
    """Write entries; paths were checked to be relative when they were read. Gives those that could not be written.

    Links come last: nothing is ever written through one.
    """
    missing = []
    for entry in sorted(entries, key=lambda entry: (entry.type == "link", entry.path)):
        try:
            if not _made(folder / entry.path, entry, blobs):
                missing.append(f"{_short(entry.path)}: {why_lost(entry.type, entry.size)}")
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            missing.append(f"{_short(entry.path)}: its path is {TOO_LONG} there")
    return missing


def _short(path: str) -> str:
    return path if len(path) <= 200 else f"{path[:100]}…{path[-40:]}"


def _made(path: Path, entry: Entry, blobs: BlobStore) -> bool:
    """Write one entry; False where what it was is not to be had."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if entry.type == "dir":
        path.mkdir(exist_ok=True)
    elif entry.type == "link" and entry.target is not None:
        path.symlink_to(entry.target)
    elif entry.type in REMADE:
        remake(path, entry.type)
    elif entry.type == "file" and entry.sha256 and entry.stored and blobs.has(entry.sha256):
        shutil.copyfile(blobs.path(entry.sha256), path)
        path.chmod(0o755 if entry.mode == "100755" else 0o644)
    else:
        return False
    return True
