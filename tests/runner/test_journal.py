from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import JournalError
from runner.journal import EVENTS, Journal, decode, encode, read_events


def write(run_dir: Path, count: int) -> bytes:
    with Journal.open(run_dir) as journal:
        for number in range(count):
            journal.append("guard", trial=number, attempt=1, sentence="s", late=False, where="")
    return (run_dir / EVENTS).read_bytes()


def test_events_come_back_in_order_numbered_and_dated(tmp_path: Path) -> None:
    write(tmp_path, 3)
    events = list(read_events(tmp_path))
    assert [event["seq"] for event in events] == [1, 2, 3]
    assert [event["trial"] for event in events] == [0, 1, 2]
    assert all(event["at"].endswith("Z") for event in events)


def test_numbers_go_on_where_they_stopped(tmp_path: Path) -> None:
    write(tmp_path, 2)
    write(tmp_path, 2)
    assert [event["seq"] for event in read_events(tmp_path)] == [1, 2, 3, 4]


@given(cut=st.integers(1, 400))
def test_a_partial_tail_is_cut_and_the_cut_is_journalled(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    run_dir = tmp_path_factory.mktemp("run")
    whole = write(run_dir, 4)
    left = whole[: max(0, len(whole) - cut)]
    (run_dir / EVENTS).write_bytes(left)
    lines = left.count(b"\n")
    partial = len(left) - (left.rfind(b"\n") + 1)

    assert len(list(read_events(run_dir))) == lines
    Journal.open(run_dir).close()
    events = list(read_events(run_dir))
    assert [event["type"] for event in events] == ["guard"] * lines + ["journal.repaired"] * bool(partial)
    if partial:
        assert events[-1]["cut"] == partial
        assert events[-1]["seq"] == lines + 1


def test_a_damaged_line_in_the_middle_is_refused_never_skipped(tmp_path: Path) -> None:
    whole = write(tmp_path, 3).splitlines(keepends=True)
    (tmp_path / EVENTS).write_bytes(whole[0] + b"{oops\n" + whole[2])
    with pytest.raises(JournalError, match=r"Line 2 of events\.jsonl is not JSON"):
        list(read_events(tmp_path))
    with pytest.raises(JournalError, match="damaged after event 1"):
        Journal.open(tmp_path)


@pytest.mark.parametrize("line", [b"[]\n", b"7\n", b"{}\n", b'{"type": 3}\n', b"[" * 100_000 + b"\n", b"\xff\n"])
def test_a_line_that_is_no_event_is_refused_with_its_number(line: bytes) -> None:
    with pytest.raises(JournalError, match="Line 1"):
        list(decode(io.BytesIO(line)))


def test_a_line_without_end_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.journal.MAX_LINE", 1000)
    with pytest.raises(JournalError, match="longer than 1000 bytes"):
        list(decode(io.BytesIO(b'{"type": "guard", "sentence": "' + b"x" * 2000 + b'"}\n')))


def test_an_unknown_event_type_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with Journal.open(tmp_path) as journal, pytest.raises(JournalError, match=r"trial\.exploded"):
        journal.append("trial.exploded", trial=1)
    assert list(read_events(tmp_path)) == []


def test_a_run_has_one_writer_also_across_processes(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from runner.journal import Journal; Journal.open(Path(sys.argv[1]))"
    with Journal.open(tmp_path):
        done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "being written by another process" in done.stderr


@given(st.text())
def test_any_text_makes_one_line_of_ascii(text: str) -> None:
    line = encode({"type": "guard", "sentence": text})
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert json.loads(line)["sentence"] == text


def test_a_folder_without_a_journal_has_no_events(tmp_path: Path) -> None:
    assert list(read_events(tmp_path)) == []
