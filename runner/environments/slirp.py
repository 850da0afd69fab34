"""A sandbox's own network, by slirp4netns: it reaches what this machine reaches, but not this machine's loopback."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence

from runner.errors import EnvironmentRefused

PROGRAM = "slirp4netns"
RESOLVER = b"nameserver 10.0.2.3\n"
PATIENCE = 10.0


def program(search: str) -> str:
    return shutil.which(PROGRAM, path=search) or ""


class Slirp:
    """Serves the network namespace of one process until it is closed; it dies with the one that started it."""

    def __init__(self, path: str, pid: int) -> None:
        reading, writing = os.pipe()
        stop, held = os.pipe()
        self._held, null = held, subprocess.DEVNULL
        try:
            self._process = subprocess.Popen(
                _command(path, pid, writing, stop), stdin=null, stdout=null, stderr=null, pass_fds=[writing, stop],
                env={}, start_new_session=True,
            )  # fmt: skip
        finally:
            os.close(writing)
            os.close(stop)
        try:
            ready = os.read(reading, 1)
        finally:
            os.close(reading)
        if not ready:
            self.close()
            raise EnvironmentRefused(f"{PROGRAM} could not give the sandbox a network of its own.")

    def close(self) -> None:
        """Closing our end of its pipe tells it to go."""
        if self._held >= 0:
            os.close(self._held)
            self._held = -1
        limit = time.monotonic() + PATIENCE
        while self._process.poll() is None:
            if time.monotonic() > limit:
                os.kill(self._process.pid, signal.SIGKILL)
            time.sleep(0.0005)


def _command(path: str, pid: int, ready: int, stop: int) -> Sequence[str]:
    return [
        path, "--configure", "--mtu=65520", "--disable-host-loopback", f"--userns-path=/proc/{pid}/ns/user",
        "--ready-fd", str(ready), "--exit-fd", str(stop), str(pid), "tap0",
    ]  # fmt: skip
