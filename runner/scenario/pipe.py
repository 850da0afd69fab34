"""The writing end of one trial's events: JSON lines, each written whole."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import Any

from runner.journal import encode, now


class EventPipe:
    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._held = b""
        self._lock = threading.Lock()  # a scenario may observe from threads of its own

    def emit(self, type: str, /, **fields: Any) -> None:
        line = encode({"type": type, "at": now(), **fields})
        with self._lock:
            if type == "phase":  # the next phase, or the trial's end, is told at once after it: one write for both
                self._held += line
                return
            line, self._held = self._held + line, b""
            while line:
                line = line[os.write(self.descriptor, line) :]

    def end(self, pid: int, status: int) -> None:
        """The server's last line. It begins a line of its own: a killed child may have left half of one."""
        with contextlib.suppress(OSError):
            os.write(self.descriptor, b"\n" + encode({"type": "exit", "pid": pid, "status": status}))
        os.close(self.descriptor)
