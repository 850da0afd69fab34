"""Under which conditions a trial was made: its resolved plan in words, and what became of each declared path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from benchsite.artifacts.models import Blob
from benchsite.artifacts.store import open_blob
from benchsite.flows import clean
from runner.collected import STATUSES
from runner.errors import RunnerError
from runner.surroundings import how_held

from .loaded import manifest_json
from .provenance import HUGE

SHOWN = 50
MODES = {
    "none": "The verifier gets no environment: the agent's is closed, and only what was collected is graded.",
    "reuse": "The verifier gets the environment the agent worked in, with all it left there.",
    "fresh": "The verifier gets a new environment: the start world, what was collected, nothing else of the agent's.",
}
SOURCES = {"request": "chosen for the run", "scenario": "marked on the scenario", "bench": "the bench's default"}
FIXTURES = {
    "mounted": "read-only at /fixtures, for the verifier alone",
    "declared": "shown at /fixtures when the agent had ended, in its environment",
    "hidden": "not shown in the environment",
}
HELD = frozenset({"memory", "processes", "disk", "network"})
"""What something holds; the rest of that list says how things are."""
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Plan:
    """`raw` is the plan as the manifest has it; the rest is that in words, and empty where the plan says nothing."""

    raw: Row
    mode: str
    what: str
    source: str
    facts: tuple[tuple[str, str], ...]
    collect: tuple[tuple[str, str], ...]
    artifacts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Carried:
    """One declared path of one attempt."""

    attempt: int
    path: str
    status: str
    meaning: str
    kind: str
    files: int
    size: int
    exclude: str

    @property
    def word(self) -> str:
        return self.status.replace("_", " ")


def plan_of(manifest: str, state: str | None, scenario: str) -> Plan | None:
    """Find the plan of a scenario in its run's manifest; None where the manifest is not to be had or plans nothing."""
    try:
        # the state is asked every time: what was redacted since is not shown from memory
        open_blob(manifest, state).close()
        plans, by_scenario = _plans(manifest)
    except (RunnerError, ValueError, KeyError, TypeError, IndexError, OSError):
        return None
    number = by_scenario.get(scenario, 0)
    return _told(plans[number]) if type(number) is int and 0 <= number < len(plans) else None


@lru_cache(maxsize=64)
def _plans(digest: str) -> tuple[tuple[Row, ...], dict[str, int]]:
    """Read the plans of a manifest once, and which of them each scenario has."""
    found = manifest_json(digest, Blob.State.PRESENT)
    plans = tuple(clean.tree(plan) for plan in found.get("plans") or () if isinstance(plan, dict))
    names = [str(one["id"]) for one in found["scenarios"]]
    return plans, {names[row[1]]: row[4] for row in reversed(found["rows"])}


def _told(plan: Row) -> Plan:
    mode = str(plan.get("mode") or "reuse")
    return Plan(
        raw=plan,
        mode=mode,
        what=MODES.get(mode, ""),
        source=SOURCES.get(str(plan.get("source")), ""),
        facts=tuple((name, value) for name, value in _facts(plan) if value),
        collect=tuple((_text(row.get("command")), _seconds(row.get("timeout", 60))) for row in _rows(plan, "collect")),
        artifacts=tuple((_text(row.get("path")), _exclude(row)) for row in _rows(plan, "artifacts")),
    )


def _facts(plan: Row) -> Iterator[tuple[str, str]]:
    version = _text(plan.get("environment_version"))
    yield "Environment", ", ".join(filter(None, (_text(plan.get("environment")), version)))
    yield "Image", _text(plan.get("image"))
    yield "Isolation", _text(plan.get("isolation"))
    yield "Network", _pairs(plan.get("network"))
    yield "Resources", _resources(plan.get("resources"))
    yield "Held by", _held(plan.get("held"))
    yield "Time limits", _times(plan.get("timeouts"))
    yield "Fixtures", FIXTURES.get(str(plan.get("fixtures")), "")
    if _rows(plan, "artifacts"):
        yield "May carry out", _limits(plan.get("limits"))


def _rows(plan: Row, name: str) -> list[Row]:
    """Give the dicts of a list; a path that stands alone is one without rules."""
    found = plan.get(name)
    rows = found[:SHOWN] if isinstance(found, list) else []
    return [{"path": row} if isinstance(row, str) else row for row in rows if isinstance(row, str | dict)]


def _text(value: Any) -> str:
    return "" if value is None else str(value)[:500]


def _pairs(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    return ", ".join(f"{name} {_value(one)}" for name, one in value.items() if one not in (None, "", []))


def _held(value: Any) -> str:
    rows = value.items() if isinstance(value, dict) else ()
    return "; ".join(f"{name} {how_held(what)}" if name in HELD else f"{name} {_text(what)}" for name, what in rows)


def _value(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else f"{value:,}" if type(value) is int else str(value)


def _times(value: Any) -> str:
    return ", ".join(f"{name} {_seconds(one)}" for name, one in value.items()) if isinstance(value, dict) else ""


def _seconds(value: Any) -> str:
    return f"{value:g} s" if isinstance(value, int | float) else ""


def _limits(value: Any) -> str:
    limits = value if isinstance(value, dict) else {}
    files = f"{limits['files']:,} files" if type(limits.get("files")) is int else ""
    return ", ".join(filter(None, (_size(limits.get("bytes")), files, _seconds(limits.get("seconds")))))


def _resources(value: Any) -> str:
    limits = value if isinstance(value, dict) else {}
    known = {name: _size(one) if name in ("memory", "disk") else one for name, one in limits.items()}
    return _pairs(known)


def _size(value: Any) -> str:
    return f"{value / 2**20:,.4g} MiB" if type(value) is int and 0 <= value < HUGE else ""


def _exclude(row: Row) -> str:
    rules = row.get("exclude")
    return " ".join(map(str, rules))[:500] if isinstance(rules, list | tuple) else ""


def carried(attempt: int, record: Row) -> Iterator[Carried]:
    """Give what became of each declared path of an attempt, from its record."""
    for row in record.get("collected") or ():
        status = _text(row.get("status"))
        yield Carried(
            attempt=attempt,
            path=_text(row.get("path")),
            status=status,
            meaning=_text(row.get("reason")) or STATUSES.get(status, ""),
            kind={"dir": "folder", "file": "file"}.get(_text(row.get("kind")), ""),
            files=int(row.get("files") or 0),
            size=int(row.get("size") or 0),
            exclude=_exclude(row),
        )
