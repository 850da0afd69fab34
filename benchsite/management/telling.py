"""How commands speak: errors as one sentence, progress as `benchsite run` shows it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runner.cli.counting import Counting
from runner.cli.progress import showing
from runner.cli.sizes import size_line
from runner.cli.stopping import stopping
from runner.cli.terminal import console, text
from runner.errors import RunnerError
from runner.journal import Event
from runner.prepare import Prepared


class Telling(BaseCommand):
    """A command that calls one flow: `flow` does it, and a refusal is told in its own sentence."""

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            self.flow(**{name: value for name, value in options.items() if name not in _DJANGOS})
        except RunnerError as error:
            raise CommandError(str(error)) from error

    def flow(self, **options: Any) -> None:
        raise NotImplementedError

    def say(self, line: str) -> None:
        self.stdout.write(text(line).plain)
        self.stdout.flush()


_DJANGOS = frozenset(
    ("verbosity", "settings", "pythonpath", "traceback", "no_color", "force_color", "skip_checks", "stdout", "stderr")
)  # fmt: skip


@contextmanager
def watching() -> Iterator[dict[str, Any]]:
    """Give the listeners of a launch: size first, then progress; Ctrl-C cancels cleanly, a second one at once."""
    out, cancel = console(), threading.Event()
    with ExitStack() as stack:
        stack.enter_context(stopping(cancel))
        show: list[Callable[[Event], None]] = []

        def prepared(plan: Prepared) -> None:
            out.print(text(size_line(plan.manifest)))
            for warning in plan.warnings:
                out.print(text(f"warning: {warning}", "yellow"))
            counting = Counting(len(plan.manifest.rows))
            show.append(stack.enter_context(showing(out, plan.manifest, counting)))

        def event(event: Event) -> None:
            for one in show:
                one(event)

        yield {"on_prepared": prepared, "on_event": event, "cancel": cancel}
