"""Run a bench, or what is left of a run: the two doors for the command line and for other programs."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from . import judges, surroundings
from .checkpoints import check as check_checkpoints
from .definition import Bench
from .dotbench import dot_bench
from .engine import OnEvent, drive
from .errors import BenchError, JournalError
from .executor import LocalExecutor, forks
from .hashes import definition_hashes, different
from .image_probe import Probing, probing
from .jobs import Executor
from .journal import MANIFEST
from .load import load_bench
from .manifest import PROTOCOL, Manifest
from .matrix import with_agents
from .pins import pin_cells
from .plans import EvaluationRequest
from .prepare import Prepared, prepare
from .replay import RunResult, read
from .schema_source import extract
from .sealing import open_sealed, seal
from .selection import Selection
from .standby import Standby
from .stored import RESULT, write_result

RUNS, TRIES = "runs", "tries"
MakeExecutor = Callable[[Path, int], Executor]
"""Given the run's folder and the number of workers; the run closes what it made."""


def run(
    folder: Path | str | Bench,
    *,
    trials: int | None = None,
    workers: int | None = None,
    environment: str | None = None,
    seed: int | None = None,
    evaluation: str | EvaluationRequest | None = None,
    agents: Sequence[str] | None = None,
    select: Selection | None = None,
    tags: Sequence[str] = (),
    retain: str | None = None,
    world: str | None = None,
    fail_fast: bool = False,
    into: str = RUNS,
    on_event: OnEvent | None = None,
    on_prepared: Callable[[Prepared], None] | None = None,
    cancel: threading.Event | None = None,
    executor: MakeExecutor | None = None,
) -> RunResult:
    """Prepare a bench and run its matrix. `on_prepared` sees the plan before anything runs; raising there stops it.

    trials, environment, seed, evaluation, agents, select, tags, retain and world shape the plan as `prepare` tells.
    With `fail_fast` the first trial that ends in an error lets no other one begin. `into` is the folder below `.bench`:
    a run under "tries" is not listed among the runs. `workers` is how many trials run at a time (default: one a core).
    """
    with closing(Standby()) as standby:
        prepared = prepare(
            folder, trials=trials, environment=environment, evaluation=evaluation, seed=seed, agents=agents,
            select=select, tags=tags, retain=retain, world=world,
            standby=standby if executor is None and forks() else None,
        )  # fmt: skip
        if on_prepared is not None:
            on_prepared(prepared)
        made = executor or partial(LocalExecutor, standby=standby)
        return drive_run(begin(prepared, into), workers, on_event, cancel, made, fail_fast=fail_fast)


def begin(prepared: Prepared, into: str = RUNS) -> Path:
    """Make the run's folder with its manifest. The rename is last: a folder that is there is whole."""
    runs = dot_bench(prepared.bench.root) / into
    aside = runs / f".{prepared.manifest.run}"
    aside.mkdir(parents=True)
    prepared.manifest.write(aside / MANIFEST)
    return aside.rename(runs / prepared.manifest.run)


def resume(
    run_dir: Path | str,
    *,
    workers: int | None = None,
    fail_fast: bool = False,
    on_event: OnEvent | None = None,
    cancel: threading.Event | None = None,
    executor: MakeExecutor | None = None,
) -> RunResult:
    """Run what a run is missing; refused when its bench is not the one it began with.

    A trial that could not be graded is not run again: its evaluation is repeated from the checkpoint it left.
    """
    folder = Path(run_dir).resolve()
    check_unchanged(folder, Manifest.read(folder / MANIFEST))
    check_checkpoints(folder, read(folder))
    return drive_run(folder, workers, on_event, cancel, executor, fail_fast=fail_fast)


def check_unchanged(run_dir: Path, manifest: Manifest) -> None:
    """Compare the bench as it is with the one the run began with, and name the parts that differ; what its trials were
    promised must still be held here, their images among it."""
    from .environments import choose

    if manifest.sealed is None:
        raise JournalError(f"The run {manifest.run} was not made by this runner ({manifest.origin}); it cannot go on.")
    if manifest.protocol != PROTOCOL:
        raise JournalError(
            f"The run {manifest.run} follows protocol {manifest.protocol}, this runner {PROTOCOL}; start a new run."
        )
    open_sealed(run_dir.parent.parent, manifest.sealed, verify=True)
    bench = load_bench(run_dir.parents[2])
    now = definition_hashes(bench, extract(bench.schema, bench.file), seal(bench), surroundings.images(manifest.plans))
    parts = [part for part in different(manifest.hashes, now) if part != "judge" or not manifest.judge]
    if judged := judges.changed(manifest.judge, bench.judge, os.environ):
        parts.append(f"judge: {', '.join(judged)}")
    if parts:
        raise BenchError(
            f"The run {manifest.run} cannot go on: its bench has changed since ({', '.join(parts)}). "
            "Undo the change, or start a new run.",
            file=bench.file,
        )
    chosen = choose(manifest.environment, bench.isolation, bench.network)
    if refusal := surroundings.unreachable(chosen, manifest.plans, [None]):
        raise BenchError(f"The run {manifest.run} cannot go on here. {refusal}", file=bench.file)
    if not manifest.regraded:  # no agent works there
        probe = probing(chosen, manifest.plans[0] if manifest.plans else {})
        _check_versions(with_agents(bench, agents_of_run(manifest)), manifest, probe)


def agents_of_run(manifest: Manifest) -> Sequence[str]:
    """Name the agents that a run was made with; they need not be those of its bench's matrix."""
    return next((axis.values for axis in manifest.axes if axis.name == "agent"), ())


def _check_versions(bench: Bench, manifest: Manifest, probe: Probing) -> None:
    """A run whose trials were measured with two versions of one agent would answer no question."""
    now = pin_cells(bench, [replace(cell, pin={}) for cell in manifest.cells], manifest.isolation, probing=probe).cells
    for before, after in zip(manifest.cells, now, strict=True):
        was, is_now = before.pin.get("version", ""), after.pin.get("version", "")
        if was != is_now:
            raise BenchError(
                f"The run {manifest.run} cannot go on: its agent {before.pin.get('agent')!r} was version {was!r} and "
                f"is {is_now!r} now. Put that version back, or start a new run.",
                file=bench.file,
            )


def drive_run(
    run_dir: Path,
    workers: int | None,
    on_event: OnEvent | None,
    cancel: threading.Event | None,
    executor: MakeExecutor | None,
    *,
    fail_fast: bool = False,
) -> RunResult:
    """Drive a run that has its folder, with an executor of its own, and store what it came to."""
    count = workers if workers is not None else os.cpu_count() or 1
    if count < 1:
        raise BenchError(f"workers={count} is not a whole number of at least 1.")
    with closing((executor or LocalExecutor)(run_dir, count)) as made:
        (run_dir / RESULT).unlink(missing_ok=True)  # it would speak of an earlier end
        result = drive(run_dir, executor=made, workers=count, on_event=on_event, cancel=cancel, fail_fast=fail_fast)
    write_result(run_dir, result)
    return result
