"""The keeper: a small process that starts commands and owns everything they leave behind.

It runs beside a trial: forked from the runner, or started as a plain script, so it imports little and nothing of ours.
As a script it is process 1 of a sandbox, or serves the trials of a server on this machine one after another: each
says when it is over.
Everything it starts stays below it, daemons too (it is a child subreaper), so it can end all of it. When the runner's
side of the socket closes, for whatever reason, the keeper ends everything and goes.

Wire: 4 bytes of length, then a marshalled tuple; the descriptors of a command come with the length. Answers are
12 bytes: number of the command, kind, value. They come from where agents live and are never unmarshalled.
"""

from __future__ import annotations

import _ctypes  # and the public one costs 6 ms
import _signal as signal  # type: ignore[import-not-found]  # the public module builds enums for 4 ms
import _socket as socket  # so does this one
import marshal
import select
import sys
import time

MYPY = False  # checkers take it for true: what stands below it costs nothing at run time
if MYPY:
    import os
    import struct
    from collections.abc import Iterable
else:
    import _struct as struct
    import posix as os

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
ANSWER, EXITED, SIGNALLED = struct.Struct("<Iii"), 0, 1
MANY = "many"
DEFAULTS = (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ)
RECEIVING = socket.MSG_WAITALL | socket.MSG_CMSG_CLOEXEC
KILLING = 10.0
"""Seconds after which a process that does not die (waiting for a dead disk) is given up."""
Process = tuple[int, int]  # a pid and its start time: together they name one process, a pid may be used again

_prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]


def prctl(option: int, value: int) -> bool:
    return bool(_ctypes.call_function(_prctl, (option, value, 0, 0, 0)) == 0)


