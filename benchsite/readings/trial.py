"""What happened in one trial: observations with their reasons, guards, issues, time and money; and what was said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from benchsite.benches.models import Measure
from benchsite.curation.models import Decision
from benchsite.flows import clean
from benchsite.runs.models import Observation
from runner.faults import FAULTS

from . import words
from .conditions import Plan, plan_of
from .flagged import Flag, evidence_of, flags_of
from .shelf import Shelf
from .trialhead import Head, find

TEXT_HEAD = 20_000
REQUESTS_READ = 20
PHASES = ("prepare", "setup", "execution", "collect", "evaluation", "cleanup")


@dataclass(frozen=True)
class Observed:
    """One declared measure and what became of it. `state`: valid, invalid or missing."""

    measure: Measure
    value: str
    state: str
    reason: str
    count: int
    number: float | None = None
    """What stands behind `value`, where it is valid and a number; a bool is 0 or 1."""

    @property
    def objective(self) -> str:
        return self.measure.objective or "no direction"


@dataclass(frozen=True)
class PhaseTime:
    name: str
    seconds: float
    start: float
    """Percent of the trial's whole time before this phase; `share` is its own."""
    share: float

    @property
    def drawn(self) -> float:
        """Give the width to draw: a phase of milliseconds is still a line one can see."""
        return max(0.4, self.share)


@dataclass(frozen=True)
class RequestFacts:
    number: int
    prompt: str
    reply: str
    prompt_cut: bool
    reply_cut: bool
    exit_code: int | None
    timed_out: bool
    seconds: float
    usage: tuple[tuple[str, str], ...]
    transcript: bool
    models: tuple[str, ...]


@dataclass(frozen=True)
class JudgedFacts:
    """One question to the judge, with what was said and spent."""

    number: int
    model: str
    seconds: float
    prompt: str
    reply: str
    cut: bool
    usage: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Try:
    """An attempt as listed: every one is kept, the last one counts."""

    number: int
    state: str
    fault: str
    sentence: str
    seconds: float | None
    started_at: Any
    counts: bool


@dataclass(frozen=True)
class Overview:
    head: Head
    why: str
    observed: tuple[Observed, ...]
    unknown: tuple[dict[str, Any], ...]
    guards: tuple[dict[str, Any], ...]
    issues: tuple[dict[str, Any], ...]
    flags: tuple[Flag, ...]
    phases: tuple[PhaseTime, ...]
    usage: tuple[tuple[str, str], ...]
    requests: tuple[RequestFacts, ...]
    judged: tuple[JudgedFacts, ...]
    judge_usage: tuple[tuple[str, str], ...]
    tries: tuple[Try, ...]
    plan: Plan | None
    withdrawals: tuple[Decision, ...] = field(default=())


def overview(user: Any, ulid: str, index: int) -> Overview | None:
    head = find(user, ulid, index)
    if head is None:
        return None
    record = head.record()
    issues = tuple(dicts(record.get("issues")))
    asked = dicts(record.get("requests"))[:REQUESTS_READ]
    shelf = Shelf([head.run.manifest, *_texts(asked)], head.run.bench_id)
    return Overview(
        head=head,
        why=_why(head),
        observed=_observed(head),
        unknown=tuple(dicts(record.get("unknown"))),
        guards=tuple(dicts(record.get("guards"))),
        issues=tuple({**issue, "evidence": evidence_of(issue)} for issue in issues),
        flags=flags_of(head.trial.flags, issues),
        phases=_phases(head),
        usage=usage_rows(_worked(head).get("usage")),
        requests=tuple(_request(row, shelf) for row in asked),
        judged=_judged(record, head.run.bench_id),
        judge_usage=usage_rows(record.get("judge_usage")),
        tries=_tries(head),
        plan=plan_of(head.run.manifest, shelf.state(head.run.manifest), head.trial.scenario.name),
        withdrawals=tuple(Decision.objects.filter(run=ulid, trial=index).select_related("by")),
    )


def usage_rows(usage: Any) -> tuple[tuple[str, str], ...]:
    """Write what was spent; what is unknown is left out, never shown as 0."""
    spent = usage if isinstance(usage, dict) else {}
    labels = {
        "tokens_in": "tokens in", "tokens_out": "tokens out", "tokens_cached": "tokens cached",
        "model_calls": "model calls", "tool_calls": "tool calls",
    }  # fmt: skip
    rows = [(label, f"{n:,}") for key, label in labels.items() if (n := clean.whole(spent.get(key))) is not None]
    if (cost := clean.amount(spent.get("cost"))) is not None:
        about = " (estimated)" if spent.get("estimated") else ""
        rows.append(("cost", words.cost(cost) + about))
    return tuple(rows)


def _why(head: Head) -> str:
    """Say in one sentence why the trial is in its state."""
    trial = head.trial
    if trial.state == "scored":
        return ""
    sentence = trial.reason or head.fault_sentence
    return sentence or {
        "queued": "The trial has not started yet.",
        "running": "The trial is running; what is here so far may still change.",
        "not_run": "The trial was never started.",
        "cancelled": "The run was cancelled before this trial ended.",
    }.get(trial.state, "")


