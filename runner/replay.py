"""A result is a pure fold over manifest and events: whoever reads a journal reads it through here."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .errors import JournalError
from .faults import COMPLETE, ENDED, OUTCOMES
from .journal import MANIFEST, Event, read_events
from .manifest import Manifest, PlannedTrial

Value = bool | int | float | str | None


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
        known = {key: value for key, value in (row or {}).items() if key in cls.__dataclass_fields__}
        for value in known.values():
            _number(value)
        return cls(**known)

    def to_json(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if value is not None and value is not False}

    def __add__(self, other: Usage) -> Usage:
        names = ("tokens_in", "tokens_out", "tokens_cached", "cost", "model_calls", "tool_calls")
        sums = {name: _sum(getattr(self, name), getattr(other, name)) for name in names}
        return Usage(**sums, estimated=self.estimated or other.estimated)


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
    """One `agent.request`: digests of prompt, reply text, normalised transcript, raw output and change record."""

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
    kept: Kept | None = None
    usage: Usage = Usage()
    flags: tuple[str, ...] = ()

    def blobs(self) -> Iterator[str]:
        """Name every blob this attempt refers to directly."""
        for request in self.requests:
            digests = (request.prompt, request.text, request.transcript, request.output, request.changes)
            yield from (digest for digest in digests if digest)
        yield from (artifact.blob for artifact in self.artifacts)
        yield from (record.blob for record in self.changes.values())
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
        total = Usage()
        for attempt in self.attempts:
            total += attempt.usage
        return total


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


class Folding:
    """Fold events in their order. Memory is bounded by the attempts open at one time: an ended one is handed out."""

    def __init__(self) -> None:
        self.state, self.started_at, self.finished_at = "running", None, None
        self.stopped: dict[int, str] = {}
        self.unrun: dict[int, tuple[str, str]] = {}
        self.open: dict[tuple[int, int], Attempt] = {}

    def feed(self, event: Event) -> Attempt | None:
        """Take one event; give the attempt that it ends, if it ends one. A misshapen one raises JournalError."""
        try:
            return self._feed(event)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            which = f"Event {event.get('seq', '?')} of type {str(event.get('type'))[:40]!r}"
            raise JournalError(f"{which} cannot be read: {type(error).__name__} {error}.") from error

    def _feed(self, event: Event) -> Attempt | None:
        kind = event["type"]
        if kind.startswith(("run.", "cell.", "journal.")):
            self._run(kind, event)
            return None
        if kind == "trial.not_run":
            self.unrun[event["trial"]] = (_one_of(ENDED, event["state"]), event.get("reason") or "")
            return None
        key = (event["trial"], event["attempt"])
        if kind == "trial.started":
            self.unrun.pop(event["trial"], None)
            self.open[key] = Attempt(*key, started_at=event["at"])
            return None
        attempt = _STEPS[kind](self.open.get(key) or Attempt(*key), event) if kind in _STEPS else None
        if attempt is None:
            return None
        if kind == "trial.finished":
            self.open.pop(key, None)
            return attempt
        self.open[key] = attempt
        return None

    def _run(self, kind: str, event: Event) -> None:
        if kind == "run.started":
            self.started_at = event["at"]
        elif kind == "run.resumed":
            self.state, self.finished_at = "running", None
        elif kind == "run.finished":
            self.state, self.finished_at = event["state"], event["at"]
        elif kind == "cell.stopped":
            self.stopped[event["cell"]] = event["sentence"]


def attempts(events: Iterable[Event], folding: Folding | None = None) -> Iterator[Attempt]:
    """Stream the ended attempts of a journal in the order they ended."""
    folding = folding or Folding()
    for event in events:
        if (ended := folding.feed(event)) is not None:
            yield ended


def fold(manifest: Manifest, events: Iterable[Event]) -> RunResult:
    """Fold a journal whole. The fold key is (trial, attempt); a trial's last attempt counts."""
    folding = Folding()
    ended: dict[int, dict[int, Attempt]] = {}
    for attempt in attempts(events, folding):
        ended.setdefault(attempt.trial, {})[attempt.number] = attempt
    for (trial, number), attempt in folding.open.items():
        ended.setdefault(trial, {}).setdefault(number, attempt)
    return RunResult(
        manifest=manifest,
        trials=tuple(_trial(planned, ended.get(planned.index, {}), folding) for planned in manifest.trials),
        state=folding.state,
        started_at=folding.started_at,
        finished_at=folding.finished_at,
        stopped=folding.stopped,
    )


def read(run_dir: Path) -> RunResult:
    return fold(Manifest.read(run_dir / MANIFEST), read_events(run_dir))


