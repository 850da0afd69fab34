"""Which trials are still to run, and when a cell or the whole run must stop: pure rules over a folded journal."""

from __future__ import annotations

from dataclasses import dataclass, field

from .faults import FAULTS, STOPS_A_CELL
from .manifest import Manifest
from .replay import Attempt, RunResult, Trial

FIRST = 3
"""So many trials of a cell may fail alike before the cell is given up."""
LOST = 5
"""So many attempts, beside those that work at a time and may go down together, may be lost with none between them that
ended by itself, before the run is given up."""


@dataclass(frozen=True)
class Pending:
    """A trial to run: the number its next attempt gets, and how many retries it has used. With a checkpoint only its
    evaluation is repeated."""

    index: int
    attempt: int
    retried: int = 0
    checkpoint: str = ""

    def after(self, attempt: Attempt) -> Pending:
        """Give the retry of an attempt that this one led to."""
        return Pending(self.index, self.attempt + 1, self.retried + 1, attempt.checkpoint or self.checkpoint)


def pending(result: RunResult) -> list[Pending]:
    """Give what a run, fresh or resumed, still has to do, in the manifest's order."""
    order = result.manifest.order or tuple(range(len(result.trials)))
    retries = retries_of(result.manifest)
    trials = (result.trials[index] for index in order)
    return [_pending(trial) for trial in trials if _is_pending(trial, retries)]


def retries_of(manifest: Manifest) -> int:
    return int(manifest.limits.get("retries") or 0)


def may_retry(fault: str | None, used: int, retries: int) -> bool:
    return fault is not None and fault in FAULTS and FAULTS[fault].retried and used < retries


def _is_pending(trial: Trial, retries: int) -> bool:
    """A lost trial runs again without costing a retry: nobody but the runner was at fault. An evaluation that failed is
    repeated where it left a checkpoint."""
    if trial.state in ("queued", "running", "not_run", "cancelled"):
        return True
    last = trial.final
    if trial.state == "eval_error":
        return last is not None and last.checkpoint is not None
    if trial.state != "run_error" or last is None:
        return False
    return last.fault == "lost" or may_retry(last.fault, _used(trial), retries)


def _pending(trial: Trial) -> Pending:
    last = trial.final
    if last is None:
        return Pending(trial.planned.index, 1)
    return Pending(trial.planned.index, last.number + 1, _used(trial), last.checkpoint or "")


def _used(trial: Trial) -> int:
    """Count the retries that were spent: attempts that failed, the first of them apart, lost and cancelled ones not."""
    failed = [a for a in trial.attempts if a.state == "run_error" and a.fault != "lost"]
    return max(0, len(failed) - 1)


@dataclass
class Cells:
    """The first ended trials of each cell: when they all met one and the same outside trouble, the rest is not run."""

    faults: dict[int, list[str | None]] = field(default_factory=dict)
    stopped: dict[int, str] = field(default_factory=dict)

    def ended(self, cell: int, attempt: Attempt) -> tuple[str, str] | None:
        """Note an ended trial; give (code, sentence) when it stops its cell."""
        seen = self.faults.setdefault(cell, [])
        seen.append(attempt.fault if attempt.state in ("run_error", "eval_error") else None)
        code = seen[0]
        if len(seen) != FIRST or code not in STOPS_A_CELL or set(seen) != {code}:
            return None
        assert code is not None
        self.stopped[cell] = f"The first {FIRST} trials of this cell all ended alike ({code}): {attempt.reason}"
        return code, self.stopped[cell]


@dataclass
class Losses:
    """Attempts that were lost one after another, whichever cells they were of: something kills what runs them, or the
    server of them all. One cell is not to blame, and none is worth going on with."""

    workers: int
    in_a_row: int = 0

    def ended(self, attempt: Attempt) -> str:
        """Note an ended attempt; give the reason why the rest of the run is not run, or ""."""
        self.in_a_row = self.in_a_row + 1 if attempt.fault == "lost" else 0
        if self.in_a_row < LOST + self.workers:
            return ""
        return (
            f"The last {self.in_a_row} attempts were lost one after another, the last one so: {attempt.reason} "
            "Find out what kills them, then go on with run --resume."
        )


@dataclass
class Spending:
    """What a run has cost so far, as far as it is known."""

    limit: float | None
    spent: float = 0.0

    @classmethod
    def of(cls, result: RunResult) -> Spending:
        limit = result.manifest.limits.get("budget", {}).get("total")
        costs = (_cost(attempt) for trial in result.trials for attempt in trial.attempts)
        return cls(None if limit is None else float(limit), sum(costs))

    def add(self, attempt: Attempt) -> None:
        self.spent += _cost(attempt)

    @property
    def over(self) -> bool:
        return self.limit is not None and self.spent >= self.limit


def _cost(attempt: Attempt) -> float:
    """The judge is paid too."""
    return (attempt.usage.cost or 0.0) + (attempt.judge_usage.cost or 0.0)
