"""The runner's side of a server process: hand it jobs, read what their trials say.

Every trial has a pipe of its own. The server keeps a copy of its writing end and ends it with one line
`{"type": "exit"}` once the trial's process is gone, so that no descendant of an agent can hold a trial open."""

from __future__ import annotations

import array
import json
import os
import select
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from .errors import RunnerError
from .jobs import TrialJob
from .journal import Event, moment
from .scenario.collecting import server_argv, server_env
from .standby import READY, SERVER_LOG, Standby, answer, end

EXIT, FULL, CHANGED, MOUNTED = "exit", "full", "changed", "mounted"
"""What trials and their server tell the runner alone; the journal never holds these."""
CHUNK = 1 << 16
MAX_LINE = 32 << 20
START_TIMEOUT = 300


class Launched(Protocol):
    """A trial's process as seen from here. `lines` gives None at each tick without news, and ends when it is gone."""

    def lines(self, tick: float) -> Iterator[Event | None]: ...
    def fate(self) -> str: ...
    def kill(self) -> None: ...


class Launcher(Protocol):
    def launch(self, job: TrialJob) -> Launched: ...
    def close(self) -> None: ...


def read_lines(pipe: int, tick: float) -> Iterator[Event | None]:
    """Read events from a pipe until its `exit` line or its end; None for each `tick` seconds of silence."""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    rest = bytearray()
    while True:
        if not poll.poll(tick * 1000):
            yield None
            continue
        data = os.read(pipe, CHUNK)
        if not data:
            return
        rest += data
        *whole, rest = rest.split(b"\n") if b"\n" in data else [rest]
        for line in whole:
            event = _event(line)
            if event is None:
                continue
            yield event
            if event["type"] == EXIT:
                return
        if len(rest) > MAX_LINE:
            return


def _event(line: bytes | bytearray) -> Event | None:
    """A line cut by a kill is followed by the server's own; what is no event is left aside."""
    try:
        event = json.loads(line.decode())
    except ValueError:
        return None
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        return None
    if isinstance(event.get("at"), int):
        event["at"] = moment(event["at"])
    return event


class ForkServer:
    """A warm server process; started again when it died, since an agent may kill what started it."""

    def __init__(self, run_dir: Path, standby: Standby | None = None) -> None:
        """`standby` may hold a process that knows this run's bench already; the first start takes it over."""
        self.run_dir, self._standby = run_dir, standby
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self.log = run_dir / SERVER_LOG

    def launch(self, job: TrialJob) -> Launched:
        reader, writer = os.pipe()
        try:
            with self._lock:
                self._send({"run": job.to_json()}, writer)
        except BaseException:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        return Forked(self, job, reader, self._process)

    def kill(self, job: TrialJob) -> None:
        with self._lock:
            if self._socket is not None:
                try:
                    self._socket.sendmsg([json.dumps({"kill": job.key}).encode()])
                except OSError:
                    return  # the server is gone, and every trial with it

    def close(self) -> None:
        """Closing the socket tells the server to end what runs and go."""
        with self._lock:
            if self._socket is not None:
                self._socket.close()
            if self._process is not None:
                end(self._process)
            self._socket = self._process = None

    def _send(self, request: dict[str, Any], writer: int) -> None:
        for last in (False, True):
            try:
                if self._socket is None:
                    self._start()
                assert self._socket is not None
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [writer]))]
                self._socket.sendmsg([json.dumps(request).encode()], rights)
                return
            except OSError as error:
                self._forget()
                if last:
                    raise RunnerError(f"The trial server cannot be reached ({error}); see {self.log}.") from error

    def _start(self) -> None:
        waiting = self._standby.serve(self.run_dir, START_TIMEOUT) if self._standby is not None else None
        self._process, self._socket = waiting or self._started()

    def _started(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        argv = [*server_argv(), "--serve", str(theirs.fileno()), "--run-dir", str(self.run_dir)]
        with theirs, self.log.open("ab") as log:
            process = subprocess.Popen(
                argv, env=server_env(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                pass_fds=[theirs.fileno()], start_new_session=True,
            )  # fmt: skip
        try:
            ready = answer(ours, START_TIMEOUT) == READY
        except TimeoutError:
            ready = False
        if not ready:
            ours.close()
            end(process)
            tail = self.log.read_bytes()[-2000:].decode(errors="replace").strip()
            raise RunnerError(f"The trial server did not start; {self.log} says: {tail}")
        return process, ours

    def _forget(self) -> None:
        if self._socket is not None:
            self._socket.close()
        if self._process is not None:
            end(self._process)
        self._socket = self._process = None


class Forked:
    def __init__(self, server: ForkServer, job: TrialJob, pipe: int, process: subprocess.Popen[bytes] | None) -> None:
        self._server, self._job, self._pipe, self._process = server, job, pipe, process

    def lines(self, tick: float) -> Iterator[Event | None]:
        try:
            yield from read_lines(self._pipe, tick)
        finally:
            os.close(self._pipe)

    def fate(self) -> str:
        """Say how the trial's server ended, once `lines` has: a pipe is let go by a server that dies."""
        if self._process is None:
            return ""
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(0.5)
            return f"killed by signal {-code}" if code < 0 else f"it ended with exit code {code}"
        return ""

    def kill(self) -> None:
        self._server.kill(self._job)


class FreshProcesses:
    """Where fork is not to be had: a new process per trial, which imports what it needs by itself; same results."""

    def __init__(self, run_dir: Path, *, terminal: bool = False) -> None:
        """With `terminal` a trial's process keeps the runner's own input and output, for a debugger."""
        self.run_dir, self.terminal = run_dir, terminal

    def launch(self, job: TrialJob) -> Launched:
        reader, writer = os.pipe()
        argv = [
            *server_argv(),
            "--once",
            str(writer),
            "--run-dir",
            str(self.run_dir),
            "--job",
            json.dumps(job.to_json()),
        ]
        try:
            with (self.run_dir / SERVER_LOG).open("ab") as log:
                streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
                process = subprocess.Popen(
                    argv, env=server_env(), pass_fds=[writer], start_new_session=True,
                    **({} if self.terminal else streams),
                )  # fmt: skip
        finally:
            os.close(writer)
        return Fresh(process, reader)

    def close(self) -> None:
        return


class Fresh:
    def __init__(self, process: subprocess.Popen[bytes], pipe: int) -> None:
        self._process, self._pipe = process, pipe

    def lines(self, tick: float) -> Iterator[Event | None]:
        try:
            yield from self._until_gone(tick)
        finally:
            os.close(self._pipe)
            end(self._process)

    def fate(self) -> str:
        return ""

    def _until_gone(self, tick: float) -> Iterator[Event | None]:
        """A descendant may hold the pipe open: the end of the process is the end, once the pipe is empty."""
        for event in read_lines(self._pipe, min(tick, 0.05)):
            yield event
            if event is None and self._process.poll() is not None:
                return

    def kill(self) -> None:
        from .processes import kill_tree

        if self._process.poll() is None:
            kill_tree(self._process.pid)
