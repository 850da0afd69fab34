from __future__ import annotations

import shlex
from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import Any

from runner import replay
from runner.errors import RunnerError
from runner.records import RunResult
from runner.selection import Selection, failed_trials

from .options import evaluation_of
from .places import find_run
from .plan import show_plan
from .terminal import console, plural, print_json, text
from .watching import Watch

SOME_FAILED, CANCELLED = 3, 130


def command(options: Namespace) -> int:
    if options.dry_run:
        return _dry_run(options)
    result, path = _resume(options) if options.resume else _run(options)
    return close(result, path, options)


def close(result: RunResult, path: Path, options: Namespace) -> int:
    """End a command that made a run: with what happened, for a person or for a machine."""
    code = exit_code(result)
    if options.json:
        print_json(outcome(result, str(path), code))
    else:
        _close(result, path)
    return code


def _run(options: Namespace) -> tuple[RunResult, Path]:
    from runner.running import run

    with Watch(error=options.json) as watch:
        result = run(
            options.bench,
            **_plan(options),
            workers=options.workers,
            fail_fast=options.fail_fast,
            on_prepared=watch.prepared,
            on_event=watch.event,
            cancel=watch.cancel,
        )
    return result, options.bench.resolve() / ".bench" / "runs" / result.manifest.run


def _plan(options: Namespace) -> dict[str, Any]:
    """Give what shapes the plan. A run of what failed plans as many trials as the run it looks at had."""
    failed = replay.read(find_run(options.only_failed, options.bench)) if options.only_failed else None
    return {
        "trials": options.trials or (failed.manifest.trials_per_cell if failed else None),
        "environment": options.environment,
        "evaluation": evaluation_of(options),
        "seed": options.seed,
        "world": options.world,
        "tags": options.tag,
        "select": Selection(tuple(options.scenario), tuple(options.cell), failed_trials(failed) if failed else None),
    }


def _dry_run(options: Namespace) -> int:
    from runner.prepare import prepare

    if options.resume:
        raise RunnerError("--dry-run shows the plan of a new run; leave out --resume.")
    prepared = prepare(options.bench, **_plan(options))
    if options.json:
        manifest = prepared.manifest.to_json()
        print_json({"environment": prepared.environment, "warnings": list(prepared.warnings), "manifest": manifest})
    else:
        show_plan(prepared)
    return 0


def _resume(options: Namespace) -> tuple[RunResult, Path]:
    """Go on with a run as it was planned; options that would plan another one are refused, not ignored."""
    from runner.running import resume

    plan = ("trials", "environment", "seed", "world", "evaluation", "artifact", "collect")
    for name in (*plan, "scenario", "cell", "only_failed", "tag"):
        if getattr(options, name) not in (None, []):
            written = name.replace("_", "-")
            raise RunnerError(f"--{written} cannot change a run that was begun; leave it out, or start a new run.")
    run_dir = find_run(options.resume, options.bench)
    with Watch(error=options.json) as watch:
        watch.resumed(replay.read(run_dir))
        result = resume(
            run_dir, workers=options.workers, fail_fast=options.fail_fast, on_event=watch.event, cancel=watch.cancel
        )
    return result, run_dir.resolve()


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
        "regraded": result.manifest.regraded,
        "parent": result.manifest.parent,
        "planned": len(result.trials),
        "counts": result.counts,
        "outcomes": _outcomes(result),
        "complete": result.complete,
        "exit_code": code,
    }


def _outcomes(result: RunResult) -> dict[str, int]:
    finals = [trial.final for trial in result.trials if trial.state == "scored"]
    return dict(Counter(final.outcome for final in finals if final and final.outcome))


def _close(result: RunResult, path: Path) -> None:
    """End with what happened, the reasons of errors by how often they came, and where to look."""
    out = console()
    counts = ", ".join(f"{count:,} {state}" for state, count in {**result.counts, **_outcomes(result)}.items())
    made_from = f", regraded from {result.manifest.parent}" if result.manifest.regraded else ""
    out.print(text(f"Run {result.manifest.run} {result.state}{made_from}: {counts}."))
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
    out.print(text(f"See it: benchsite result {result.manifest.run}{bench_option(path.parents[2])}"))


def bench_option(bench: Path) -> str:
    """Name the bench in a command that is shown, where it is not here: by its way from here, if it lies below."""
    here, bench = Path.cwd(), bench.absolute()
    near = bench.relative_to(here) if bench.is_relative_to(here) else bench
    return "" if bench == here else f" --bench {shlex.quote(str(near))}"
