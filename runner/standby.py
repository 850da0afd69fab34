"""A server process that collected a bench for its plan and waits to serve the run that comes of it.

Without it a run would import pytest, the scenarios and all that trials need twice; what is left of it to import, it
imports while the runner is busy with the rest of the plan."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

COLLECTED, READY = b"collected", b"ready"
SERVER_LOG = "server.log"
MESSAGE = 1 << 16


class Standby:
    """At most one process. Whoever made the standby closes it; a run that was handed it takes the process over."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    def start(self, argv: Sequence[str], env: dict[str, str], output: IO[bytes]) -> None:
        """Start `argv` with `--stay FD`; `output` takes what it prints until it serves a run."""
        self.close()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [*argv, "--stay", str(theirs.fileno())], env=env, stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, pass_fds=[theirs.fileno()], start_new_session=True,
            )  # fmt: skip
        self._socket = ours

    def collected(self, timeout: float) -> bool:
        """Wait for the collection's end; False where the process ended without one, TimeoutError where none came."""
        assert self._socket is not None
        return answer(self._socket, timeout) == COLLECTED

    def serve(self, run_dir: Path, timeout: float) -> tuple[subprocess.Popen[bytes], socket.socket] | None:
        """Let the process serve a run and give it away; None where there is none, or it is not up to it."""
        process, channel = self._process, self._socket
        if process is None or channel is None:
            return None
        try:
            channel.sendmsg([os.fsencode(run_dir)])
            ready = answer(channel, timeout) == READY
        except OSError:
            ready = False
        if not ready:
            self.close()
            return None
        self._process = self._socket = None
        return process, channel

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        if self._process is not None:
            end(self._process)
        self._process = self._socket = None


def answer(channel: socket.socket, timeout: float) -> bytes:
    """Receive one message; nothing where the other side is gone."""
    channel.settimeout(timeout)
    try:
        return channel.recv(MESSAGE)
    except TimeoutError:
        raise
    except OSError:
        return b""
    finally:
        channel.settimeout(None)


def end(process: subprocess.Popen[bytes], patience: float = 10) -> None:
    """A server ends by itself once its socket is closed; one that does not is killed."""
    limit = time.monotonic() + patience
    while process.poll() is None and time.monotonic() < limit:
        time.sleep(0.001)
    if process.poll() is None:
        process.kill()
    process.wait()
