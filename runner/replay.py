"""A result is a pure fold over manifest and events: whoever reads a journal reads it through here."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from .blobs import is_digest
from .collected import Collected
from .errors import JournalError, PathRefused
from .faults import ENDED, OUTCOMES
from .journal import MANIFEST, Event, read_events
from .manifest import Manifest, PlannedTrial
from .paths import from_json
from .records import (
    Artifact,
    Attempt,
    ChangeRecord,
    Guard,
    Issue,
    Judged,
    Kept,
    Observation,
    Request,
    RunResult,
    Trial,
    Usage,
    Value,
    finite_number,
    made,
)

__all__ = [
    "Artifact",
    "Attempt",
    "ChangeRecord",
    "Fold",
    "Folding",
    "Guard",
    "Issue",
    "Kept",
    "Observation",
    "Request",
    "RunResult",
    "Trial",
    "Usage",
    "Value",
    "fold",
    "read",
]


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
            kind = event["type"]
            step = _STEPS.get(kind)
            if step is None:
                self._around(kind, event)
                return None
            key = (event["trial"], event["attempt"])
            attempt = self.open.get(key) or self._begin(*key)
            step(attempt.__dict__, event)
            if kind != "trial.finished":
                return None
            del self.open[key]
            return _frozen(attempt)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, PathRefused) as error:
            which = f"Event {event.get('seq', '?')} of type {str(event.get('type'))[:40]!r}"
            raise JournalError(f"{which} cannot be read: {type(error).__name__} {error}.") from error

    def _begin(self, trial: int, number: int, started_at: str | None = None) -> Attempt:
        fresh: Fields = {"phases": {}, "observations": {}, "changes": {}, **{name: [] for name in _GROWING}}
        attempt = made(Attempt, {**_EMPTY, **fresh, "trial": trial, "number": number, "started_at": started_at})
        self.open[trial, number] = attempt
        return attempt

    def unended(self) -> list[Attempt]:
        """Give the attempts that have not ended, as far as they came."""
        return [_frozen(attempt) for attempt in self.open.values()]

    def _around(self, kind: str, event: Event) -> None:
        """Take an event that adds nothing to an attempt that is open."""
        if kind.startswith(("run.", "cell.", "journal.")):
            self._run(kind, event)
        elif kind == "trial.not_run":
            self.unrun[event["trial"]] = (_one_of(ENDED, event["state"]), event.get("reason") or "")
        elif kind == "trial.started":
            self.unrun.pop(event["trial"], None)
            self._begin(event["trial"], event["attempt"], event["at"])

    def _run(self, kind: str, event: Event) -> None:
        if kind == "run.started":
            self.started_at = event["at"]
        elif kind == "run.resumed":
            self.state, self.finished_at = "running", None
        elif kind == "run.finished":
            self.state, self.finished_at = event["state"], event["at"]
        elif kind == "cell.stopped":
            self.stopped[event["cell"]] = event["sentence"]


class Fold:
    """A run's result as far as its events have come. The key is (trial, attempt); a trial's last attempt counts."""

    def __init__(self, manifest: Manifest, events: Iterable[Event] = ()) -> None:
        self.manifest, self._folding = manifest, Folding()
        self._ended: dict[int, dict[int, Attempt]] = {}
        for event in events:
            self.feed(event)

    def feed(self, event: Event) -> Attempt | None:
        """Take one event; give the attempt that it ends, if it ends one. A misshapen one raises JournalError."""
        attempt = self._folding.feed(event)
        if attempt is not None:
            self._ended.setdefault(attempt.trial, {})[attempt.number] = attempt
        return attempt

    def result(self) -> RunResult:
        folding, tries = self._folding, {trial: {**ended} for trial, ended in self._ended.items()}
        for attempt in folding.unended():
            tries.setdefault(attempt.trial, {}).setdefault(attempt.number, attempt)
        return RunResult(
            manifest=self.manifest,
            trials=tuple(_trial(planned, tries.get(planned.index, {}), folding) for planned in self.manifest.trials),
            state=folding.state,
            started_at=folding.started_at,
            finished_at=folding.finished_at,
            stopped=dict(folding.stopped),
        )


def fold(manifest: Manifest, events: Iterable[Event]) -> RunResult:
    """Fold a journal whole."""
    return Fold(manifest, events).result()


def read(run_dir: Path | str) -> RunResult:
    """Fold what stands in a run's folder, be it finished or not."""
    folder = Path(run_dir)
    return fold(Manifest.read(folder / MANIFEST), read_events(folder))


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


# The steps write into the fields of an attempt that only the fold holds: it is frozen from the moment it is handed out.
# A copy at every event, as `dataclasses.replace` makes, took most of the time of a fold.
Fields = dict[str, Any]
_EMPTY: Fields = {**vars(Attempt(0, 0))}
_GROWING = ("requests", "judged", "guards", "artifacts", "issues")
"""Lists as long as they grow: a tuple that is copied with each of 80,000 issues took two minutes."""


