"""One attempt at one planned trial, and whoever can carry it out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .digests import canonical, sha256
from .journal import Event
from .manifest import Manifest


@dataclass(frozen=True)
class TrialJob:
    run_dir: Path
    index: int
    attempt: int
    seed: int
    worker: int = 0
    checkpoint: str = ""
    """Blob of the checkpoint that it goes on from: then only the evaluation is repeated."""

    @property
    def key(self) -> str:
        return f"{self.index}-{self.attempt}"

    def to_json(self) -> dict[str, Any]:
        row = {"index": self.index, "attempt": self.attempt, "seed": self.seed, "worker": self.worker}
        return row | ({"checkpoint": self.checkpoint} if self.checkpoint else {})

    @classmethod
    def from_json(cls, run_dir: Path, row: dict[str, Any]) -> TrialJob:
        more = (row.get("worker", 0), row.get("checkpoint", ""))
        return cls(run_dir, row["index"], row["attempt"], row["seed"], *more)


class Executor(Protocol):
    """Carries out attempts. Safe to use from several threads."""

    def execute(self, job: TrialJob) -> Iterator[Event]:
        """Give the events of one attempt, without seq, as they come; ends when the attempt has ended."""
        ...

    def kill(self, job: TrialJob) -> None:
        """End an attempt now, as cancelled; one that is not running is left alone."""
        ...

    def close(self) -> None: ...


def trial_seed(manifest: Manifest, index: int) -> int:
    """Give a trial's seed from the run's seed and what the trial is, never from its position."""
    planned = manifest.trials[index]
    scenario = manifest.scenarios[planned.scenario]
    what = [
        manifest.seed,
        manifest.cells[planned.cell].id,
        scenario.id,
        scenario.cases[planned.case].key,
        planned.number,
    ]
    return int(sha256(canonical(what))[:8], 16)
