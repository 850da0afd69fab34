"""Checkpoints: all that an evaluation starts from, so that it can be repeated without the agent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .blobs import BlobStore
from .collected import Collected, proven, tree_of
from .digests import canonical, digest
from .errors import JournalError, RunnerError
from .manifest import Manifest
from .recorded import Work
from .records import Attempt, Issue, RunResult
from .replay import Folding
from .scheduling import Pending, pending
from .worlds.changes import ChangeSet

FORMAT = "benchsite/checkpoint/1"


@dataclass(frozen=True)
class Checkpoint:
    """`of` names what was evaluated, and how; `requests` are the agent's as journalled, `seconds` what it all took."""

    of: dict[str, str]
    attempt: int
    requests: tuple[dict[str, Any], ...]
    collected: tuple[Collected, ...]
    flags: tuple[str, ...] = ()
    issues: tuple[Issue, ...] = ()
    seconds: float = 0.0

    def store(self, blobs: BlobStore) -> str:
        row = {
            "format": FORMAT,
            "of": self.of,
            "attempt": self.attempt,
            "requests": list(self.requests),
            "collected": [entry.to_json() for entry in self.collected],
            "flags": list(self.flags),
            "issues": [vars(issue) for issue in self.issues],
            "seconds": self.seconds,
        }
        return blobs.put(canonical(row))

    def work(self, manifest: Manifest, index: int, kept: Path | None) -> Work:
        """Give what the agent did, as whoever grades it again takes it."""
        folding = Folding()
        for row in self.requests:
            folding.feed({"type": "request", **row, "trial": index, "attempt": self.attempt})
        attempt = next(iter(folding.unended()), Attempt(index, self.attempt))
        return Work(manifest.run, replace(attempt, flags=self.flags, issues=self.issues), kept)


def identity(manifest: Manifest, index: int) -> dict[str, str]:
    """Name what a checkpoint is of: with any part of it changed, it is of something else."""
    planned = manifest.trials[index]
    scenario = manifest.scenarios[planned.scenario]
    return {
        "run": manifest.run,
        "trial": str(index),
        "cell": manifest.cells[planned.cell].id,
        "scenario": scenario.hash,
        "case": scenario.cases[planned.case].fingerprint,
        "plan": digest(manifest.plans[planned.plan]),
        "bench": manifest.sealed or "",
    }


def load(manifest: Manifest, index: int, name: str, blobs: BlobStore) -> Checkpoint:
    """Read a checkpoint and prove every byte that an evaluation would take from it; RunnerError says what is wrong."""
    try:
        found = _read(json.loads(proven(blobs, name, "the checkpoint itself")))
        _same(found.of, identity(manifest, index))
        _prove(found, blobs)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, JournalError) as error:
        raise RunnerError(f"it cannot be read ({type(error).__name__}: {error})") from error
    return found


def check(run_dir: Path, result: RunResult) -> None:
    """Prove the checkpoints that a resumed run would go on from, before anything runs."""
    blobs = BlobStore(run_dir.parent.parent / "blobs")
    for todo in pending(result):
        if todo.checkpoint:
            _check_one(result.manifest, todo, blobs)


def _check_one(manifest: Manifest, todo: Pending, blobs: BlobStore) -> None:
    try:
        load(manifest, todo.index, todo.checkpoint, blobs)
    except RunnerError as error:
        raise RunnerError(
            f"The run {manifest.run} cannot go on: the checkpoint of {manifest.where(todo.index)} is damaged: {error}. "
            f"Run that trial again, agent and all: benchsite run --only-failed {manifest.run}"
        ) from error


def _read(row: dict[str, Any]) -> Checkpoint:
    if row.get("format") != FORMAT:
        raise ValueError(f"its format is {row.get('format')!r}, this version reads {FORMAT!r}")
    return Checkpoint(
        of=row["of"],
        attempt=int(row["attempt"]),
        requests=tuple(row["requests"]),
        collected=tuple(map(Collected.from_json, row["collected"])),
        flags=tuple(row["flags"]),
        issues=tuple(Issue(**issue) for issue in row["issues"]),
        seconds=float(row["seconds"]),
    )


def _same(one: dict[str, str], other: dict[str, str]) -> None:
    parts = [name for name in other if one.get(name) != other[name]]
    if parts:
        raise RunnerError(f"it is of another {', '.join(parts)}")


def _prove(found: Checkpoint, blobs: BlobStore) -> None:
    for entry in found.collected:
        if entry.tree:
            tree_of(entry, blobs)
    for row in found.requests:
        for name in ("prompt", "text", "transcript", "changes", "delta"):
            if row.get(name):
                data = proven(blobs, row[name], f"the {name} of request {row['number']}")
                for one in _ends(data) if name == "delta" else ():
                    proven(blobs, one, f"a file that request {row['number']} left")


def _ends(record: bytes) -> Iterator[str]:
    for change in ChangeSet.from_json(json.loads(record)).changes:
        if change.after is not None and change.after.stored and change.after.sha256:
            yield change.after.sha256
