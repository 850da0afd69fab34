"""What a run's judge was, which versions of it answered, and what it spent: apart from every subject."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from runner.records import RunResult, total_usage


def judge_of(result: RunResult) -> dict[str, Any]:
    """Give the declared judge with what it did in the run; empty where no judge was declared."""
    if not result.manifest.judge:
        return {}
    attempts = [attempt for trial in result.trials for attempt in trial.attempts]
    answered = Counter(one.model for attempt in attempts for one in attempt.judged)
    return {
        **result.manifest.judge,
        "calls": sum(answered.values()),
        "answered": dict(sorted(answered.items())),
        "usage": total_usage(attempt.judge_usage for attempt in attempts).to_json(),
    }


def judge_sentences(judge: Mapping[str, Any]) -> list[str]:
    """Say it in words for a person. Two versions that answered are no longer one judge."""
    if not judge:
        return []
    usage, count = judge["usage"], judge["calls"]
    spent = [
        f"{usage[key]:,} {word}" for key, word in (("tokens_in", "tokens in"), ("tokens_out", "out")) if key in usage
    ]
    cost = [f"${usage['cost']:.4f} (estimated)"] if "cost" in usage else []
    version = f" {judge['version']}" if judge.get("version") else ""
    lines = [
        f"judge {judge['model']}{version}: {', '.join([f'{count:,} answer' + 's' * (count != 1), *spent, *cost])}."
    ]
    if judge.get("same_model"):
        lines.append(f"The judge's model is also under test, because: {judge['same_model']}")
    if len(judge["answered"]) > 1:
        told = ", ".join(f"{model} {times:,} times" for model, times in judge["answered"].items())
        lines.append(f"Several versions answered as the judge, so trials were not graded alike: {told}.")
    return lines
