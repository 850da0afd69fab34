"""`benchsite try`: one trial in the foreground, its events in words."""

from __future__ import annotations

import io
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.blobs import BlobStore
from runner.errors import RunnerError
from runner.journal import EVENT_TYPES, Event
from runner.records import RunResult
from runner.transcript import read_steps

from .run import CANCELLED, bench_option, exit_code, outcome
from .stopping import stopping
from .terminal import as_it_was, console, plural, print_json, seconds, text
from .transcript import SHORT, STYLES, step_lines

if TYPE_CHECKING:
    from runner.prepare import Prepared


def command(options: Namespace) -> int:
    import threading

    from runner.trying import try_scenario

    if options.pdb and options.json:
        raise RunnerError("--pdb needs the terminal for itself; leave out --json.")
    cancel, telling = threading.Event(), Telling(options.bench, error=options.json)
    with stopping(cancel, *((as_it_was(),) if options.pdb else ())):
        result = try_scenario(
            options.bench, options.scenario, agent=options.agent, case=options.case, cell=options.cell,
            environment=options.environment, evaluation=options.evaluation, seed=options.seed, debug=options.pdb,
            on_event=telling.event, on_prepared=telling.prepared, cancel=cancel,
        )  # fmt: skip
    code = exit_code(result)
    path = options.bench.resolve() / ".bench" / "tries" / result.manifest.run
    if options.json:
        print_json({**outcome(result, str(path), code), "world": _world(result, path)})
    elif code != CANCELLED:
        telling.close(result, path)
    return code


def _world(result: RunResult, path: Path) -> str | None:
    final = result.trials[0].final
    return str(path / final.kept.path) if final and final.kept else None


class Telling:
    """Says each event of the one trial as a sentence; all that a stranger wrote is cleaned."""

    def __init__(self, bench: Path, *, error: bool) -> None:
        self._out = console(error=error)
        self._blobs = BlobStore(bench.resolve() / ".bench" / "blobs")

    def prepared(self, prepared: Prepared) -> None:
        self.say(prepared.manifest.where(0), "bold")
        self.say(f"in {prepared.environment}, seed {prepared.manifest.seed}")
        for warning in prepared.warnings:
            self.say(f"warning: {warning}", "yellow")

    def say(self, line: str, style: str = "") -> None:
        self._out.print(text(line, style), soft_wrap=True)

    def event(self, event: Event) -> None:
        if event["type"] in EVENT_TYPES:
            getattr(self, f"_{event['type'].replace('.', '_')}", lambda _: None)(event)

    def _phase(self, event: Event) -> None:
        self.say(f"{event['phase']} took {seconds(event['seconds'])}", "dim")

    def _request(self, event: Event) -> None:
        ended = "timed out" if event.get("timed_out") else f"ended with exit code {event.get('exit_code')}"
        self.say(f"request {event['number']} {ended} after {seconds(event['seconds'])}", "bold")
        digest = event.get("transcript")
        for step in read_steps(io.BytesIO(self._blobs.read(digest))) if digest else ():
            for line in step_lines(step, SHORT):
                self.say(line, STYLES.get(step.kind, ""))

    def _judge(self, event: Event) -> None:
        self.say(f"the judge {event['model']} answered after {seconds(event['seconds'])}", "bold")
        for line in self._blobs.read(event["text"]).decode("utf-8", "replace").splitlines():
            self.say(f"      {line}")

    def _changes(self, event: Event) -> None:
        counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in event["counts"].items() if count)
        self.say(f"the {event['stage']} changed: {counts or 'nothing'}")

    def _observe(self, event: Event) -> None:
        valid = event.get("valid", True)
        said = f"{event['value']!r}" if valid else f"invalid, {event['reason']}"
        self.say(f"observed {event['measure']} = {said}", "" if valid else "yellow")

    def _guard(self, event: Event) -> None:
        late = ", after the agent had acted" if event.get("late") else ""
        self.say(f"guard failed{late}: {event['sentence']}  {event.get('where', '')}".rstrip(), "yellow")

    def _issue(self, event: Event) -> None:
        self.say(f"{event['severity']} {event['code']}: {event['sentence']}", "red")
        for line in (event.get("detail") or "").splitlines():
            self.say(f"      {line}", "dim")

    def _artifact(self, event: Event) -> None:
        if event["kind"] != "log":
            self.say(f"artifact {event['name']}, {event['size']:,} bytes")
            return
        self.say(f"{event['name']}:")
        for line in self._blobs.read(event["blob"]).decode("utf-8", "replace").splitlines():
            self.say(f"      {line}")

    def _collected(self, event: Event) -> None:
        for row in event["entries"]:
            held = f", {plural(row['files'], 'file')}, {row.get('size', 0):,} bytes" if row.get("files") else ""
            why = f": {row['reason']}" if row.get("reason") else ""
            bad = row["status"] in ("failed", "not_collected")
            self.say(f"{row['status'].replace('_', ' ')} {row['path']}{held}{why}", "red" if bad else "")

    def _trial_retried(self, event: Event) -> None:
        self.say(f"once more, after {event.get('code')}", "yellow")

    def close(self, result: RunResult, path: Path) -> None:
        trial = result.trials[0]
        final: Any = trial.final
        ended = (final.outcome or final.fault) if final else None
        said = f"{trial.state}{f' {ended}' if ended else ''}{f': {trial.reason}' if trial.reason else ''}"
        self.say(said, "bold green" if trial.state == "scored" else "bold red")
        if (world := _world(result, path)) is not None:
            self.say(f"world  {world}")
        self.say(f"more   benchsite diff {result.manifest.run}:0{bench_option(path.parents[2])}")
