"""What is printed while a run goes on, and the Ctrl-C that ends it."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from runner.faults import COMPLETE
from runner.journal import Event
from runner.manifest import Manifest
from runner.records import RunResult

from .counting import Counting
from .progress import Show, showing
from .sizes import size_line
from .stopping import stopping
from .terminal import console, text

if TYPE_CHECKING:
    from runner.prepare import Prepared


class Watch:
    """Give `prepared`, `event` and `cancel` to a run. With `error` all of it is printed on stderr."""

    def __init__(self, *, error: bool) -> None:
        self.cancel = threading.Event()
        self._out = console(error=error)
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

    def __enter__(self) -> Watch:
        self._open.enter_context(stopping(self.cancel))
        return self

    def __exit__(self, *raised: Any) -> None:
        self._open.close()