def _trial(planned: PlannedTrial, tries: dict[int, Attempt], folding: Folding) -> Trial:
    ordered = tuple(tries[number] for number in sorted(tries))
    if planned.index in folding.unrun:
        state, reason = folding.unrun[planned.index]
        return Trial(planned, state, reason, ordered)
    if not ordered:
        return Trial(planned, "queued" if folding.state == "running" else "not_run")
    last = ordered[-1]
    if last.state in ENDED or folding.state == "running":
        return Trial(planned, last.state, last.reason, ordered)
    lost = replace(last, state="run_error", fault="lost", reason="The runner ended before this trial did.")
    return Trial(planned, lost.state, lost.reason, (*ordered[:-1], lost))


def _one_of(known: Collection[str], word: str) -> str:
    if word not in known:
        raise ValueError(f"{word!r} is none of {', '.join(sorted(known))}")
    return word


def _number(value: Any) -> float | None:
    if value is not None and not (isinstance(value, int | float) and math.isfinite(value)):
        raise ValueError(f"{str(value)[:40]!r} is not a number")
    return value


def _sum(a: float | None, b: float | None) -> Any:
    return b if a is None else a if b is None else a + b


def _with(attempt: Attempt, **changes: Any) -> Attempt:
    """Do what `dataclasses.replace` does, in a tenth of the time: a fold copies an attempt at every event."""
    copy = object.__new__(Attempt)
    copy.__dict__.update(attempt.__dict__, **changes)
    return copy


def _phase(attempt: Attempt, event: Event) -> Attempt:
    spent = attempt.phases.get(event["phase"], 0.0) + event["seconds"]
    return _with(attempt, phases={**attempt.phases, event["phase"]: spent})


def _request(attempt: Attempt, event: Event) -> Attempt:
    usage = Usage.from_json(event.get("usage"))
    request = Request(
        number=event["number"],
        prompt=event.get("prompt"),
        text=event.get("text"),
        exit_code=event.get("exit_code"),
        timed_out=bool(event.get("timed_out")),
        seconds=event.get("seconds", 0.0),
        usage=usage,
        transcript=event.get("transcript"),
        output=event.get("output"),
        changes=event.get("changes"),
    )
    return _with(attempt, requests=(*attempt.requests, request), usage=attempt.usage + usage)


def _observe(attempt: Attempt, event: Event) -> Attempt:
    new = Observation(event["measure"], event.get("value"), event.get("valid", True), event.get("reason") or "")
    old = attempt.observations.get(new.measure)
    if old:
        new = replace(new if new.valid or not old.valid else old, count=old.count + 1)
    return _with(attempt, observations={**attempt.observations, new.measure: new})


def _guard(attempt: Attempt, event: Event) -> Attempt:
    guard = Guard(event["sentence"], bool(event.get("late")), event.get("where", ""))
    return _with(attempt, guards=(*attempt.guards, guard))


def _artifact(attempt: Attempt, event: Event) -> Attempt:
    artifact = Artifact(event["name"], event["kind"], event.get("media", ""), event["blob"], event["size"])
    return _with(attempt, artifacts=(*attempt.artifacts, artifact))


def _issue(attempt: Attempt, event: Event) -> Attempt:
    issue = Issue(event["severity"], event.get("phase", ""), event["code"], event["sentence"], event.get("detail", ""))
    return _with(attempt, issues=(*attempt.issues, issue))


def _changes(attempt: Attempt, event: Event) -> Attempt:
    record = ChangeRecord(event["stage"], event["blob"], event["counts"])
    return _with(attempt, changes={**attempt.changes, record.stage: record})


def _kept(attempt: Attempt, event: Event) -> Attempt:
    return _with(attempt, kept=Kept(event["path"], event["blob"], event["files"], event["size"]))


def _finished(attempt: Attempt, event: Event) -> Attempt:
    return _with(
        attempt,
        state=_one_of(ENDED, event["state"]),
        outcome=_one_of(OUTCOMES, event["outcome"]) if event.get("outcome") else None,
        fault=event.get("fault"),
        phase=event.get("phase"),
        reason=event.get("reason") or "",
        finished_at=event["at"],
        seconds=_number(event.get("seconds")),
        headline=_number(event.get("headline")),
        flags=tuple(event.get("flags", ())),
        usage=Usage.from_json(event["usage"]) if event.get("usage") else attempt.usage,
    )


_STEPS = {
    "phase": _phase,
    "request": _request,
    "observe": _observe,
    "guard": _guard,
    "artifact": _artifact,
    "issue": _issue,
    "changes": _changes,
    "kept": _kept,
    "trial.finished": _finished,
}
