"""The keepers of a server on this machine: started once, lent to one trial after another.

A keeper of each trial's own would be forked from the trial, and both would pay for the pages they share."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from dataclasses import dataclass

from . import keeper
from .processes import Keeper, ProcessLost, keeper_command, keeper_script, kill_tree

PATIENCE = 1.0
"""Seconds for keepers to go by themselves."""


@dataclass
class Pooled:
    """The server holds the connection for the trials that have it one after another."""

    process: keeper.Process
    connection: socket.socket

    @classmethod
    def started(cls) -> Pooled:
        ours, theirs = socket.socketpair()
        with theirs:
            null = subprocess.DEVNULL
            argv = [*keeper_command(theirs.fileno()), keeper.MANY]
            process = subprocess.Popen(
                argv, stdin=null, stdout=null, stderr=null, pass_fds=[theirs.fileno(), keeper_script()],
                env={}, start_new_session=True,
            )  # fmt: skip
        return cls(keeper.process_of(process.pid), ours)

    def hand_over(self) -> None:
        """In the trial's process."""
        lent.append(LentKeeper(self.connection, self.process[0]))


class LentKeeper(Keeper):
    """A keeper that will serve other trials after this one: it stays, and what it started here goes."""

    def _lost(self) -> ProcessLost:
        time.sleep(2.0)  # who kills its keeper loses its trial: the server is to end this process before it speaks
        return super()._lost()

    def close(self) -> None:
        """It says when everything is gone, and can be had again; where it cannot even do that, it goes too."""
        self._number += 1
        try:
            self._send(("over", self._number))
            if self._answer(time.monotonic() + keeper.KILLING + 5) is None:
                kill_tree(self.pid)
            else:
                lent.append(self)
        except ProcessLost:
            pass  # it is gone


lent: list[Keeper] = []
"""In a trial's process: what its server gave it, and it does not use."""


def of_trial() -> Keeper:
    """The keeper that a server has lent to this process, for one session at a time; else one of its own."""
    return lent.pop() if lent else Keeper.here()


class Pool:
    """`members` are all that live, by the pid of each; what is below them is theirs to end."""

    def __init__(self) -> None:
        self.members: dict[int, Pooled] = {}
        self._idle: list[Pooled] = []

    def lend(self) -> Pooled | None:
        """A keeper for one trial; None where none can be started, and the trial makes one of its own."""
        while self._idle:
            one = self._idle.pop()
            if not _has_ended(one.process[0]):
                return one
            self._drop(one)
        try:
            one = Pooled.started()
        except OSError:
            return None
        self.members[one.process[0]] = one
        return one

    def take_back(self, one: Pooled, cleared: bool) -> bool:
        """Whether the keeper can serve again: it has told its trial that nothing is left of it. Else it is ended, with
        all that it has."""
        if cleared:
            self._idle.append(one)
            return True
        self._drop(one)
        return False

    def dismiss(self) -> None:
        """Let those that are free go by themselves, which takes less than to find and kill them."""
        for one in self._idle:
            one.connection.close()
        limit = time.monotonic() + PATIENCE
        while self._idle and time.monotonic() < limit:
            self._idle = [one for one in self._idle if not _has_ended(one.process[0])]
            time.sleep(0.0005)

    def _drop(self, one: Pooled) -> None:
        del self.members[one.process[0]]
        if keeper.process_of(one.process[0]) == one.process:
            kill_tree(one.process[0])
        with contextlib.suppress(OSError):
            one.connection.close()


def _has_ended(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True
