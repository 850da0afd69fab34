"""What a person sees while a run goes on: one live line on a terminal, a line a trial elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from runner.journal import Event
from runner.manifest import Manifest

from .counting import Counting
from .terminal import seconds, text

if TYPE_CHECKING:
    from rich.console import Console

STYLES = {"scored": "green", "run_error": "red", "eval_error": "red", "excluded": "yellow", "running": "cyan"}


class Show(Protocol):
    def __call__(self, event: Event) -> None: ...


@contextmanager
def showing(out: Console, manifest: Manifest, counting: Counting) -> Iterator[Show]:
    """Give the function that takes events; they may come from several threads."""
    lock = threading.Lock()
    told: set[str] = set()  # why a cell was stopped: said once, not again with each of its trials
    with _live(out, counting) if out.is_terminal else _plain(out) as (say, refresh):

        def show(event: Event) -> None:
            with lock:
                ended = counting.feed(event)
                if event.get("reason") in told:
                    event = {**event, "reason": ""}
                if ended and _worth_a_line(ended, out.is_terminal):
                    say(trial_line(manifest, counting, event))
                elif event["type"] == "cell.stopped":
                    told.add(event["sentence"])
                    say(f"stopped {manifest.cells[event['cell']].id}: {event['sentence']}")
                elif event["type"] == "trial.retried":
                    say(f"again   {manifest.where(event['trial'])}: {event.get('code', '')}")
                refresh()

        yield show


Parts = tuple["Say", "Refresh"]


class Say(Protocol):
    def __call__(self, line: str, /) -> None: ...


class Refresh(Protocol):
    def __call__(self) -> None: ...


def _worth_a_line(state: str, terminal: bool) -> bool:
    """On a terminal only trouble scrolls by; a log gets every trial."""
    return not terminal or state in ("run_error", "eval_error", "excluded")


def trial_line(manifest: Manifest, counting: Counting, event: Event) -> str:
    spent = f"  {seconds(event['seconds'])}" if event.get("seconds") is not None else ""
    outcome = f" {event['outcome']}" if event.get("outcome") else f" {event['fault']}" if event.get("fault") else ""
    reason = f"  {event['reason']}" if event.get("reason") else ""
    done = f"[{counting.ended}/{counting.planned}]"
    return f"{done} {event['state']}{outcome}  {manifest.where(event['trial'])} · #{event['trial']}{spent}{reason}"


@contextmanager
def _plain(out: Console) -> Iterator[Parts]:
    def say(line: str) -> None:
        # Not through rich's layout: a line in a log is one line, however long.
        print(text(line).plain, file=out.file, flush=True)

    yield say, lambda: None


@contextmanager
def _live(out: Console, counting: Counting) -> Iterator[Parts]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(24), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True) as progress:
        task = progress.add_task(status_line(counting), total=counting.planned)

        def refresh() -> None:
            progress.update(task, completed=counting.ended, description=status_line(counting))

        yield lambda line: progress.console.print(text(line)), refresh


def status_line(counting: Counting) -> str:
    """Write counts by state, in colour, and the time that is left. All words are ours: no text of the run is in it."""
    counts = " ".join(
        f"[{STYLES[state]}]{count} {state}[/]" if state in STYLES else f"{count} {state}"
        for state, count in counting.counts.items()
    )
    left = counting.left()
    return counts if left is None else f"{counts} · about {seconds(left)} left"
