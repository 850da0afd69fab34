"""Follow a run by its events: trials by state, and how long the rest will take."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from runner.faults import ENDED, STATES
from runner.journal import Event


@dataclass
class Counting:
    """Feed every event; `states` maps planned trials to where they stand now (a resumed run brings its own).

    Not safe to use from several threads.
    """

    planned: int
    states: dict[int, str] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    _begun: float | None = None
    _already: int = 0

    def feed(self, event: Event) -> str | None:
        """Take an event; give the state of the trial that it ends, if it ends one."""
        kind, trial = event["type"], event.get("trial")
        if not isinstance(trial, int):
            return None
        if kind == "trial.started":
            if self._begun is None:
                self._begun, self._already = self.clock(), self.ended
            self.states[trial] = "running"
        elif kind == "trial.retried":
            self.states[trial] = "queued"
        elif kind in ("trial.finished", "trial.not_run"):
            self.states[trial] = event["state"]
            return str(event["state"])
        return None

    @property
    def ended(self) -> int:
        return sum(state in ENDED for state in self.states.values())

    @property
    def counts(self) -> dict[str, int]:
        """Trials by state in the table's order, queued ones included, no zeros."""
        counted = Counter(self.states.values())
        counted["queued"] += self.planned - len(self.states)
        return {state: counted[state] for state in STATES if counted[state]}

    def left(self) -> float | None:
        """Estimate the seconds that are left from the pace so far; None before the first trial ended."""
        done = self.ended - self._already
        if self._begun is None or done < 1:
            return None
        return (self.clock() - self._begun) / done * (self.planned - self.ended)
