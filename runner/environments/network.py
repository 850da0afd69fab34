"""The ways out of an environment without a network: hosts that the runner itself carries connections to."""

from __future__ import annotations

import contextlib
import ipaddress
import re
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from runner.errors import EnvironmentRefused

CHUNK = 1 << 16
AT_ONCE = 64
"""Connections carried at a time; more wait until one has ended."""
CONNECTING = 30
LOW = 1024
"""Ports below this one take a privilege, which nobody has inside."""
PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,252})?")


@dataclass(frozen=True)
class Way:
    """`host` and `port` as the runner reaches them, `address` where the environment meets them, at the same port."""

    host: str
    port: int
    address: str

    @property
    def name(self) -> str:
        """The name that has to lead to the address inside; "" where the host is an address itself."""
        return "" if self.host == self.address else self.host


def ways(endpoint: str | None, allowed: Sequence[str] = ()) -> tuple[Way, ...]:
    """Give the ways to a model's endpoint and to other allowed hosts, each name at a loopback address of its own."""
    wanted = [_of_url(endpoint)] if endpoint else []
    wanted += [host_and_port(one) for one in allowed]
    found: dict[tuple[str, int], Way] = {}
    addresses: dict[str, str] = {}
    for host, port in wanted:
        address = addresses.setdefault(host, _address(host, len(addresses)))
        found[host, port] = Way(host, port, address)
    return tuple(found.values())


def is_loopback(endpoint: str | None) -> bool:
    """Whether a URL leads to this machine's own loopback."""
    host = _of_url(endpoint)[0] if endpoint else ""
    return host == "localhost" or host.endswith(".localhost") or _literal(host, "is_loopback")


def host_and_port(text: str) -> tuple[str, int]:
    """Read "host" (port 443) or "host:port"; raises ValueError for anything else."""
    host, _, port = text.partition(":")
    if not _NAME.fullmatch(host) or (port and not (port.isdigit() and 0 < int(port) < 65536)):
        raise ValueError(f"{text!r} is no host; write it as 'pypi.org' or 'pypi.org:443'")
    return host.lower(), int(port or 443)


def _of_url(url: str) -> tuple[str, int]:
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        port = parts.port or PORTS.get(parts.scheme, 443)
    except ValueError as error:
        raise EnvironmentRefused(f"{url!r} is no endpoint: {error}.") from error
    if not parts.hostname:
        raise EnvironmentRefused(f"{url!r} is no endpoint: it names no host.")
    return parts.hostname, port


def _address(host: str, number: int) -> str:
    if host == "localhost":
        return "127.0.0.1"
    if _literal(host, "is_loopback"):
        return host
    if _literal(host, "version"):
        raise EnvironmentRefused(
            f"Without a network nothing but names and loopback addresses can be led to the runner, and {host} is "
            "neither; give that machine a name, or declare network='open'."
        )
    return f"127.0.77.{number + 1}"


def _literal(host: str, quality: str) -> bool:
    try:
        return bool(getattr(ipaddress.ip_address(host), quality))
    except ValueError:
        return False


def hosts_file(found: Sequence[Way]) -> bytes:
    """What /etc/hosts has to say inside."""
    led = (f"{way.address} {way.name}" for way in found if way.name not in ("", "localhost"))
    lines = ["127.0.0.1 localhost", *led]
    return "".join(f"{line}\n" for line in dict.fromkeys(lines)).encode()


class Proxy:
    """Answers what connects to the sockets inside by carrying its bytes to the host of that way, and to no other."""

    def __init__(self, found: Sequence[Way], listen: Callable[[str, int], socket.socket]) -> None:
        self._slots = threading.BoundedSemaphore(AT_ONCE)
        self._sockets = [(way, listen(way.address, way.port)) for way in found]
        for way, listening in self._sockets:
            threading.Thread(target=self._serve, args=(way, listening), daemon=True).start()

    def close(self) -> None:
        for _, listening in self._sockets:
            with contextlib.suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            listening.close()

    def _serve(self, way: Way, listening: socket.socket) -> None:
        while True:
            self._slots.acquire()
            try:
                client, _ = listening.accept()
            except OSError:
                self._slots.release()
                return
            threading.Thread(target=self._carry, args=(way, client), daemon=True).start()

    def _carry(self, way: Way, client: socket.socket) -> None:
        try:
            with client, socket.create_connection((way.host, way.port), CONNECTING) as server:
                server.settimeout(None)
                back = threading.Thread(target=_pump, args=(server, client), daemon=True)
                back.start()
                _pump(client, server)
                back.join()
        except OSError:
            pass  # the client sees its connection end, as it would without us
        finally:
            self._slots.release()


def _pump(source: socket.socket, target: socket.socket) -> None:
    """Carry one direction to its end, and tell the other side that there is no more."""
    with contextlib.suppress(OSError):
        while data := source.recv(CHUNK):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