def _observed(head: Head) -> tuple[Observed, ...]:
    made = {row.measure_id: row for row in Observation.objects.filter(trial=head.trial)}
    measures = Measure.objects.filter(version=head.run.version_id)
    return tuple(observed_one(measure, made.get(measure.pk), head.trial.state) for measure in measures)


def observed_one(measure: Measure, row: Observation | None, state: str) -> Observed:
    if row is None:
        why = "not observed" if state == "scored" else "the trial was not scored"
        return Observed(measure, words.NONE, "missing", why, 0)
    if not row.valid:
        return Observed(measure, row.text or words.NONE, "invalid", row.reason, row.count)
    return Observed(measure, _value(measure, row), "valid", row.reason, row.count, row.number)


def _value(measure: Measure, row: Observation) -> str:
    if measure.type == "bool":
        return "yes" if row.number else "no"
    if measure.type in ("int", "float") and row.number is not None:
        return f"{row.number:,.0f}" if measure.type == "int" else f"{row.number:,.6g}"
    return row.text or words.NONE


def _phases(head: Head) -> tuple[PhaseTime, ...]:
    spent = {
        name: float(seconds) for name, seconds in (head.final.phases if head.final else {}).items() if seconds >= 0.0005
    }
    total = sum(spent.values())
    found: list[PhaseTime] = []
    at = 0.0
    for name in sorted(spent, key=lambda name: PHASES.index(name) if name in PHASES else 99):
        share = 100 * spent[name] / total if total else 0.0
        found.append(PhaseTime(name, spent[name], round(at, 2), round(share, 2)))
        at += share
    return tuple(found)


def _worked(head: Head) -> dict[str, Any]:
    """Give the record of the attempt whose agent worked: one that only graded again spent nothing."""
    records = [attempt.record or {} for attempt in head.attempts if not _repeated(attempt.record or {})]
    return records[-1] if records else head.record()


def _repeated(record: dict[str, Any]) -> bool:
    """Did an attempt only repeat the evaluation of what an agent had done before?"""
    asked = dicts(record.get("requests"))
    return bool(asked) and all(row.get("replayed") for row in asked)


def _texts(requests: list[dict[str, Any]]) -> Iterator[str | None]:
    yield from (row.get(name) for row in requests for name in ("prompt", "text"))


def _request(row: dict[str, Any], shelf: Shelf) -> RequestFacts:
    prompt, prompt_cut = _text(shelf, row.get("prompt"))
    reply, reply_cut = _text(shelf, row.get("text"))
    return RequestFacts(
        number=int(row.get("number") or 1),
        prompt=prompt,
        reply=reply,
        prompt_cut=prompt_cut,
        reply_cut=reply_cut,
        exit_code=row.get("exit_code"),
        timed_out=bool(row.get("timed_out")),
        seconds=float(row.get("seconds") or 0),
        usage=usage_rows(row.get("usage")),
        transcript=bool(row.get("transcript")),
        models=tuple(map(str, row.get("models") or ())),
    )


def _judged(record: dict[str, Any], bench: int) -> tuple[JudgedFacts, ...]:
    rows = dicts(record.get("judged"))[:REQUESTS_READ]
    shelf = Shelf((row.get(name) for row in rows for name in ("prompt", "text")), bench)
    return tuple(_judged_one(row, shelf) for row in rows)


def _judged_one(row: dict[str, Any], shelf: Shelf) -> JudgedFacts:
    prompt, prompt_cut = _text(shelf, row.get("prompt"))
    reply, reply_cut = _text(shelf, row.get("text"))
    return JudgedFacts(
        number=int(row.get("number") or 1),
        model=str(row.get("model") or ""),
        seconds=float(row.get("seconds") or 0),
        prompt=prompt,
        reply=reply,
        cut=prompt_cut or reply_cut,
        usage=usage_rows(row.get("usage")),
    )


def _text(shelf: Shelf, digest: str | None) -> tuple[str, bool]:
    """Read the beginning of a text; what may not be shown says why instead."""
    if not digest:
        return "", False
    data = shelf.head(digest, TEXT_HEAD + 1)
    if data is None:
        return f"({shelf.why.get(digest, 'not to be had')})", False
    return data[:TEXT_HEAD].decode("utf-8", "replace"), len(data) > TEXT_HEAD


def _tries(head: Head) -> tuple[Try, ...]:
    last = head.attempts[-1].number if head.attempts else 0
    found = []
    for attempt in head.attempts:
        record = attempt.record or {}
        sentence = record.get("reason") or (FAULTS[attempt.fault].sentence if attempt.fault in FAULTS else "")
        if attempt.number > 1 and _repeated(record):
            sentence = f"The evaluation alone was repeated, of the work that was done before. {sentence}".rstrip()
        seconds = record.get("seconds")
        found.append(
            Try(
                attempt.number,
                attempt.state,
                attempt.fault,
                sentence,
                seconds,
                attempt.started_at,
                attempt.number == last,
            )
        )
    return tuple(found)


def dicts(value: Any) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list | tuple) else []
