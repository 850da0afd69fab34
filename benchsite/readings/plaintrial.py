"""One trial as plain data: what became of it, and under which conditions it was made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from benchsite.artifacts.store import state_of

from .conditions import carried, plan_of
from .trialhead import Head, find


def trial_json(user: Any, ulid: str, index: int) -> dict[str, Any] | None:
    """Give a trial of a run the reader may see; None whether it is forbidden or absent."""
    head = find(user, ulid, index)
    if head is None:
        return None
    trial = head.trial
    plain = ("index", "number", "state", "outcome", "fault", "reason", "seconds", "cost", "tokens", "flags")
    plan = plan_of(head.run.manifest, state_of(head.run.manifest), trial.scenario.name)
    return {
        "run": ulid,
        "scenario": trial.scenario.name,
        "case": trial.case.key,
        "axes": dict(head.axes),
        **{name: getattr(trial, name) for name in plain},
        "plan": dict(plan.raw) if plan else {},
        "attempts": [{"number": one.number, "state": one.state, "fault": one.fault} for one in head.attempts],
        "collected": _collected(head),
        "judged": list(_judged(head)),
    }


def _judged(head: Head) -> Iterator[dict[str, Any]]:
    """Give each answer of the bench's judge with what it spent, apart from the subject's tokens and cost."""
    for attempt in head.attempts:
        for row in (attempt.record or {}).get("judged", ()):
            yield {"attempt": attempt.number, **{name: row[name] for name in ("number", "model", "seconds", "usage")}}


def _collected(head: Head) -> list[dict[str, Any]]:
    return [asdict(one) for attempt in head.attempts for one in carried(attempt.number, attempt.record or {})]
