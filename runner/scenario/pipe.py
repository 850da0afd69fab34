"""The writing end of one trial's events: JSON lines, each written whole."""

from __future__ import annotations

import os
import threading
from time import time_ns
from typing import Any

from runner.journal import encode

HELD = frozenset({"phase", "changes", "request"})
"""What the next event follows at once: both are one write, since each wakes the runner on the trials' time. The end of
a phase is none of these where one begins that may take long."""


class EventPipe:
    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._held = b""
        self._lock = threading.Lock()  # a scenario may observe from threads of its own

    def emit(self, type: str, /, **fields: Any) -> None:
        line = encode({"type": type, "at": time_ns(), **fields})  # the runner, which is warm, writes it out
        with self._lock:
            line, self._held = self._held + line, b""
            if type in HELD and "then" not in fields:
                self._held = line
                return
            while line:
                line = line[os.write(self.descriptor, line) :]

    def end(self, pid: int, status: int) -> None:
        """The server's last line. It begins a line of its own: a killed child may have left half of one."""
        try:  # noqa: SIM105  called by the server between two forks
            os.write(self.descriptor, b'\n{"type":"exit","pid":%d,"status":%d}\n' % (pid, status))
        except OSError:
            pass
        os.close(self.descriptor)
