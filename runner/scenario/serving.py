"""The fork server: one thread, one loop. It takes jobs, forks a child for each, and says when a child has gone."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import array
import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from runner import keeper
from runner.jobs import TrialJob
from runner.keepers import Pool, Pooled, lent
from runner.processes import become_subreaper, die_with_parent, kill_tree
from runner.standby import MESSAGE, READY, SERVER_LOG
from runner.worlds.backends import COPY

from .body import run_trial
from .collecting import scenario_files
from .pipe import EventPipe
from .playing import steps
from .plugin import Gathered, Items
from .server import run_pytest
from .warm import Warm


def serve(run_dir: Path, descriptor: int) -> int:
    become_subreaper()
    warm = Warm.load(run_dir)
    files = scenario_files(warm.sealed.root, warm.bench.tests)
    channel = socket.socket(fileno=descriptor)

    def begin(found: Gathered) -> None:
        gc.collect()
        Server(channel, warm, found.items).serve()

    return run_pytest(warm.sealed.root, files, begin)


def take_up(run_dir: Path, channel: socket.socket, gathered: Gathered) -> None:
    """Serve a run with what was collected for its plan; what is printed from here on goes to the run's own log."""
    with (run_dir / SERVER_LOG).open("ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    become_subreaper()
    Server(channel, Warm.load(run_dir), gathered.items).serve()
    os._exit(0)  # nothing is left to put away, and the runner waits for this process


def once(run_dir: Path, descriptor: int, row: dict[str, Any]) -> int:
    """Run one trial in this very process: what a machine without fork does."""
    become_subreaper()
    warm, job = Warm.load(run_dir), TrialJob.from_json(run_dir, row)
    scenario = warm.manifest.scenarios[warm.manifest.trials[job.index].scenario]

    def play(gathered: Gathered) -> None:
        _leave(warm, gathered.items, job, EventPipe(descriptor))

    return run_pytest(warm.sealed.root, [warm.sealed.root / scenario.file], play)


WELL, LOADED = 0, 3
"""How a trial's process ends when nothing is wrong and its keeper is free again, and when it had to load libgit2
besides."""


@dataclass
class Child:
    job: TrialJob
    pipe: EventPipe
    keeper: Pooled | None


RIGHTS = socket.CMSG_SPACE(array.array("i").itemsize)
DECODER = json.JSONDecoder()


class Server:
    """After each fork all that this process writes to is copied once more, be it the count of references to a function:
    so what it does for each trial is done with few of them."""

    def __init__(self, channel: socket.socket, warm: Warm, items: Items) -> None:
        self.socket = channel
        self.warm, self.items = warm, items
        self.children: dict[int, Child] = {}
        self.keepers = Pool()
        self.wake, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._wakes = (self.wake, wake_write)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write)

    def serve(self) -> None:
        """Serve until the runner closes its end, by intent or by dying; then nothing is left running."""
        for item in self.items.values():
            steps(item)  # worked out once, and not by every trial
        gc.collect(0)  # all the rest was looked at when this process was made ready
        gc.freeze()  # what is warm is never freed, so a child's collector need not touch (and copy) its pages
        poll = select.poll()
        poll.register(self.socket.fileno(), select.POLLIN)
        poll.register(self.wake, select.POLLIN)
        self.socket.send(READY)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == self.wake:
                    os.read(self.wake, 4096)
                    self._reap()
                elif not self._obey():
                    self.keepers.dismiss()
                    keeper.end_all(os.getpid())
                    return

    def _obey(self) -> bool:
        try:
            data, ancillary, _, _ = self.socket.recvmsg(MESSAGE, RIGHTS, socket.MSG_CMSG_CLOEXEC)
        except OSError:
            return False
        if not data:
            return False
        request, _ = DECODER.raw_decode(data.decode())
        if "kill" in request:
            self._kill(request["kill"])
        else:
            (descriptor,) = array.array("i", ancillary[0][2])
            self._run(TrialJob.from_json(self.warm.run_dir, request["run"]), EventPipe(descriptor))
        return True

    def _run(self, job: TrialJob, pipe: EventPipe) -> None:
        try:  # noqa: SIM105  what forks pays for each function that it calls, see below
            self.warm.needed(self.warm.manifest.trials[job.index])
        except Exception:
            pass  # the child meets the same trouble, and has a trial to tell it in
        on_host = self.warm.environment.isolation == "none"  # elsewhere a keeper lives inside, with the trial
        shared = self.warm.worlds.name == COPY  # what is mounted for a trial, only its own keeper sees
        pooled = self.keepers.lend() if on_host and shared else None
        parent, pid = os.getpid(), os.fork()
        if pid == 0:
            self._become(job, pipe, parent, pooled)
        keeper.unclaimed.pop(pid, None)  # of an orphan that had this number before
        self.children[pid] = Child(job, pipe, pooled)

    def _become(self, job: TrialJob, pipe: EventPipe, parent: int, pooled: Pooled | None) -> NoReturn:
        """In the child: let go of all that is the server's, then be the trial."""
        try:
            _signal.set_wakeup_fd(-1)
            _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)  # the public module would look for its enums first
            die_with_parent()
            if os.getppid() != parent:
                os._exit(1)
            os.setsid()
            become_subreaper()
            self.socket.detach()
            held = [one.connection.fileno() for one in self.keepers.members.values() if one is not pooled]
            for descriptor in (*self._wakes, *held, *(child.pipe.descriptor for child in self.children.values())):
                os.close(descriptor)
            if pooled is not None:
                pooled.hand_over()
            _leave(self.warm, self.items, job, pipe, pooled)
        finally:
            os._exit(1)

    def _kill(self, key: str) -> None:
        for pid, child in self.children.items():
            if child.job.key == key:
                kill_tree(pid)

    def _reap(self) -> None:
        while (gone := self._gone()) is not None:
            pid, status = gone
            child = self.children.pop(pid, None)
            if child is None:
                self._lose_with(pid, status)
                continue
            self._end_orphans()
            code = os.waitstatus_to_exitcode(status)
            if child.keeper is not None and not self.keepers.take_back(child.keeper, code in (WELL, LOADED)):
                self._end_orphans()
            child.pipe.end(pid, status)
            if code == LOADED:
                _load_libgit2()

    def _lose_with(self, pid: int, status: int) -> None:
        """Who kills what stands above its keeper loses its trial, as if it had killed the trial's own process."""
        for trial, child in self.children.items():
            if child.keeper is not None and child.keeper.process[0] == pid and os.WIFSIGNALED(status):
                kill_tree(trial)

    def _gone(self) -> tuple[int, int] | None:
        """Give a child that has ended. Ending a trial's orphans collects whatever died meanwhile, other trials too."""
        if keeper.unclaimed and (early := keeper.collected(*self.children, *self.keepers.members)):
            return early
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return None
        return (pid, status) if pid else None

    def _end_orphans(self) -> None:
        """What a dead trial or keeper left becomes a child of this process. Those that live keep their own orphans."""
        if not {*_children()} <= {*self.children, *self.keepers.members}:
            keepers = [one.process for one in self.keepers.members.values()]
            keeper.end_all(os.getpid(), [*map(keeper.process_of, self.children), *keepers])


def _load_libgit2() -> None:
    """Once a trial had lines to compare others will, and it is 80 ms for each that has to load it. Where none has,
    it only makes the forks dearer."""
    import pygit2  # noqa: F401

    gc.freeze()


def _children() -> list[int]:
    pid, found = os.getpid(), b""
    try:
        descriptor = os.open(f"/proc/{pid}/task/{pid}/children", os.O_RDONLY | os.O_CLOEXEC)
        while part := os.read(descriptor, MESSAGE):
            found += part
        os.close(descriptor)
    except OSError:
        return [process[0] for process in keeper.descendants(pid)]
    return [*map(int, found.split())]


def _leave(warm: Warm, items: Items, job: TrialJob, pipe: EventPipe, pooled: Pooled | None = None) -> NoReturn:
    """Run the trial and leave by os._exit: no exit handler and no finaliser of pytest runs in a trial process."""
    code, before = 1, "pygit2" in sys.modules
    try:
        run_trial(warm, items, job, pipe.emit)
        if pooled is None or lent:  # else what it had is still the keeper's
            code = WELL if before or "pygit2" not in sys.modules else LOADED
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
