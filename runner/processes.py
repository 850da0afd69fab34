"""The one door to other programs. Whatever they start, in sessions of their own or as daemons, can be ended again."""

from __future__ import annotations

import array
import contextlib
import fcntl
import functools
import gc
import importlib.util
import marshal
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from . import keeper
from .errors import RunnerError
from .paths import StrPath

GRACE = 0.5
"""Seconds between asking a timed-out command to end and killing it: CLIs write their last lines then."""
ANSWER_AFTER_STOP = GRACE + keeper.KILLING + 5
Watch = Callable[[], tuple[str, ...]]
"""Names the limits of the trial that are reached."""
WATCHED_EVERY = 0.01


class ProcessLost(RunnerError):
    """The process that kept a trial's commands died: the machine's fault, not the agent's."""


@dataclass(frozen=True)
class Done:
    """How a command ended: an exit code or a signal. Of a timed-out one neither says anything."""

    exit_code: int | None
    signal: int | None
    timed_out: bool
    seconds: float
    over: tuple[str, ...] = ()
    """Limits of the trial that were reached meanwhile."""

    @property
    def ok(self) -> bool:
        return self.exit_code == 0 and not self.timed_out


class Keeper:
    """The runner's end of a keeper: commands one after another, what they leave running lives until `close`."""

    def __init__(self, connection: socket.socket, pid: int, process: subprocess.Popen[bytes] | None = None) -> None:
        self._connection, self.pid, self._process = connection, pid, process
        self._number = 0

    @classmethod
    def here(cls) -> Keeper:
        """A keeper on this machine: forked where this process has one thread (1 ms), else a fresh script."""
        ours, theirs = socket.socketpair()
        with theirs:
            if threading.active_count() > 1:
                return cls.started(ours, keeper_command(theirs.fileno()), theirs)
            pid = os.fork()
            if pid == 0:
                _turn_into_keeper(theirs.fileno())
            return cls(ours, pid)

    @classmethod
    def started(
        cls,
        ours: socket.socket,
        argv: Sequence[str],
        theirs: socket.socket,
        *,
        stderr: int | None = None,
        given: Sequence[int] = (),
    ) -> Keeper:
        """Start a keeper by a command line, in a sandbox for instance; `theirs` and `given` stay open in it."""
        null, given = subprocess.DEVNULL, [*given, theirs.fileno(), keeper_script()]
        process = subprocess.Popen(
            argv, stdin=null, stdout=null, stderr=stderr, pass_fds=given, env={}, start_new_session=True
        )
        return cls(ours, process.pid, process)

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str,
        streams: Sequence[int],
        timeout: float | None = None,
        watch: Watch | None = None,
    ) -> Done:
        """Run one command to its end or its timeout; an exception raised here meanwhile ends the command first.

        `streams` are its input, output and error. `watch` is asked every now and then; where it names a limit, this
        command and all that runs beside it ends."""
        if not argv:
            raise ProcessLost("A command without any word cannot be run.")
        self._number += 1
        began = time.monotonic()
        try:
            self._send(("run", self._number, list(argv), dict(env), cwd), streams)
            answer, over = self._watched(None if timeout is None else began + timeout, watch)
        except BaseException:
            with contextlib.suppress(RunnerError):
                self._stop("stop", 0.0)
            raise
        timed_out = answer is None and not over
        if answer is None:
            answer = self._stop("sweep" if over else "stop", GRACE)
        kind, value = answer
        code, signalled = (value, None) if kind == keeper.EXITED else (None, value)
        return Done(None if timed_out or over else code, signalled, timed_out, time.monotonic() - began, over)

    def _watched(self, until: float | None, watch: Watch | None) -> tuple[tuple[int, int] | None, tuple[str, ...]]:
        """Wait for the end of a command: no answer where its time is up or a limit was reached."""
        while watch is not None and (until is None or time.monotonic() < until):
            tick = time.monotonic() + WATCHED_EVERY
            if (answer := self._answer(tick if until is None else min(tick, until))) is not None:
                return answer, ()
            if over := watch():
                return None, over
        return self._answer(until), ()

    def listen(self, address: str, port: int) -> socket.socket:
        """Give a socket that listens where the keeper is, in whatever network that may be."""
        self._send(("listen", self._number, address, port))
        try:
            data, rights, _, _ = self._connection.recvmsg(keeper.ANSWER.size, socket.CMSG_SPACE(4))
        except OSError as error:
            raise self._lost() from error
        if len(data) < keeper.ANSWER.size:
            raise self._lost()
        if not rights:
            why = os.strerror(keeper.ANSWER.unpack(data)[2])
            raise ProcessLost(f"Nothing can listen at {address}, port {port}, in the environment: {why}.")
        return socket.socket(fileno=struct.unpack("i", rights[0][2][:4])[0])

    def wait_ready(self, timeout: float = 30) -> None:
        """Wait until the keeper answers; one that could not start is ProcessLost."""
        self._send(("hello", self._number))
        if self._answer(time.monotonic() + timeout) is None:
            raise ProcessLost(f"The process that keeps the trial's commands did not answer within {timeout:g} s.")

    def close(self) -> None:
        """End everything that still runs and wait until it is gone."""
        self._connection.close()
        limit = time.monotonic() + keeper.KILLING + 5
        while not self._gone():
            if time.monotonic() > limit:
                kill_tree(self.pid)
                limit += keeper.KILLING
            time.sleep(0.0005)

    def _gone(self) -> bool:
        if self._process is not None:
            return self._process.poll() is not None
        try:
            return os.waitpid(self.pid, os.WNOHANG)[0] != 0
        except ChildProcessError:
            return True

    def _stop(self, order: str, grace: float) -> tuple[int, int]:
        self._send((order, self._number, grace))
        answer = self._answer(time.monotonic() + ANSWER_AFTER_STOP)
        if answer is None:
            raise ProcessLost("A command could not be ended: its process does not react to SIGKILL.")
        return answer

    def _send(self, order: tuple[Any, ...], descriptors: Sequence[int] = ()) -> None:
        body = marshal.dumps(order)
        data = struct.pack("<I", len(body)) + body  # in one piece: each wakes the keeper
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        try:
            if rest := data[self._connection.sendmsg([data], rights) :]:
                self._connection.sendall(rest)
        except OSError as error:
            raise self._lost() from error

    def _answer(self, until: float | None) -> tuple[int, int] | None:
        """Wait for the end of the present command; answers of commands given up earlier are passed over."""
        poll = select.poll()
        poll.register(self._connection.fileno(), select.POLLIN)
        while True:
            left = None if until is None else max(0.0, until - time.monotonic()) * 1000
            if not poll.poll(left):
                return None
            try:
                data = self._connection.recv(keeper.ANSWER.size, socket.MSG_WAITALL)
            except OSError as error:
                raise self._lost() from error
            if len(data) < keeper.ANSWER.size:
                raise self._lost()
            number, kind, value = keeper.ANSWER.unpack(data)
            if number == self._number:
                return kind, value

    def _lost(self) -> ProcessLost:
        return ProcessLost("The process that kept the trial's commands is gone; the commands ended with it.")


