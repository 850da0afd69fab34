"""A journal is read many lines at a time, and what comes out is what one line after the other gives."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from benchsite.flows import struck
from benchsite.flows.struck import Struck
from runner.errors import JournalError
from runner.journal import MAX_LINE, decode

GOOD = [b'{"type": "a", "n": %d, "text": "%s"}' % (number, b"x" * (number % 70)) for number in range(200)]
ODD: dict[str, bytes] = {
    "two on a line": b'{"type": "a"},{"type": "b"}',
    "one on two lines": b'{"type": "a", "x": [{}\n{}]}',
    "no object": b'["type"]',
    "no type": b'{"n": 1}',
    "a type that is no text": b'{"type": ["a"]}',
    "blank": b"",
    "no JSON": b'{"type": "a",}',
    "too deep": b'{"type": "a", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(struck, "CHUNK", 1_000)
    monkeypatch.setattr(struck, "PIECE", 150)


def at_once(data: bytes, start: int = 0) -> list[tuple[Any, int]]:
    return [pair for many in Struck(io.BytesIO(data)).events(start) for pair in zip(*many, strict=True)]


@pytest.mark.parametrize("last", [b"", b'{"type": "torn', b'{"type": "whole, but for its line feed"}'])
def test_events_and_their_ends_are_those_of_the_lines_and_a_torn_one_is_left_aside(last: bytes) -> None:
    lines = [*GOOD[:100], b'{"type": "lone", "text": "\\ud800"}', b'{"type": "n", "n": NaN}', *GOOD[100:]]
    data = b"".join(line + b"\n" for line in lines) + last
    found = at_once(data)
    assert repr([event for event, _ in found]) == repr(list(decode(io.BytesIO(data))))
    place = 0
    for line, (_, end) in zip(lines, found, strict=True):
        place += len(line) + 1
        assert end == place
    assert [event["n"] for event, _ in at_once(data, found[150][1])] == [*range(149, 200)]


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_line_is_refused_by_its_number_wherever_reading_began(odd: str) -> None:
    data = b"".join(line + b"\n" for line in [*GOOD[:90], ODD[odd], *GOOD[90:]])
    with pytest.raises(JournalError) as one_by_one:
        list(decode(io.BytesIO(data)))
    for start in (0, sum(len(line) + 1 for line in GOOD[:7])):
        with pytest.raises(JournalError, match=r"^Line 91 of events\.jsonl ") as refusal:
            at_once(data, start)
        assert str(refusal.value)[:60] == str(one_by_one.value)[:60]


def test_a_line_that_never_ends_is_refused_before_it_is_all_read() -> None:
    class Endless(io.RawIOBase):
        given = 0

        def readable(self) -> bool:
            return True

        def seekable(self) -> bool:
            return True

        def seek(self, offset: int, whence: int = 0, /) -> int:
            return offset

        def tell(self) -> int:
            return self.given

        def readinto(self, buffer: Any) -> int:
            self.given += len(buffer)
            buffer[:] = b"x" * len(buffer)
            return len(buffer)

    endless = Endless()
    with pytest.raises(JournalError, match="is longer than"):
        list(Struck(io.BufferedReader(endless, 1 << 20)).events(0))
    assert endless.given < 2 * MAX_LINE


def test_what_looks_like_a_secret_is_struck_out_of_the_events_and_told_with_its_line() -> None:
    secret = "ghp_" + "Zq7Xw2Lk9Rt4Vb8Nm3Hs6Jd1Fg5Cp0Ya7Te2"
    lines = [*GOOD[:50], json.dumps({"type": "a", "text": secret}).encode(), *GOOD[50:]]
    file = Struck(io.BytesIO(b"".join(line + b"\n" for line in lines)))
    events = [event for many, _ in file.events(0) for event in many]
    assert secret not in repr(events)
    assert [(leak.kind, leak.line) for leak in file.found] == [("GitHub token", 51)]