def _frozen(attempt: Attempt) -> Attempt:
    fields: Fields = attempt.__dict__
    for name in _GROWING:
        fields[name] = tuple(fields[name])
    return attempt


def _phase(attempt: Fields, event: Event) -> None:
    phases = attempt["phases"]
    phases[event["phase"]] = phases.get(event["phase"], 0.0) + event["seconds"]


_DIGESTS = ("prompt", "text", "transcript", "output", "changes", "delta")
_TEXT_OR_NONE = {str, type(None)}


def _request(attempt: Fields, event: Event) -> None:
    usage = Usage.from_json(event.get("usage"))
    get = event.get
    if not {type(get(name)) for name in _DIGESTS} <= _TEXT_OR_NONE:
        raise ValueError("something else than a digest stands where one should")
    fields = {
        "number": event["number"],
        "prompt": get("prompt"),
        "text": get("text"),
        "exit_code": get("exit_code"),
        "timed_out": bool(get("timed_out")),
        "seconds": get("seconds", 0.0),
        "usage": usage,
        "transcript": get("transcript"),
        "output": get("output"),
        "changes": get("changes"),
        "delta": get("delta"),
        "ignored": tuple(map(from_json, get("ignored") or ())),
        "replayed": bool(get("replayed")),
        "models": tuple(map(str, get("models") or ())),
    }
    request = made(Request, fields)
    if not request.replayed:
        attempt["usage"] = attempt["usage"] + usage if attempt["requests"] else usage
    attempt["requests"] += (request,)


def _judge(attempt: Fields, event: Event) -> None:
    usage = Usage.from_json(event.get("usage"))
    seconds = finite_number(event.get("seconds")) or 0.0
    if type(event["number"]) is not int:
        raise ValueError(f"{str(event['number'])[:40]!r} is no number of a question")
    one = Judged(event["number"], str(event["model"]), event.get("prompt"), event.get("text"), seconds, usage)
    attempt["judged"] += (one,)


def _observe(attempt: Fields, event: Event) -> None:
    get, measure = event.get, event["measure"]
    if type(measure) is not str:
        raise ValueError(f"{str(measure)[:40]!r} is no name of a measure")
    fields = {
        "measure": measure,
        "value": get("value"),
        "valid": get("valid", True),
        "reason": get("reason") or "",
        "count": 1,
    }
    new = made(Observation, fields)
    old = attempt["observations"].get(measure)
    if old:
        new = replace(new if new.valid or not old.valid else old, count=old.count + 1)
    attempt["observations"][measure] = new


def _guard(attempt: Fields, event: Event) -> None:
    attempt["guards"] += (Guard(event["sentence"], bool(event.get("late")), event.get("where", "")),)


def _artifact(attempt: Fields, event: Event) -> None:
    fields = {name: event[name] for name in ("name", "kind", "blob", "size")}
    attempt["artifacts"] += (made(Artifact, {**fields, "media": event.get("media", "")}),)


def _issue(attempt: Fields, event: Event) -> None:
    issue = Issue(event["severity"], event.get("phase", ""), event["code"], event["sentence"], event.get("detail", ""))
    attempt["issues"] += (issue,)


def _changes(attempt: Fields, event: Event) -> None:
    attempt["changes"][event["stage"]] = ChangeRecord(event["stage"], event["blob"], event["counts"])


def _collected(attempt: Fields, event: Event) -> None:
    attempt["collected"] = tuple(map(Collected.from_json, event["entries"]))


def _checkpoint(attempt: Fields, event: Event) -> None:
    if not is_digest(event["blob"]):
        raise ValueError(f"{str(event['blob'])[:80]!r} is no digest")
    attempt["checkpoint"] = event["blob"]


def _kept(attempt: Fields, event: Event) -> None:
    attempt["kept"] = Kept(event["path"], event["blob"], event["files"], event["size"])


def _finished(attempt: Fields, event: Event) -> None:
    attempt.update(
        state=_one_of(ENDED, event["state"]),
        outcome=_one_of(OUTCOMES, event["outcome"]) if event.get("outcome") else None,
        fault=event.get("fault"),
        phase=event.get("phase"),
        reason=event.get("reason") or "",
        finished_at=event["at"],
        seconds=finite_number(event.get("seconds")),
        headline=finite_number(event.get("headline")),
        flags=tuple(event.get("flags", ())),
        usage=Usage.from_json(event["usage"]) if event.get("usage") else attempt["usage"],
    )


_STEPS = {
    "phase": _phase,
    "request": _request,
    "judge": _judge,
    "observe": _observe,
    "guard": _guard,
    "artifact": _artifact,
    "issue": _issue,
    "changes": _changes,
    "collected": _collected,
    "checkpoint": _checkpoint,
    "kept": _kept,
    "trial.finished": _finished,
}
