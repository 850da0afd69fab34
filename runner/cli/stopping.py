"""Ctrl-C: the first one cancels cleanly, the second ends everything at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
FIRST = "Stopping: trials that run are cancelled. Press Ctrl-C again to end everything at once."


@contextmanager
def stopping(cancel: threading.Event, last: Callable[[], None] = lambda: None) -> Iterator[None]:
    """While inside, SIGINT and SIGTERM set `cancel`; a second one kills all descendants and exits with 130.

    `last` is called when nothing of the trials is left, however it ended.
    """

    def handle(number: int, frame: FrameType | None) -> None:
        if cancel.is_set():
            _end_at_once(last)
        cancel.set()
        # os.write: a handler may interrupt a print that holds the stream's lock.
        os.write(sys.stderr.fileno(), f"\n{FIRST}\n".encode())

    before = {number: signal.signal(number, handle) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        last()


def _end_at_once(last: Callable[[], None]) -> None:
    """Leave nothing behind but the journal, which says how far the run came; `run --resume` goes on from there."""
    from runner.keeper import end_all

    end_all(os.getpid())
    last()
    os._exit(130)
