from __future__ import annotations

import shlex
import threading
from argparse import Namespace
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner import replay
from runner.errors import RunnerError
from runner.faults import COMPLETE
from runner.journal import Event
from runner.manifest import Manifest
from runner.replay import RunResult

from .counting import Counting
from .places import find_run
from .progress import Show, showing
from .sizes import size_line
from .stopping import stopping
from .terminal import console, plural, print_json, text

if TYPE_CHECKING:
    from runner.prepare import Prepared

SOME_FAILED, CANCELLED = 3, 130


def command(options: Namespace) -> int:
    result, path = _resume(options) if options.resume else _run(options)
    code = exit_code(result)
    if options.json:
        print_json(outcome(result, str(path), code))
    else:
        _close(result, options.bench)
    return code


def _run(options: Namespace) -> tuple[RunResult, Path]:
    from runner.running import run

    with _Watch(options) as watch:
        result = run(
            options.bench,
            trials=options.trials,
            workers=options.workers,
            environment=options.environment,
            seed=options.seed,
            evaluation=options.evaluation,
            on_prepared=watch.prepared,
            on_event=watch.event,
            cancel=watch.cancel,
        )
    return result, options.bench.resolve() / ".bench" / "runs" / result.manifest.run


def _resume(options: Namespace) -> tuple[RunResult, Path]:
    """Go on with a run as it was planned; options that would plan another one are refused, not ignored."""
    from runner.running import resume

    for name in ("trials", "environment", "seed", "evaluation"):
        if getattr(options, name) is not None:
            raise RunnerError(f"--{name} cannot change a run that was begun; leave it out, or start a new run.")
    run_dir = find_run(options.resume, options.bench)
    with _Watch(options) as watch:
        watch.resumed(replay.read(run_dir))
        result = resume(run_dir, workers=options.workers, on_event=watch.event, cancel=watch.cancel)
    return result, run_dir.resolve()


class _Watch:
    """What is printed while a run goes on, and the Ctrl-C that ends it. With --json all of it is on stderr."""

    def __init__(self, options: Namespace) -> None:
        self.cancel = threading.Event()
        self._out = console(error=options.json)
        self._open = ExitStack()
        self._show: Show | None = None

    def prepared(self, prepared: Prepared) -> None:
        manifest = prepared.manifest
        self._out.print(text(size_line(manifest)))
        for warning in prepared.warnings:
            self._out.print(text(f"warning: {warning}", "yellow"))
        self._out.print(text(f"Run {manifest.run} in {prepared.environment}"))
        self._begin(manifest, Counting(len(manifest.rows)))

    def resumed(self, result: RunResult) -> None:
        ended = {trial.planned.index: trial.state for trial in result.trials if trial.state in COMPLETE}
        self._out.print(text(f"Resuming {result.manifest.run}: {len(ended)} of {len(result.trials)} trials are done"))
        self._begin(result.manifest, Counting(len(result.trials), ended))

    def _begin(self, manifest: Manifest, counting: Counting) -> None:
        self._show = self._open.enter_context(showing(self._out, manifest, counting))

    def event(self, event: Event) -> None:
        if self._show is not None:
            self._show(event)

    def __enter__(self) -> _Watch:
        self._open.enter_context(stopping(self.cancel))
        return self

    def __exit__(self, *raised: Any) -> None:
        self._open.close()


def exit_code(result: RunResult) -> int:
    if result.state == "cancelled":
        return CANCELLED
    return 0 if result.complete else SOME_FAILED


def outcome(result: RunResult, path: str, code: int) -> dict[str, Any]:
    """Say what `run --json` says."""
    return {
        "run": result.manifest.run,
        "bench": result.manifest.bench,
        "path": path,
        "state": result.state,
        "planned": len(result.trials),
        "counts": result.counts,
        "outcomes": _outcomes(result),
        "complete": result.complete,
        "exit_code": code,
    }


def _outcomes(result: RunResult) -> dict[str, int]:
    finals = [trial.final for trial in result.trials if trial.state == "scored"]
    return dict(Counter(final.outcome for final in finals if final and final.outcome))


def _close(result: RunResult, bench: Path) -> None:
    """End with what happened, the reasons of errors by how often they came, and where to look."""
    out = console()
    counts = ", ".join(f"{count:,} {state}" for state, count in {**result.counts, **_outcomes(result)}.items())
    out.print(text(f"Run {result.manifest.run} {result.state}: {counts}."))
    for sentence in result.stopped.values():
        out.print(text(f"  {sentence}"))
    reasons = Counter(
        f"{trial.state} {trial.final.fault}: {trial.reason}".strip()
        for trial in result.trials
        if trial.final and trial.final.fault and trial.state in ("run_error", "eval_error")
    )
    for reason, count in reasons.most_common(8):
        out.print(text(f"  {count} x {reason}"))
    if len(reasons) > 8:
        out.print(text(f"  and {plural(len(reasons) - 8, 'other reason')}"))
    where = "" if bench.resolve() == Path.cwd() else f" --bench {shlex.quote(str(bench))}"
    out.print(text(f"See it: benchsite result {result.manifest.run}{where}"))
