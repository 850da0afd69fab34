"""What a sandbox reaches: nothing with network "none" but the model and what is allowed, never the host's loopback."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from runner.environments import sandbox
from runner.environments.base import HIDDEN, SHARED, KeptSession, Needs
from runner.environments.bubblewrap import own_network
from runner.environments.network import host_and_port, hosts_file, ways
from runner.errors import EnvironmentRefused, RunnerError
from runner.processes import ProcessLost
from runner.worlds.places import Place

Opener = Callable[..., KeptSession]
Ask = Callable[..., str]
UNUSABLE = sandbox.unusable()
real = pytest.mark.skipif(bool(UNUSABLE), reason=f"The sandbox cannot be tested here: {UNUSABLE}")
CODE = """
import socket, sys
try:
    with socket.create_connection((sys.argv[1], int(sys.argv[2])), 5) as s:
        s.sendall(sys.argv[3].encode() * int(sys.argv[4]))
        s.shutdown(socket.SHUT_WR)
        print(len(b"".join(iter(lambda: s.recv(1 << 16), b""))))
except OSError as error:
    print(type(error).__name__)
"""


@pytest.fixture(scope="module")
def echo() -> Iterator[int]:
    """A service on this machine's loopback that gives back what it is sent, to one client after another."""

    def serve() -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            with client:
                while data := client.recv(1 << 16):
                    client.sendall(data)

    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def ask(place: Place) -> Ask:
    def run(session: KeptSession, host: str, port: int, times: int = 1) -> str:
        argv = [sys.executable, "-I", "-S", "-c", CODE, host, str(port), "ping", str(times)]
        session.exec(argv, env={}, stdout=place.out / "o", stderr=place.out / "o", timeout=120)
        return (place.out / "o").read_text().strip()

    return run


@real
@pytest.mark.sandbox
def test_network_none_reaches_the_model_and_nothing_else(opener: Opener, ask: Ask, echo: int) -> None:
    assert ask(opener("sandbox", Needs(network="none")), "127.0.0.1", echo) == "ConnectionRefusedError"
    session = opener("sandbox", Needs(network="none", endpoint=f"http://127.0.0.1:{echo}/v1"))
    assert ask(session, "127.0.0.1", echo, 500_000) == "2000000"
    assert ask(session, "127.0.0.1", echo + 1) == "ConnectionRefusedError"
    assert ask(session, "127.0.0.2", echo) == "ConnectionRefusedError"
    assert ask(session, "192.0.2.1", echo) == "OSError"
    assert ask(session, "example.org", 443) == "gaierror"


@real
@pytest.mark.sandbox
def test_an_allowed_host_is_met_by_its_name_at_its_port(opener: Opener, ask: Ask, said: Ask, echo: int) -> None:
    session = opener("sandbox", Needs(network="none", allow=(f"localhost:{echo}", "example.invalid")))
    assert ask(session, "localhost", echo) == "4"
    found = ask(session, "example.invalid", 443)
    assert found not in ("4", "gaierror", "ConnectionRefusedError"), (
        "led to the runner, which does not find that host either"
    )
    assert ask(session, "example.invalid", 80) == "ConnectionRefusedError"
    assert "127.0.77.2 example.invalid" in said(session, "cat /etc/hosts")


@real
@pytest.mark.sandbox
def test_an_open_network_hides_the_loopback_but_not_a_model_there(
    opener: Opener, ask: Ask, said: Ask, echo: int
) -> None:
    if not own_network():  # then it is said, and the next test looks at that
        assert sandbox.ENVIRONMENT.holding(Needs())["loopback"] == SHARED
        return
    session = opener("sandbox")
    assert ask(session, "127.0.0.1", echo) == "ConnectionRefusedError"
    assert ask(session, "10.0.2.2", echo) in ("ConnectionRefusedError", "OSError", "TimeoutError")
    assert "tap0" in said(session, "cat /proc/net/dev")
    assert ask(opener("sandbox", Needs(endpoint=f"http://localhost:{echo}")), "localhost", echo) == "4"
    assert sandbox.ENVIRONMENT.holding(Needs())["loopback"] == HIDDEN


@real
@pytest.mark.sandbox
def test_where_the_loopback_cannot_be_hidden_a_plan_that_hides_it_is_refused(
    opener: Opener, ask: Ask, echo: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ask(opener("sandbox", Needs(loopback=SHARED)), "127.0.0.1", echo) == "4"
    monkeypatch.setattr("runner.environments.slirp.PROGRAM", "no-such-slirp")
    own_network.cache_clear()
    try:
        assert sandbox.ENVIRONMENT.holding(Needs())["loopback"] == SHARED
        with pytest.raises(EnvironmentRefused, match="package that has the program 'slirp4netns'"):
            opener("sandbox", Needs(loopback=HIDDEN))
    finally:
        own_network.cache_clear()


@real
@pytest.mark.sandbox
def test_a_socket_that_cannot_listen_is_told(opener: Opener) -> None:
    session = opener("sandbox", Needs(network="none"))
    with pytest.raises(ProcessLost, match=r"192\.0\.2\.1, port 80"):
        session._keeper.listen("192.0.2.1", 80)


def test_each_name_gets_an_address_of_its_own() -> None:
    found = ways("https://api.example.com/v1", ["pypi.org", "pypi.org:80", "localhost:9"])
    assert [(way.host, way.port, way.address) for way in found] == [
        ("api.example.com", 443, "127.0.77.1"),
        ("pypi.org", 443, "127.0.77.2"),
        ("pypi.org", 80, "127.0.77.2"),
        ("localhost", 9, "127.0.0.1"),
    ]
    assert hosts_file(found) == b"127.0.0.1 localhost\n127.0.77.1 api.example.com\n127.0.77.2 pypi.org\n"


@pytest.mark.parametrize("endpoint", ["http://10.1.2.3:80", "http://[2001:db8::1]/", "http://:80", "http://h:99999"])
def test_an_endpoint_that_cannot_be_led_anywhere_is_refused(endpoint: str) -> None:
    with pytest.raises(RunnerError):
        ways(endpoint)
    assert sandbox.ENVIRONMENT.refusal(Needs(network="none", endpoint=endpoint))


@pytest.mark.parametrize("text", ["", "http://pypi.org", "pypi.org:", "pypi.org:0", "a b", "-x", "pypi.org:443/x"])
def test_what_is_no_host_is_refused(text: str) -> None:
    if text == "pypi.org:":
        assert host_and_port(text) == ("pypi.org", 443)
        return
    with pytest.raises(ValueError, match="is no host"):
        host_and_port(text)
