"""What a trial tells its runner, and when."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest

from runner.scenario.pipe import EventPipe


@pytest.fixture
def pipe() -> Iterator[tuple[int, EventPipe]]:
    reading, writing = os.pipe2(os.O_NONBLOCK)
    yield reading, EventPipe(writing)
    os.close(reading)
    os.close(writing)


def _told(reading: int) -> list[str]:
    try:
        return [json.loads(line)["type"] for line in os.read(reading, 1 << 16).splitlines()]
    except BlockingIOError:
        return []


def test_what_the_next_event_follows_at_once_is_one_write_with_it(pipe: tuple[int, EventPipe]) -> None:
    reading, events = pipe
    events.emit("phase", phase="prepare", seconds=0.1)
    assert _told(reading) == []
    events.emit("phase", phase="setup", seconds=0.0, then="execution")
    assert _told(reading) == ["phase", "phase"]


def test_a_phase_that_may_take_long_and_an_observation_are_told_at_once(pipe: tuple[int, EventPipe]) -> None:
    reading, events = pipe
    for phase in ("setup", "execution", "evaluation", "cleanup"):
        events.emit("phase", phase="prepare", seconds=0.1, then=phase)
        assert _told(reading) == ["phase"]
    events.emit("observe", measure="resolved", value=True)
    assert _told(reading) == ["observe"]
