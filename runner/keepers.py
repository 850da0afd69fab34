"""The keepers of a server on this machine: started once, lent to one trial after another.

A keeper of each trial's own would be forked from the trial, and both would pay for the pages they share."""

from __future__ import annotations

import array
import contextlib
import os
import socket
import subprocess
import time
from dataclasses import dataclass

from . import keeper
from .processes import LentKeeper, keeper_command, keeper_script, kill_tree, lent

PATIENCE = 1.0
"""Seconds for a keeper to say that it is free again: its trial has waited for that already."""


@dataclass
class Pooled:
    process: keeper.Process
    control: socket.socket
    connection: socket.socket | None = None
    """The end that the present trial gets."""

    @classmethod
    def started(cls) -> Pooled:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            null = subprocess.DEVNULL
            argv = [*keeper_command(theirs.fileno()), keeper.MANY]
            process = subprocess.Popen(
                argv, stdin=null, stdout=null, stderr=null, pass_fds=[theirs.fileno(), keeper_script()],
                env={}, start_new_session=True,
            )  # fmt: skip
        ours.settimeout(PATIENCE)
        return cls(keeper.process_of(process.pid), ours)

    def connect(self) -> None:
        self.connection, theirs = socket.socketpair()
        with theirs:
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [theirs.fileno()]))]
            self.control.sendmsg([b"+"], rights)

    def hand_over(self) -> None:
        """In the trial's process: what the server holds of it is let go, the connection is the trial's now."""
        assert self.connection is not None
        lent.append(LentKeeper(self.connection, self.process[0]))

    def let_go(self) -> None:
        """In the server: only the trial's process may hold the connection, its end is the end of the trial."""
        assert self.connection is not None
        self.connection.close()
        self.connection = None

    def is_idle(self) -> bool:
        try:
            return self.control.recv(64) == keeper.IDLE
        except OSError:
            return False


class Pool:
    """`members` are all that live; what is below them is theirs to end."""

    def __init__(self) -> None:
        self.members: list[Pooled] = []
        self._idle: list[Pooled] = []

    def lend(self) -> Pooled | None:
        """A keeper for one trial; None where none can be started, and the trial makes one of its own."""
        while True:
            fresh = not self._idle
            try:
                one = Pooled.started() if fresh else self._idle.pop()
            except OSError:
                return None
            if fresh:
                self.members.append(one)
            try:
                one.connect()
                return one
            except OSError:
                self._drop(one)
                if fresh:
                    return None

    def take_back(self, one: Pooled, ended_well: bool) -> bool:
        """Whether the keeper can serve again. One whose trial was killed or died may be hurt: it is ended, with all."""
        if ended_well and one.is_idle():
            self._idle.append(one)
            return True
        self._drop(one)
        return False

    def dismiss(self) -> None:
        """Let those that are free go by themselves, which takes less than to find and kill them."""
        for one in self._idle:
            one.control.close()
        limit = time.monotonic() + PATIENCE
        while self._idle and time.monotonic() < limit:
            self._idle = [one for one in self._idle if not _has_ended(one.process[0])]
            time.sleep(0.0005)

    def _drop(self, one: Pooled) -> None:
        self.members.remove(one)
        if keeper.process_of(one.process[0]) == one.process:
            kill_tree(one.process[0])
        with contextlib.suppress(OSError):
            one.control.close()


def _has_ended(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True
