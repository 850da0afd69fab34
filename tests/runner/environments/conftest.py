"""An open session in each environment that works here."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runner.environments import Needs, choose, container, engines, sandbox
from runner.environments.base import KeptSession
from runner.worlds.places import Place, drop_place, make_place
from tests import image


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("BENCHSITE_WORLDS", str(tmp_path / "worlds"))
    made = make_place("01RUN", 1, 1)
    yield made
    drop_place(made)


@pytest.fixture(scope="session")
def storage() -> Iterator[dict[str, str]]:
    """An engine that has the image: podman with a storage apart from the user's own, or docker's daemon."""
    if why := container.unusable() or image.missing():
        pytest.skip(f"Containers cannot be tested here: {why}")
    if not engines.is_podman():
        image.for_docker()
    with image.for_podman() if engines.is_podman() else contextlib.nullcontext({}) as led:
        yield led


@pytest.fixture
def containers(storage: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in storage.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def opener(place: Place) -> Iterator[Callable[..., KeptSession]]:
    """Open a session by the environment's name; all are closed in the end."""
    sessions: list[KeptSession] = []

    def open_one(name: str, needs: Needs | None = None) -> KeptSession:
        if name == "sandbox" and sandbox.unusable():
            pytest.skip(f"The sandbox cannot be tested here: {sandbox.unusable()}")
        session = choose(name).open(place, needs or Needs())
        assert isinstance(session, KeptSession)
        sessions.append(session)
        return session

    yield open_one
    for session in sessions:
        session.close()


@pytest.fixture
def said(place: Place) -> Callable[..., str]:
    """Run a shell line in a session and give what it printed, both streams."""

    def run(session: KeptSession, line: str, **given: object) -> str:
        out = place.out / "said"
        session.exec(["sh", "-c", line], env={}, stdout=out, stderr=out, timeout=60, **given)  # type: ignore[arg-type]
        return out.read_text(errors="replace")

    return run