def keeper_command(descriptor: int) -> list[str]:
    """Start the keeper as a script. -I -S: no site, nothing from the environment; it is up in half the time."""
    python: str = getattr(sys, "_base_executable", "") or sys.executable
    return [python, "-I", "-S", f"/proc/self/fd/{keeper_script()}", str(descriptor)]


@functools.lru_cache(maxsize=1)
def keeper_script() -> int:
    """The compiled keeper as a file in memory, made once: a script is compiled anew each time it is run, and a cached
    one is not there where nothing may be written. It is left open for what a server forks."""
    code = compile(Path(keeper.__file__).read_bytes(), keeper.__file__, "exec", dont_inherit=True, optimize=2)
    file = os.memfd_create("keeper", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(file, importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
    fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
    return file


def _turn_into_keeper(descriptor: int) -> NoReturn:
    """In a forked child: let go of all that is the runner's (locks hang on descriptors) and serve."""
    try:
        gc.disable()
        signal.set_wakeup_fd(-1)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(null, standard)
        os.closerange(3, descriptor)
        os.closerange(descriptor + 1, 1 << 20)
        keeper.keep(descriptor)
    finally:
        os._exit(1)


def run_process(
    argv: Sequence[str],
    *,
    cwd: Path | str,
    env: Mapping[str, str],
    stdin: StrPath | None = None,
    stdout: StrPath | None = None,
    stderr: StrPath | None = None,
    timeout: float | None = None,
) -> Done:
    """Run one command on this machine; nothing it started is alive when this returns. No path means /dev/null."""
    one = Keeper.here()
    try:
        with opened(stdin, stdout, stderr) as streams:
            return one.run(argv, env=env, cwd=str(cwd), streams=streams, timeout=timeout)
    finally:
        one.close()


def output_of(
    argv: Sequence[str], *, cwd: Path | str, env: Mapping[str, str], timeout: float = 60, limit: int = 1 << 20
) -> tuple[Done, str]:
    """Run one short command and give what it printed, both streams together, at most `limit` bytes."""
    with tempfile.TemporaryDirectory() as folder:
        printed = Path(folder) / "printed"
        done = run_process(argv, cwd=cwd, env=env, stdout=printed, stderr=printed, timeout=timeout)
        with printed.open("rb") as file:
            return done, file.read(limit).decode(errors="replace")


@contextlib.contextmanager
def opened(stdin: StrPath | None, stdout: StrPath | None, stderr: StrPath | None) -> Iterator[list[int]]:
    streams = open_streams(stdin, stdout, stderr)
    try:
        yield streams
    finally:
        close_streams(streams)


def open_streams(stdin: StrPath | None, stdout: StrPath | None, stderr: StrPath | None) -> list[int]:
    """Open a command's three descriptors. Agents may write beside these paths, so no link is followed."""
    held: list[int] = []
    try:
        held.append(os.open(stdin or os.devnull, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
        os.set_blocking(held[0], True)
        held.append(_open_fresh(stdout))
        held.append(held[1] if stderr == stdout else _open_fresh(stderr))
    except OSError as error:
        close_streams(held)
        raise ProcessLost(f"{error.filename} cannot be opened for a command: {error.strerror}.") from error
    return held


def close_streams(held: list[int]) -> None:
    for descriptor in {*held}:
        os.close(descriptor)


def _open_fresh(path: StrPath | None) -> int:
    if path is None:
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    if os.path.lexists(path):
        os.unlink(path)  # noqa: PTH108
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)


def kill_tree(pid: int) -> None:
    """Kill a process and all below it, whatever sessions they made."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGSTOP)  # so that it starts nothing new meanwhile
        keeper.end_all(pid)
        os.kill(pid, signal.SIGKILL)


def become_subreaper() -> None:
    """Let orphans below this process become its children, so that a walk from here finds them."""
    if not keeper.prctl(keeper.PR_SET_CHILD_SUBREAPER, 1):
        raise RunnerError("The kernel refuses PR_SET_CHILD_SUBREAPER; a trial's leftovers could not be found again.")


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent dies."""
    keeper.prctl(keeper.PR_SET_PDEATHSIG, signal.SIGKILL)
