"""What `result` says under its table of what was measured, what was not and why, and what was flagged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from runner.faults import INTEGRITY_FLAGS

from .terminal import plural


def counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {state}" for state, count in counts.items())


def told_coverage(made: dict[str, Any]) -> Iterator[str]:
    """Say the whole in one line, then each measure that scored trials did not all observe."""
    if made["coverage"]:
        yield covered(made["coverage"])
    for key, seen in made["coverage"].items():
        if gap := _gap(key, seen):
            yield gap


def told_flags(made: dict[str, Any]) -> Iterator[str]:
    """Say what speaks against believing a score first, then what else a trial met: limits, late guards, hung suites."""
    doubted = {name: many for name, many in made["flags"].items() if name in INTEGRITY_FLAGS}
    others = {name: many for name, many in made["flags"].items() if name not in INTEGRITY_FLAGS}
    if doubted:
        yield f"Flagged trials, their scores as they were measured: {counted(doubted)}."
    if others:
        yield f"{'Also flagged' if doubted else 'Flagged trials'}: {counted(others)}."


def covered(coverage: dict[str, dict[str, Any]]) -> str:
    """Say in one line what of all declared measures of all planned trials was observed."""
    missing: Counter[str] = Counter()
    for seen in coverage.values():
        missing.update(seen["missing"])
    sums = {name: sum(seen[name] for seen in coverage.values()) for name in ("expected", "observed", "invalid")}
    reasons = f" ({counted(dict(sorted(missing.items())))})" if missing else ""
    return (
        f"Coverage of {plural(len(coverage), 'measure')}: {sums['expected']:,} expected, "
        f"{sums['observed']:,} observed, {sums['invalid']:,} invalid, {missing.total():,} missing{reasons}."
    )


def _gap(key: str, seen: dict[str, Any]) -> str:
    unseen = seen["missing"].get("not_observed", 0)
    if not seen["observed"]:
        return f"{key}: never observed ({seen['invalid']} invalid, of {seen['expected']} planned)."
    if seen["invalid"] or unseen:
        return f"{key}: {seen['invalid']} invalid, {unseen} not observed, of {seen['expected']} planned."
    return ""
