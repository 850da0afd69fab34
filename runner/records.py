"""What a journal says, as plain frozen records: attempts and all that belongs to them, trials, a whole run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .collected import Collected, digests_of
from .faults import COMPLETE
from .manifest import Manifest, PlannedTrial

Value = bool | int | float | str | None
Record = TypeVar("Record")


def made(kind: type[Record], fields: dict[str, Any]) -> Record:
    """Make a frozen record of all its fields: its constructor sets them one by one, which took a third of a fold."""
    record = kind.__new__(kind)
    record.__dict__.update(fields)
    return record


@dataclass(frozen=True)
class Usage:
    """What was spent. None is unknown, never 0; `estimated` marks a cost that nobody billed."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    cost: float | None = None
    model_calls: int | None = None
    tool_calls: int | None = None
    estimated: bool = False

    @classmethod
    def from_json(cls, row: dict[str, Any] | None) -> Usage:
        if not row:
            return NO_USAGE
        fields = {**NO_USAGE.__dict__}
        for key, value in row.items():
            if key in fields:
                fields[key] = finite_number(value)
        return made(cls, fields)

    def to_json(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if value is not None and value is not False}

    def __add__(self, other: Usage) -> Usage:
        if self is NO_USAGE or other is NO_USAGE:
            return other if self is NO_USAGE else self
        names = ("tokens_in", "tokens_out", "tokens_cached", "cost", "model_calls", "tool_calls")
        sums = {name: _sum(getattr(self, name), getattr(other, name)) for name in names}
        return Usage(**sums, estimated=self.estimated or other.estimated)


NO_USAGE = Usage()


@dataclass(frozen=True)
class Observation:
    measure: str
    value: Value
    valid: bool = True
    reason: str = ""
    count: int = 1
    """How many times it was observed; the last valid one counts."""


@dataclass(frozen=True)
class Request:
    """One `agent.request`: digests of prompt, reply text, normalised transcript, raw output and change records.

    `changes` holds all that the agent changed so far, `delta` what this request alone did. `ignored` names what it
    touched of that which the capture leaves aside. `replayed`: the run only graded again what was recorded, so its
    usage was spent in another run. `models` are those that answered, as the agent tells; most agents tell none.
    """

    number: int
    prompt: str | None
    text: str | None
    exit_code: int | None
    timed_out: bool
    seconds: float
    usage: Usage
    transcript: str | None = None
    output: str | None = None
    changes: str | None = None
    delta: str | None = None
    ignored: tuple[str, ...] = ()
    replayed: bool = False
    models: tuple[str, ...] = ()

    def records(self) -> set[str]:
        """Name the blobs that are change records."""
        return {digest for digest in (self.changes, self.delta) if digest}


@dataclass(frozen=True)
class Judged:
    """One `bench.judge`: digests of prompt and answer. `model` is the version that answered, as its provider says."""

    number: int
    model: str
    prompt: str | None
    text: str | None
    seconds: float
    usage: Usage


@dataclass(frozen=True)
class Artifact:
    name: str
    kind: str
    media: str
    blob: str
    size: int


@dataclass(frozen=True)
class Issue:
    severity: str
    phase: str
    code: str
    sentence: str
    detail: str = ""


@dataclass(frozen=True)
class Guard:
    sentence: str
    late: bool
    where: str = ""


@dataclass(frozen=True)
class ChangeRecord:
    """The blob (benchsite/changes/1) of one stage, `agent` or `evaluation`, and its counts:
    added, modified, deleted, links, lines_added, lines_deleted."""

    stage: str
    blob: str
    counts: dict[str, int]


@dataclass(frozen=True)
class Kept:
    """A kept workspace: its place below the run directory, the blob of its tree (benchsite/tree/1), files and bytes."""

    path: str
    blob: str
    files: int
    size: int


@dataclass(frozen=True)
class Attempt:
    """One physical try at a planned trial. `state` is "running" while it has not ended."""

    trial: int
    number: int
    state: str = "running"
    outcome: str | None = None
    fault: str | None = None
    phase: str | None = None
    reason: str = ""
    started_at: str | None = None
    finished_at: str | None = None
    seconds: float | None = None
    headline: float | None = None
    phases: dict[str, float] = field(default_factory=dict)
    observations: dict[str, Observation] = field(default_factory=dict)
    requests: tuple[Request, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    issues: tuple[Issue, ...] = ()
    guards: tuple[Guard, ...] = ()
    changes: dict[str, ChangeRecord] = field(default_factory=dict)
    collected: tuple[Collected, ...] = ()
    checkpoint: str | None = None
    """Blob (benchsite/checkpoint/1) of what its evaluation started from."""
    kept: Kept | None = None
    usage: Usage = Usage()
    """What the subject spent; what the judge spent stands with `judged`."""
    judged: tuple[Judged, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def judge_usage(self) -> Usage:
        return total_usage(one.usage for one in self.judged)

    @property
    def ignored(self) -> tuple[str, ...]:
        """Name what the agent touched and the capture ignores: no record has it, only a kept world."""
        return tuple(dict.fromkeys(name for request in self.requests for name in request.ignored))

    def blobs(self) -> Iterator[str]:
        """Name every blob this attempt refers to directly."""
        for request in self.requests:
            digests = (request.prompt, request.text, request.transcript, request.output, request.changes, request.delta)
            yield from (digest for digest in dict.fromkeys(digests) if digest)
        yield from (digest for one in self.judged for digest in (one.prompt, one.text) if digest)
        yield from (artifact.blob for artifact in self.artifacts)
        yield from (record.blob for record in self.changes.values())
        yield from digests_of(self.collected)
        if self.checkpoint:
            yield self.checkpoint
        if self.kept:
            yield self.kept.blob


@dataclass(frozen=True)
class Trial:
    """A planned trial and what became of it: the final attempt counts, cost sums over all of them."""

    planned: PlannedTrial
    state: str = "queued"
    reason: str = ""
    attempts: tuple[Attempt, ...] = ()

    @property
    def final(self) -> Attempt | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def usage(self) -> Usage:
        return total_usage(attempt.usage for attempt in self.attempts)

    @property
    def judge_usage(self) -> Usage:
        return total_usage(attempt.judge_usage for attempt in self.attempts)


@dataclass(frozen=True)
class RunResult:
    """All of a run. `state`: running | finished | cancelled | interrupted; `stopped`: cell position to sentence."""

    manifest: Manifest
    trials: tuple[Trial, ...]
    state: str
    started_at: str | None = None
    finished_at: str | None = None
    stopped: dict[int, str] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """Number of trials by state; what stands at 0 is not listed."""
        return dict(Counter(trial.state for trial in self.trials))

    @property
    def complete(self) -> bool:
        return all(trial.state in COMPLETE for trial in self.trials)

    def frame(self, *, every: bool = False) -> dict[str, list[Any]]:
        """Give trials x measures as columns, as `runner.frame` tells."""
        from .frames import frame

        return frame(self, every=every)


def total_usage(spent: Iterable[Usage]) -> Usage:
    return sum(spent, start=Usage())


def _sum(a: float | None, b: float | None) -> Any:
    return b if a is None else a if b is None else a + b


def finite_number(value: Any) -> float | None:
    if value is not None and not (isinstance(value, (float, int)) and math.isfinite(value)):
        raise ValueError(f"{str(value)[:40]!r} is not a number")
    return value
