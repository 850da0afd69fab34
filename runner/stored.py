"""A run's result as a file beside its journal, and the proof that the two say the same."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .blobs import BlobStore
from .digests import canonical, digest, sha256_file
from .errors import RunnerError
from .journal import MANIFEST, read_events
from .manifest import Manifest
from .records import Attempt, RunResult, Trial
from .replay import fold

RESULT = "result.json"
FORMAT = "benchsite/fold/1"
SHOWN = 20


def result_json(result: RunResult) -> dict[str, Any]:
    """Give all that a run measured as one plain value: every trial, every attempt, every observation."""
    return {
        "format": FORMAT,
        "run": result.manifest.run,
        "manifest": digest(result.manifest.to_json()),
        "state": result.state,
        "started_at": result.started_at,
        "finished_at": result.finished_at,
        "counts": dict(sorted(result.counts.items())),
        "stopped": {str(cell): sentence for cell, sentence in sorted(result.stopped.items())},
        "trials": [_trial(trial) for trial in result.trials],
    }


def write_result(run_dir: Path, result: RunResult) -> Path:
    """Write what the run came to, as it is known at its end; `verify` compares it with the journal later."""
    aside, target = run_dir / f".{RESULT}", run_dir / RESULT
    aside.write_bytes(canonical(result_json(result)) + b"\n")
    return aside.replace(target)


@dataclass(frozen=True)
class Verified:
    """`problems` are whole sentences, none where all agrees. `stored`: there was a result to compare with."""

    result: RunResult
    stored: bool
    events: int
    blobs: int
    problems: tuple[str, ...]


def verify(run_dir: Path | str) -> Verified:
    """Fold a run's journal again: compare it with the stored result, and check every blob by its digest."""
    run_dir = Path(run_dir).resolve()
    manifest, events = Manifest.read(run_dir / MANIFEST), list(read_events(run_dir))
    result = fold(manifest, events)
    now = json.loads(canonical(result_json(result)))
    before = _stored(run_dir / RESULT)
    blobs, damaged = _blobs(run_dir, result)
    differences = [] if before is None else _differences(before, now)
    return Verified(result, before is not None, len(events), blobs, (*_gaps(events), *differences, *damaged))


def _trial(trial: Trial) -> dict[str, Any]:
    planned = trial.planned
    return {
        "index": planned.index,
        "planned": [planned.cell, planned.scenario, planned.case, planned.number],
        "state": trial.state,
        "reason": trial.reason,
        "usage": trial.usage.to_json(),
        "attempts": [_attempt(attempt) for attempt in trial.attempts],
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    plain = ("number", "state", "outcome", "fault", "phase", "reason", "seconds", "headline")
    observed = {o.measure: [o.value, o.valid, o.reason, o.count] for o in attempt.observations.values()}
    return {
        **{name: getattr(attempt, name) for name in plain},
        "flags": list(attempt.flags),
        "observations": observed,
        "usage": attempt.usage.to_json(),
        "guards": [guard.sentence for guard in attempt.guards],
        "issues": [[issue.severity, issue.code, issue.sentence] for issue in attempt.issues],
        "changes": {stage: record.blob for stage, record in attempt.changes.items()},
        "blobs": list(attempt.blobs()),
        **({"judge": judge_json(attempt)} if attempt.judged else {}),
    }


def judge_json(attempt: Attempt) -> dict[str, Any]:
    models = dict.fromkeys(one.model for one in attempt.judged)
    return {"calls": len(attempt.judged), "models": list(models), "usage": attempt.judge_usage.to_json()}


def _stored(file: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(file.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise RunnerError(f"{file} cannot be read: {error}.") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise RunnerError(f"{file} is no stored result of this version ({FORMAT}).")
    return found


def _gaps(events: list[dict[str, Any]]) -> list[str]:
    """Events are numbered as they are written: a line taken out or put in shows."""
    for place, event in enumerate(events, 1):
        if event.get("seq") != place + events[0]["seq"] - 1:
            return [f"Line {place} of the journal has the number {event.get('seq')}: lines are missing or moved."]
    return []


def _differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    found = [
        f"The stored result says {name} {_short(before.get(name))}, the journal says {_short(now[name])}."
        for name in now
        if name != "trials" and before.get(name) != now[name]
    ]
    was = {trial.get("index"): trial for trial in before.get("trials", ())}
    for trial in now["trials"]:
        if (stored := was.pop(trial["index"], {})) != trial:
            names = [name for name in trial if stored.get(name) != trial[name]]
            found.append(
                f"Trial {trial['index']} differs in {', '.join(names)}: stored as {stored.get('state')!r}, "
                f"by the journal {trial['state']!r}."
            )
    found += [f"The stored result has a trial {index} that was not planned." for index in was]
    more = len(found) - SHOWN
    return found if more <= 0 else [*found[:SHOWN], f"And {more} more differences."]


def _blobs(run_dir: Path, result: RunResult) -> tuple[int, list[str]]:
    from .exchange.references import references  # imports this package's readers of bundles

    store = BlobStore(run_dir.parent.parent / "blobs")
    attempts = (attempt for trial in result.trials for attempt in trial.attempts)
    count, problems = 0, []
    try:
        for name in references(result.manifest, attempts, store):
            count += 1
            if not store.has(name):
                problems.append(f"The blob {name[:12]}… is missing from {store.root}.")
            elif sha256_file(store.path(name)) != name:
                problems.append(f"The blob {name[:12]}… holds other bytes than its name says ({store.path(name)}).")
    except RunnerError as error:
        problems.append(str(error))
    return count, problems


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