def descendants(root: int, spared: Iterable[Process] = ()) -> list[Process]:
    """Every live process below `root`, whatever sessions they made; `spared` ones are left out with all below them."""
    below: dict[int, list[Process]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            parent, process, alive = _stat(name)
            if alive:
                below.setdefault(parent, []).append(process)
    found, waiting, left_out = [], [root], frozenset(spared)
    while waiting:
        for process in below.get(waiting.pop(), ()):
            if process not in left_out:
                found.append(process)
                waiting.append(process[0])
    return found


def _stat(name: str) -> tuple[int, Process, bool]:
    try:
        with open(f"/proc/{name}/stat", "rb", buffering=0) as file:  # noqa: PTH123
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return 0, (0, 0), False
    return int(fields[1]), (int(name), int(fields[19])), fields[0] not in (b"Z", b"X")


def process_of(pid: int) -> Process:
    """Name the process that has this pid now; (0, 0) where none has."""
    return _stat(str(pid))[1]


def end_all(root: int, spared: Iterable[Process] = (), grace: float = 0.0) -> None:
    """End everything below `root`: asked first where there is grace, then stopped (so none can fork) and killed."""
    reap = root == os.getpid()
    if reap and not _reap():
        return  # no child, so nothing below: the usual end of a trial, without a walk through /proc
    if grace:
        _send(descendants(root, spared), signal.SIGTERM, signal.SIGCONT)
        _until_gone(root, spared, grace, reap)
    limit = time.monotonic() + KILLING
    while (targets := descendants(root, spared)) and time.monotonic() < limit:
        _send(targets, signal.SIGSTOP)
        _send(targets, signal.SIGKILL)
        _reap(reap)
        time.sleep(0.001)
    _reap(reap)


def _until_gone(root: int, spared: Iterable[Process], seconds: float, reap: bool) -> None:
    limit = time.monotonic() + seconds
    while descendants(root, spared) and time.monotonic() < limit:
        _reap(reap)
        time.sleep(0.005)


def _send(processes: Iterable[Process], *signals: int) -> None:
    for pid, _ in processes:
        for number in signals:
            try:
                os.kill(pid, number)
            except (ProcessLookupError, PermissionError):
                break


unclaimed: dict[int, int] = {}
"""Statuses of children that were collected while others were ended."""


def _reap(really: bool = True) -> bool:
    """Collect the dead; returns whether any child is left. Their statuses wait in `unclaimed` for who asks."""
    while really:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True
        unclaimed[pid] = status
    return True


def collected(*pids: int) -> tuple[int, int] | None:
    """Hand out one of these children that was collected while others were ended, with its status; None for none."""
    return next(((pid, unclaimed.pop(pid)) for pid in pids if pid in unclaimed), None)


class Server:
    """One command at a time; what earlier commands left running goes on until the keeper goes."""

    def __init__(self) -> None:
        self.wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake_write)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.oom, self.own = -1, b""
        if os.getpid() == 1:
            self.oom = os.open("/proc/self/oom_score_adj", os.O_RDWR | os.O_CLOEXEC)
            self.own = os.read(self.oom, 16)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)

    def serve(self, descriptor: int) -> None:
        """Obey one connection to its end, then end whatever it left."""
        self.socket = socket.socket(fileno=descriptor)
        self.number = self.pid = 0
        self.spared: list[Process] = []
        try:
            self._serve()
        except EOFError:
            pass
        finally:
            end_all(os.getpid())
            self.socket.close()

    def _serve(self) -> None:
        poll = select.poll()
        poll.register(self.socket.fileno(), select.POLLIN)
        poll.register(self.wake_read, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == self.wake_read:
                    os.read(self.wake_read, 4096)
                elif not self.obey():
                    return
            self.report()

    def obey(self) -> bool:
        """Read one order; False when the other side is gone."""
        try:
            head, ancillary, _, _ = self.socket.recvmsg(4, socket.CMSG_SPACE(12), RECEIVING)
        except OSError:
            return False
        if len(head) < 4:
            return False
        order = marshal.loads(self._receive(int.from_bytes(head, "little")))
        if order[0] == "run":
            descriptors = struct.unpack("3i", ancillary[0][2])
            _, number, argv, env, cwd = order
            self.start(number, argv, env, cwd, descriptors)
        elif order[0] == "hello":
            self.answer(EXITED, 0)
        elif order[0] == "listen":
            self.listen(order[2], order[3])
        elif order[0] == "sweep":
            end_all(os.getpid())
        elif order[0] == "over":
            return self.clear(order[1])
        elif order[1] == self.number and self.pid:
            end_all(os.getpid(), self.spared, order[2])
        return True

    def clear(self, number: int) -> bool:
        """Leave nothing of a trial to the next; False where that cannot be had."""
        end_all(os.getpid())
        os.chdir("/")
        if _reap():
            return False
        self.number, self.pid, self.spared = number, 0, []
        self.answer(EXITED, 0)
        return True

    def listen(self, address: str, port: int) -> None:
        """Hand out a socket that listens in this network: what connects to it is then the runner's to answer."""
        one = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        try:
            one.bind((address, port))
            one.listen(64)
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", one.fileno()))]
            self.socket.sendmsg([ANSWER.pack(self.number, EXITED, 0)], rights)
        except OSError as error:
            self.answer(EXITED, error.errno or 1)
        finally:
            one.close()

    def _receive(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            chunk = self.socket.recv(min(size - len(data), 1 << 20))
            if not chunk:
                raise EOFError
            data += chunk
        return bytes(data)

    def start(self, number: int, argv: list[str], env: dict[str, str], cwd: str, descriptors: tuple[int, ...]) -> None:
        unclaimed.clear()
        self.spared = descendants(os.getpid()) if _reap() else []
        self.number, self.pid = number, 0
        try:
            self.pid = self.spawned(argv, env, cwd, descriptors)
        except (OSError, ValueError) as error:
            self.refuse(argv[0], cwd, error, descriptors[2])
        for descriptor in set(descriptors):
            os.close(descriptor)

    def spawned(self, argv: list[str], env: dict[str, str], cwd: str, descriptors: tuple[int, ...]) -> int:
        """Start a command. Where earlier ones have used up all processes, they end first: a fork bomb stops here."""
        self.first_to_go(b"1000")
        try:
            return spawn(argv, env, cwd, descriptors)
        except BlockingIOError:
            end_all(os.getpid())
            self.spared = []
            return spawn(argv, env, cwd, descriptors)
        finally:
            self.first_to_go(self.own)

    def first_to_go(self, score: bytes) -> None:
        """Short of memory, the kernel shall pick a command and not process 1, with which everything would end."""
        self.oom < 0 or os.write(self.oom, score)

    def refuse(self, program: str, cwd: str, error: Exception, stderr: int) -> None:
        """Answer as a shell does: 127 says not found, 126 not startable, and why stands in stderr."""
        missing = isinstance(error, FileNotFoundError) and error.filename != cwd
        what = cwd if getattr(error, "filename", None) == cwd else program
        said = f"{what}: {getattr(error, 'strerror', None) or error}\n"
        try:  # noqa: SIM105  contextlib would be one more import
            os.write(stderr, said.encode(errors="surrogateescape"))
        except OSError:
            pass  # the code says it as well
        self.answer(EXITED, 127 if missing else 126)

    def report(self) -> None:
        """Tell how the command ended, once it has; what it started lives on."""
        _reap()
        status = unclaimed.pop(self.pid, None)
        if not self.pid or status is None:
            return
        self.pid = 0
        if os.WIFSIGNALED(status):
            self.answer(SIGNALLED, os.WTERMSIG(status))
        else:
            self.answer(EXITED, os.WEXITSTATUS(status))

    def answer(self, kind: int, value: int) -> None:
        try:
            self.socket.sendall(ANSWER.pack(self.number, kind, value))
        except OSError:
            return  # the other side is gone; the next order says so


def spawn(argv: list[str], env: dict[str, str], cwd: str, descriptors: tuple[int, ...]) -> int:
    """Start a command in a session of its own; nothing but its three descriptors goes with it.

    posix_spawn shares memory until the program is there: a fork would copy the page tables of the whole runner.
    """
    os.chdir(cwd)  # the keeper's own, for want of another way to say it
    actions = [(os.POSIX_SPAWN_DUP2, descriptor, wanted) for wanted, descriptor in enumerate(descriptors)]
    program = argv[0] if "/" in argv[0] else _look_up(argv[0], env.get("PATH", "/usr/bin:/bin"))
    return os.posix_spawn(program, argv, env, file_actions=actions, setsid=True, setsigmask=(), setsigdef=DEFAULTS)


def _look_up(program: str, path: str) -> str:
    """Find a program in the PATH that it will have."""
    for folder in path.split(":"):
        candidate = f"{folder or '.'}/{program}"
        if os.access(candidate, os.X_OK) and os.stat(candidate).st_mode & 0o170000 != 0o040000:
            return candidate
    raise FileNotFoundError(2, "not found on PATH", program)


def keep(descriptor: int) -> None:
    """Serve until the other side closes, then leave nothing behind. Never returns."""
    try:
        _begin(descriptor).serve(descriptor)
    finally:
        end_all(os.getpid())
        os._exit(0)


def _stand_between(descriptor: int) -> None:
    """Agents kill what started them, and what started that. The latter is a process for that purpose only: it waits."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    pid = os.fork()
    if pid == 0:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        return
    try:
        os.close(descriptor)
        os.waitpid(pid, 0)
    finally:
        end_all(os.getpid())
        os._exit(0)


def _begin(descriptor: int) -> Server:
    if os.getpid() != 1:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
    os.set_inheritable(descriptor, False)
    server = Server()
    prctl(PR_SET_DUMPABLE, 0)
    return server


if __name__ == "__main__":
    if sys.argv[0].startswith("/proc/self/fd/"):  # where this very code stood
        os.close(int(sys.argv[0][14:]))
    if MANY in sys.argv:
        _stand_between(int(sys.argv[1]))
    keep(int(sys.argv[1]))
