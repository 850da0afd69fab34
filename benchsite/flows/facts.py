"""From an attempt's record to the rows that show it. What a trial counts as is decided here as `runner.replay` does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from benchsite.artifacts.models import Artifact as ArtifactRow
from benchsite.runs.models import Attempt as AttemptRow
from benchsite.runs.models import Observation as ObservationRow
from benchsite.runs.models import Trial as TrialRow
from runner.replay import Attempt, ChangeRecord, Issue, Usage
from runner.schema import MeasureSpec
from runner.statistics.rows import stored

from . import clean
from .bulk import Table

PLAN = ("run_id", "index", "cell_id", "scenario_id", "case_id", "number")
FACTS = ("state", "fault", "outcome", "headline", "seconds", "cost", "tokens", "added", "modified", "deleted",
         "lines_added", "lines_deleted", "changes", "kept", "attempts", "flags", "reason")  # fmt: skip
NEW_TRIALS = Table(TrialRow, "id", *PLAN, *FACTS, "withdrawn")
OLD_TRIALS = Table(TrialRow, "id", *FACTS)
ATTEMPTS = Table(AttemptRow, "trial", "number", "state", "fault", "started_at", "finished_at", "phases", "record")
OBSERVATIONS = Table(ObservationRow, "trial", "measure", "number", "text", "valid", "reason", "count")
ARTIFACTS = Table(ArtifactRow, "trial", "attempt", "name", "kind", "media", "digest", "size")
ERRORS = frozenset({"run_error", "eval_error"})
COUNTS = ("added", "modified", "deleted", "lines_added", "lines_deleted")
Measures = Mapping[str, tuple[int, MeasureSpec]]


class Past(NamedTuple):
    """What an earlier attempt, already in the database, still says about its trial: what it cost."""

    number: int
    usage: Usage


def unstarted(state: str, reason: str = "") -> tuple[Any, ...]:
    """Give the facts of a planned trial nobody has tried."""
    return (state, "", "", None, None, None, None, *(None,) * 5, "", "", 0, [], clean.text(reason))


def trial_facts(tries: Sequence[Attempt], past: Sequence[Past] = (), unrun: tuple[str, str] | None = None) -> Any:
    """Give a trial's columns: the last attempt counts, what was spent sums over all of them in their order."""
    final = tries[-1]
    spent = final.usage
    if past or len(tries) > 1:
        spent = Usage()
        for one in sorted((*past, *tries), key=lambda one: one.number):
            spent += one.usage
    state, reason = unrun or (final.state, final.reason)
    scored = state == "scored"
    record = final.changes.get("agent")
    counted = _counts(record) if record else {}
    return (
        clean.text(state, 10),
        clean.text(final.fault, 20) if state in ERRORS else "",
        clean.text(final.outcome, 8) if scored else "",
        clean.number(final.headline) if scored else None,
        clean.amount(final.seconds),
        clean.amount(spent.cost),
        tokens(spent),
        *(counted.get(name) for name in COUNTS),
        record.blob if record else "",
        final.kept.blob if final.kept else "",
        len(past) + len(tries),
        flags(final),
        clean.text(reason),
    )


def tokens(usage: Usage) -> int | None:
    known = [count for count in (usage.tokens_in, usage.tokens_out) if count is not None]
    return clean.whole(sum(known)) if known else None


def flags(attempt: Attempt) -> list[str]:
    """Give the attempt's flags; `cleaned` says that text of its row differs from the original in the journal."""
    found = [clean.word(flag, 40) for flag in attempt.flags]
    odd = found != [*attempt.flags] or clean.dirty(attempt.reason)
    odd = odd or any(clean.dirty(seen.value) for seen in attempt.observations.values())
    return [*found, "cleaned"] if odd else found


def attempt_row(trial: int, attempt: Attempt, measures: Measures) -> tuple[Any, ...]:
    return (
        trial,
        attempt.number,
        clean.text(attempt.state, 10),
        clean.text(attempt.fault, 20),
        clean.moment(attempt.started_at),
        clean.moment(attempt.finished_at),
        attempt.phases,
        record_of(attempt, measures),
    )


def _texts(issue: Issue) -> dict[str, str]:
    """All that an issue says is text; a list in its place would be looked up among the codes of faults."""
    return {name: clean.text(said) for name, said in vars(issue).items()}


def _counts(record: ChangeRecord) -> dict[str, int]:
    """What a change record says of itself, as far as it can be believed."""
    return {name: many for name, value in record.counts.items() if (many := clean.whole(value)) is not None}


def record_of(attempt: Attempt, measures: Measures) -> dict[str, Any]:
    """Sum an attempt up for its page; long texts stay in blobs and are named by digest. Empty parts are left out."""
    record = {
        "requests": [_request(request) for request in attempt.requests],
        "issues": attempt.issues and [_texts(issue) for issue in attempt.issues],
        "guards": attempt.guards and [dict(vars(guard)) for guard in attempt.guards],
        "usage": attempt.usage.to_json(),
        "judged": attempt.judged and [_request(one) for one in attempt.judged],
        "judge_usage": attempt.judged and attempt.judge_usage.to_json(),
        "changes": {stage: {"blob": r.blob, "counts": _counts(r)} for stage, r in attempt.changes.items()},
        "kept": dict(vars(attempt.kept)) if attempt.kept else None,
        "collected": attempt.collected and [entry.to_json() for entry in attempt.collected],
        "checkpoint": attempt.checkpoint,
        "outcome": attempt.outcome,
        "phase": attempt.phase,
        "reason": attempt.reason,
        "seconds": attempt.seconds,
        "flags": list(attempt.flags),
        "unknown": [
            {"measure": key, "value": seen.value, "reason": seen.reason or "The schema has no such measure."}
            for key, seen in attempt.observations.items()
            if key not in measures
        ],
    }
    return {name: part for name, part in record.items() if part or part == 0}


def _request(request: Any) -> dict[str, Any]:
    numbers = {"number": clean.whole(request.number), "seconds": clean.amount(request.seconds)}
    return {**vars(request), **numbers, "usage": request.usage.to_json()}


def observation_rows(trial: int, attempt: Attempt, measures: Measures) -> Iterator[tuple[Any, ...]]:
    for key, seen in attempt.observations.items():
        if key not in measures:
            continue
        id, spec = measures[key]
        value = stored(spec, seen.value) if seen.valid else None
        if value is None:
            reason = seen.reason or "The value does not fit the measure's type, or is too large."
            yield trial, id, None, clean.text(seen.value, 2000), False, clean.text(reason, 300), seen.count
        elif isinstance(value, str):
            yield trial, id, None, clean.text(value), True, clean.text(seen.reason, 300), seen.count
        else:
            yield trial, id, value, "", True, clean.text(seen.reason, 300), seen.count


def artifact_rows(trial: int, attempt: Attempt) -> Iterator[tuple[Any, ...]]:
    for artifact in attempt.artifacts:
        yield (
            trial,
            attempt.number,
            clean.text(artifact.name, 200),
            clean.text(artifact.kind, 40),
            clean.text(artifact.media, 100),
            artifact.blob,
            clean.whole(artifact.size) or 0,
        )
