from __future__ import annotations

import io
from collections.abc import Iterable, Iterator

from runner import transcript
from runner.transcript import Step, lines, read_steps


def again(steps: Iterable[Step]) -> Iterator[Step]:
    return read_steps(io.BytesIO(b"".join(lines(steps))))


def test_a_transcript_comes_back_as_it_was_written() -> None:
    steps = [
        Step("user", "message", "do it"),
        Step("assistant", "tool_call", tool="Bash", arguments={"command": "ls"}, call="1", usage={"tokens_in": 3}),
        Step("tool", "observation", "a\nb ☃ \u2028", call="1", exit_code=0, at="2026-01-01T00:00:00Z"),
    ]
    back = list(again(steps))
    assert [step.n for step in back] == [1, 2, 3]
    assert [step.to_json() | {"n": 0} for step in back] == [step.to_json() for step in steps]


def test_what_is_no_step_is_left_aside() -> None:
    good = b'{"n": 1, "role": "user", "kind": "message", "text": "hi", "future": 1}\n'
    data = good + b'garbage\n[1]\n\n{"role": "alien", "kind": "message"}\n\xff\xfe\n' + good[:-5]
    assert [step.text for step in read_steps(io.BytesIO(data))] == ["hi"]


def test_a_line_beyond_all_measure_is_skipped_and_the_next_is_read() -> None:
    huge = b'{"role": "user", "kind": "message", "text": "' + b"x" * (3 * transcript.MAX_LINE) + b'"}\n'
    after = b'{"role": "user", "kind": "message", "text": "after"}\n'
    assert [step.text for step in read_steps(io.BytesIO(huge + after))] == ["after"]


def test_a_deeply_nested_line_does_not_break_the_reader() -> None:
    after = b'{"role": "user", "kind": "message", "text": "after"}\n'
    assert [step.text for step in read_steps(io.BytesIO(b"[" * 200_000 + b"\n" + after))] == ["after"]


def test_long_texts_keep_both_ends_and_say_what_is_missing() -> None:
    long = "start" + "x" * 2 * transcript.MAX_TEXT + "end"
    (step,) = again([Step("tool", "observation", long, arguments={"text": long, "path": "a"})])
    assert len(step.text) < transcript.MAX_TEXT + 100
    assert step.text.startswith("start")
    assert step.text.endswith("end")
    assert "characters left out" in step.text
    assert step.arguments["path"] == "a"
    assert len(step.arguments["text"]) < transcript.MAX_TEXT


def test_a_transcript_without_end_is_cut_with_a_note() -> None:
    *_, last = again(Step("user", "message", "x") for _ in range(transcript.MAX_STEPS + 50))
    assert last.n == transcript.MAX_STEPS + 1
    assert "cut here" in last.text


def test_lone_surrogates_are_written_as_utf8() -> None:
    steps = [Step("user", "message", "name \udcff.txt")]
    b"".join(lines(steps)).decode("utf-8")
    assert [step.text for step in again(steps)] == ["name \udcff.txt"]
