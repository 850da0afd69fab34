"""The attempts that end in a journal, in batches, each with the place from which a later ingest may go on."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, NoReturn, TypeVar

from runner.errors import JournalError
from runner.journal import Event
from runner.replay import Attempt, Folding

from .struck import Struck

LARGEST_ATTEMPT = 32_000
LARGEST_RECORD = 20_000
"""Different things that one attempt may hold: observed measures, artifacts, issues and so on."""
Item = TypeVar("Item")


class Batch(NamedTuple):
    """Before `mark` every attempt has ended; `place` is how far the journal was read."""

    ended: list[Attempt]
    mark: int
    place: int


class Placed(Folding):
    """A fold that knows where the attempts now open begin. `place` is always the end of the last event it took."""

    def __init__(self, file: Struck, start: int, run: str, planned: int) -> None:
        super().__init__()
        self.file, self.place, self.run, self.planned = file, start, run, planned
        self.starts: dict[tuple[int, int], int] = {}
        self.ended, self.high = bytearray(planned), set[tuple[int, int]]()
        """Which attempts ended: a bit for each of the first eight of a trial, a pair for one of a higher number."""
        self.left: list[Attempt] = []
        self.last: Event = {}

    @property
    def mark(self) -> int:
        return min([self.place, *self.starts.values()])

    def batches(self, size: int) -> Iterator[Batch]:
        """Read to the end; what fills no batch is `left`. This loop is the hot path of an ingest."""
        feed, starts = self.feed, self.starts
        for events, ends in self.file.events(self.place):
            for event, end in zip(events, ends, strict=True):
                attempt = feed(event)
                self.place = end
                if attempt is not None:
                    self._note_end(attempt.trial, attempt.number)
                    starts.pop((attempt.trial, attempt.number), None)
                    self.left.append(attempt)
                    if len(self.left) >= size:
                        ended, self.left = self.left, []
                        yield Batch(ended, self.mark, end)
            self.last = events[-1]
            self._bounded(self.last)

    def _begin(self, trial: int, number: int, started_at: str | None = None) -> Attempt:
        self._judge(trial, number)
        if self._has_ended(trial, number):
            self._refuse(f"attempt {number} of trial {trial} goes on after its end")
        self.starts.setdefault((trial, number), self.place)
        return super()._begin(trial, number, started_at)

    def _around(self, kind: str, event: Event) -> None:
        if (trial := event.get("trial")) is not None:
            self._judge(trial, event.get("attempt", 1))
        super()._around(kind, event)

    def _note_end(self, trial: int, number: int) -> None:
        if number > 8:
            self.high.add((trial, number))
        else:
            self.ended[trial] |= 1 << number - 1

    def _has_ended(self, trial: int, number: int) -> bool:
        return (trial, number) in self.high if number > 8 else bool(self.ended[trial] & 1 << number - 1)

    def _bounded(self, event: Event) -> None:
        """Refuse an attempt that grows without end; looked at now and then, for it takes many events to get there."""
        attempt = self.open.get((event.get("trial", -1), event.get("attempt", -1)))
        if attempt is None:
            return
        held = (attempt.observations, attempt.artifacts, attempt.issues, attempt.guards, attempt.requests)
        if sum(map(len, held)) > LARGEST_RECORD:
            self._refuse(f"attempt {attempt.number} of trial {attempt.trial} holds more than {LARGEST_RECORD:,} things")

    def _judge(self, trial: Any, attempt: Any) -> None:
        if type(trial) is not int or not 0 <= trial < self.planned:
            self._refuse(f"the trial {_short(trial)} is not planned")
        if type(attempt) is not int or not 1 <= attempt <= LARGEST_ATTEMPT:
            self._refuse(f"{_short(attempt)} is no number of an attempt")

    def _refuse(self, why: str) -> NoReturn:
        raise JournalError(f"An event of run {self.run} cannot be read: {why}.")


def _short(value: Any) -> str:
    return repr(value)[:40]


def ahead(made: Iterator[Item]) -> Iterator[Item]:
    """Make the next item in a thread while this one is used: the database works while Python does."""
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as pool:
        coming = pool.submit(next, made, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, made, None)
            yield item
