"""One trial in the foreground, and an earlier trial once more: for whoever writes a scenario or doubts a result."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .definition import Bench
from .engine import OnEvent
from .errors import BenchError
from .executor import LocalExecutor
from .forkserver import FreshProcesses
from .manifest import Manifest
from .prepare import Prepared
from .records import RunResult
from .replay import read
from .running import TRIES, run
from .scenario.debugging import DEBUG
from .selection import Selection, name_of

OnPrepared = Callable[[Prepared], None]


def try_scenario(
    folder: Path | str | Bench,
    scenario: str,
    *,
    agent: str | None = None,
    case: str | None = None,
    cell: str | None = None,
    environment: str | None = None,
    evaluation: str | None = None,
    seed: int | None = None,
    debug: bool = False,
    on_event: OnEvent | None = None,
    on_prepared: OnPrepared | None = None,
    cancel: threading.Event | None = None,
) -> RunResult:
    """Run one trial of a scenario and keep its world. It is put under `.bench/tries`, apart from the runs.

    Without `case` the first one is taken, without `cell` the first cell of the agent. With `debug` the scenario's
    process keeps the terminal: `breakpoint()` works in it, and an exception opens the debugger.
    """
    wanted = f"{scenario}[{case}]" if case else scenario
    select = Selection(scenarios=(wanted,), cells=(cell,) if cell else (), single=True)
    with _debugging(debug):
        return run(
            folder, trials=1, workers=1, environment=environment, evaluation=evaluation, seed=seed,
            agents=[agent] if agent else None, select=select, retain="always", into=TRIES, tags=["try"],
            on_event=on_event, on_prepared=on_prepared, cancel=cancel, executor=Foreground if debug else None,
        )  # fmt: skip


def rerun(
    run_dir: Path | str,
    index: int,
    *,
    trials: int | None = None,
    workers: int | None = None,
    tags: tuple[str, ...] = (),
    on_event: OnEvent | None = None,
    on_prepared: OnPrepared | None = None,
    cancel: threading.Event | None = None,
) -> RunResult:
    """Run the case of a trial again in its cell, with the bench as it is now: a new run of that one trial.

    It gets the seed it had. `trials` asks for so many trials of that case and cell instead.
    """
    folder = Path(run_dir).resolve()
    manifest = read(folder).manifest
    if not 0 <= index < len(manifest.rows):
        raise BenchError(f"The run {manifest.run} has no trial {index}: its trials are 0 to {len(manifest.rows) - 1}.")
    scenario, case, cell, number = name_of(manifest, index)
    count = trials or number
    numbers = range(1, trials + 1) if trials else (number,)
    return run(
        folder.parents[2], trials=count, workers=workers, environment=manifest.environment, seed=manifest.seed,
        agents=agents_of(manifest, index), tags=tags, on_event=on_event, on_prepared=on_prepared, cancel=cancel,
        select=Selection(trials=frozenset((scenario, case, cell, one) for one in numbers)),
    )  # fmt: skip


def agents_of(manifest: Manifest, index: int) -> list[str] | None:
    """Name the agent of a trial, so that a run asks for that one alone; it may be one that the matrix does not name."""
    axes = manifest.cells[manifest.trials[index].cell].axes
    return [axes["agent"]] if "agent" in axes else None


class Foreground(LocalExecutor):
    """Gives each trial a process of its own that keeps the terminal."""

    def __init__(self, run_dir: Path, workers: int = 1) -> None:
        super().__init__(run_dir, workers)
        self.launcher = FreshProcesses(self.run_dir, terminal=True)


@contextmanager
def _debugging(debug: bool) -> Iterator[None]:
    if not debug:
        yield
        return
    os.environ[DEBUG] = "1"
    try:
        yield
    finally:
        del os.environ[DEBUG]
