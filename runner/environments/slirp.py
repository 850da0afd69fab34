"""A sandbox's own network, by slirp4netns: it reaches what this machine reaches, but not this machine's loopback."""

from __future__ import annotations

import fcntl
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
NS_GET_USERNS = 0xB701
LOW_PORTS = "/proc/sys/net/ipv4/ip_unprivileged_port_start"
QUIET = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}


def program(search: str) -> str:
    return shutil.which(PROGRAM, path=search) or ""


class Slirp:
    """Serves the network namespace of one process until it is closed; it dies with the one that started it."""

    def __init__(self, path: str, pid: int) -> None:
        network, owner = _namespaces(pid)
        ready, writing = os.pipe()
        stop, self._held = os.pipe()
        given, null = [network, owner, writing, stop], subprocess.DEVNULL
        try:
            argv = _command(path, network, owner, writing, stop)
            self._process = subprocess.Popen(
                argv, stdin=null, stdout=null, stderr=null, pass_fds=given, env={}, start_new_session=True
            )
        finally:
            for descriptor in given:
                os.close(descriptor)
        with os.fdopen(ready, "rb") as answer:
            works = bool(answer.read(1))
        if not works:
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


def open_low_ports(pid: int) -> None:
    """Let who has no privilege listen at every port of a network that belongs to one sandbox."""
    network, owner = _namespaces(pid)
    argv = [
        "nsenter", f"--user=/proc/self/fd/{owner}", f"--net=/proc/self/fd/{network}", "--preserve-credentials",
        "sh", "-c", f"echo 0 > {LOW_PORTS}",
    ]  # fmt: skip
    try:
        done = subprocess.run(argv, pass_fds=[network, owner], env=QUIET, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise EnvironmentRefused("The sandbox needs the program 'nsenter' (package util-linux) for this.") from error
    finally:
        os.close(network)
        os.close(owner)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise EnvironmentRefused(f"The sandbox cannot listen where its model is looked for: {said}")


def _namespaces(pid: int) -> tuple[int, int]:
    """A process's network and the user namespace that owns it, which need not be the process's own: bubblewrap goes on
    to a second one where the user is not root."""
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    return network, fcntl.ioctl(network, NS_GET_USERNS)


def _command(path: str, network: int, owner: int, ready: int, stop: int) -> Sequence[str]:
    return [
        path, "--configure", "--mtu=65520", "--disable-host-loopback", f"--userns-path=/proc/self/fd/{owner}",
        "--ready-fd", str(ready), "--exit-fd", str(stop), "--netns-type=path", f"/proc/self/fd/{network}", "tap0",
    ]  # fmt: skip
