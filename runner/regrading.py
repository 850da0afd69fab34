"""Grading an earlier run's work again with the scenarios as they are now; no agent runs and nothing is paid for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .engine import OnEvent
from .errors import BenchError, JournalError, RunnerError
from .hashes import different
from .manifest import Manifest
from .plans import EvaluationRequest
from .prepare import Prepared, prepare
from .recorded import Recorded
from .records import RunResult
from .replay import read
from .running import MakeExecutor, agents_of_run, begin, drive_run
from .selection import Selection, name_of

HELD = ("template", "setup", "capture", "environment")
"""Parts of a definition that an agent's work depends on: with another one it would have been other work."""


def regrade(
    run_dir: Path | str,
    *,
    scenarios: Sequence[str] = (),
    cells: Sequence[str] = (),
    workers: int | None = None,
    tags: Sequence[str] = (),
    on_event: OnEvent | None = None,
    on_prepared: Callable[[Prepared], None] | None = None,
    cancel: threading.Event | None = None,
    executor: MakeExecutor | None = None,
) -> RunResult:
    """Check an earlier run's trials against the bench as it is now; the result is a new run that names its parent.

    Each trial opens the start world and runs its scenario again. Every `agent.request` with the prompt that was
    recorded puts back what the agent changed then and gives the reply it gave; another prompt ends the trial as
    `run_error/regrade`, and so does a file that was not kept. Trials that never came to an end stay as they ended.
    `scenarios` and `cells` take a part of the run, as the command line does.
    """
    folder = Path(run_dir).resolve()
    prepared = plan(folder, scenarios, cells, tags)
    if on_prepared is not None:
        on_prepared(prepared)
    return drive_run(begin(prepared, folder.parent.name), workers, on_event, cancel, executor)


def plan(run_dir: Path, scenarios: Sequence[str] = (), cells: Sequence[str] = (), tags: Sequence[str] = ()) -> Prepared:
    """Plan the same trials under the bench as it is now, in the cells as they were pinned."""
    result = read(run_dir)
    before = result.manifest
    _check_run(result)
    Recorded.of(run_dir, replace(before, regrades=before.regrades or before.run))  # refused before a run is made
    names = frozenset(name_of(before, trial.index) for trial in before.trials)
    prepared = prepare(
        run_dir.parents[2], trials=before.trials_per_cell, environment=before.environment, seed=before.seed,
        evaluation=_requested(before), agents=agents_of_run(before), tags=tags, probe=False,
        select=Selection(tuple(scenarios), tuple(cells), names),
    )  # fmt: skip
    check_held(before, prepared.manifest, prepared.bench.file)
    pinned = {cell.id: cell for cell in before.cells}
    manifest = replace(
        prepared.manifest,
        cells=tuple(pinned[cell.id] for cell in prepared.manifest.cells),
        limits={**prepared.manifest.limits, "retries": 0},
        parent=before.run,
        regrades=before.regrades or before.run,
    )
    gone = len(names) - len(manifest.rows) if not scenarios and not cells else 0
    return replace(prepared, manifest=manifest, warnings=(*prepared.warnings, *_left_out(gone)))


def _check_run(result: RunResult) -> None:
    manifest = result.manifest
    if manifest.sealed is None:
        raise JournalError(f"The run {manifest.run} was not made by this runner ({manifest.origin}); it has no world.")
    if result.state == "running":
        raise RunnerError(f"The run {manifest.run} has not ended; wait for it, or finish it with run --resume.")


def check_held(before: Manifest, now: Manifest, file: Path) -> None:
    """Refuse a bench under which the agents would have worked in something else, naming what differs."""
    parts = [part for part in different(before.hashes, now.hashes) if part in HELD]
    parts += [name for name, was, is_now in _conditions(before, now) if was != is_now]
    if parts:
        raise BenchError(
            f"The run {before.run} cannot be graded again: what its agents worked in has changed since "
            f"({', '.join(parts)}). Undo that change, or start a new run.",
            file=file,
        )


def _conditions(before: Manifest, now: Manifest) -> list[tuple[str, Any, Any]]:
    """A suite's time limit is the grader's; the others were the agent's."""
    limits = [
        (f"{group}.{name}", before.limits.get(group, {}).get(name), now.limits.get(group, {}).get(name))
        for group, name in (("timeouts", "request"), ("timeouts", "trial"), ("budget", "trial"))
    ]
    every = [*limits, ("isolation", before.isolation, now.isolation), ("network", before.network, now.network)]
    then, today = _plans(before), _plans(now)
    own = ("resources", "image", *(("network",) if before.network == now.network else ()))
    each = [
        (f"{name} of {scenario}", then[scenario].get(name), plan.get(name))
        for scenario, plan in today.items()
        for name in own
        if scenario in then
    ]
    return [*every, *each]


def _plans(manifest: Manifest) -> dict[str, dict[str, Any]]:
    plans = manifest.plans
    return {manifest.scenarios[t.scenario].id: plans[t.plan] for t in manifest.trials if t.plan < len(plans)}


def _requested(manifest: Manifest) -> EvaluationRequest:
    """What the run was asked for stays; what the bench or its scenarios say is read anew."""
    asked = any(row.get("source") == "request" for row in manifest.plans)
    return EvaluationRequest.again(manifest.evaluation if asked else None, manifest.requested)


def _left_out(count: int) -> list[str]:
    if not count:
        return []
    return [f"{count:,} of its trials are left out: the bench has their scenario, case or cell no more."]
