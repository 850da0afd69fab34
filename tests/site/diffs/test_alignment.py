"""Transcripts beside each other: every step of both stands in a row, in order, however long they are."""

from __future__ import annotations

import io
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from benchsite.diffs.alignment import Keys, align
from benchsite.diffs.stepindex import keys, places


def told(*texts, role="assistant"):
    rows = ({"n": n, "role": role, "kind": "message", "text": text} for n, text in enumerate(texts, 1))
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def keys_of(*texts):
    return Keys.joined([keys(io.BytesIO(told(*texts)))])


def parts_of(old, new, window):
    """Go from part to part, as a reader does, until both ends are reached."""
    parts = [align(old, new, window=window)]
    while parts[-1].end != (len(old), len(new)):
        parts.append(align(old, new, parts[-1].end, window=window))
        assert parts[-1].end > parts[-1].start, "a part must lead on"
    return parts


words = st.lists(st.sampled_from("abcdefgh"), max_size=40)


@settings(max_examples=30, deadline=None)
@given(words, words, st.integers(2, 12))
def test_every_step_of_both_sides_stands_in_exactly_one_row_in_order(left, right, window):
    old, new = keys_of(*left), keys_of(*right)
    a, b = 0, 0
    for part in parts_of(old, new, window):
        for span in part.spans:
            assert (span.a0, span.b0) == (a, b)
            a, b = span.a1, span.b1
            if span.kind == "same":
                assert left[span.a0 : span.a1] == right[span.b0 : span.b1]
    assert (a, b) == (len(left), len(right))


def test_the_common_beginning_and_end_of_long_transcripts_are_found_whatever_lies_between():
    begin, end = [f"begin {n}" for n in range(300)], [f"end {n}" for n in range(200)]
    old = keys_of(*begin, *(f"left {n}" for n in range(90)), *end)
    new = keys_of(*begin, *(f"right {n}" for n in range(70)), *end)
    first, *_, last = parts_of(old, new, 20)
    assert (first.common, first.tail, len(first.spans[0])) == (300, 200, 300)
    assert first.end == (320, 320), "between them one window is aligned at a time"
    assert last.spans[-1].kind == "same"
    assert len(last.spans[-1]) == 200


def test_a_part_ends_where_both_sides_are_alike_where_they_are():
    shared = [f"step {n}" for n in range(60)]
    old, new = keys_of("a", *shared), keys_of("b", "c", *shared[:30], "d", *shared[30:], "e")
    first = align(old, new, window=40)
    assert first.spans[-1].kind == "same"
    assert parts_of(old, new, 40)[-1].end == (len(old), len(new))


def test_a_place_no_part_begins_at_is_answered_all_the_same():
    old, new = keys_of(*"abcdef"), keys_of(*"abxdef")
    for start in [(6, 0), (0, 6), (6, 6), (5, 1), (3, 3)]:
        part = align(old, new, start)
        assert part.end == (6, 6)


def test_the_folder_of_a_trial_and_measured_seconds_do_not_count_and_all_else_does():
    world = "/data/01M8MF6AN4T6R57EDVJ52TSTVA/{}-1/calc.py took {} s"
    assert keys_of(world.format(1, 0.25)) == keys_of(world.format(22, 13))
    assert keys_of("a") != keys_of("b")
    one, other = told("x"), told("x", role="tool")
    assert keys(io.BytesIO(one)) != keys(io.BytesIO(other))


def test_an_index_knows_where_every_two_hundredth_step_lies_and_passes_over_what_is_none():
    data = told(*(f"text {n}" for n in range(401)))
    data = b'not json\n{"role": "nobody"}\n' + data[:-1] + b', "cut'
    made = places(io.BytesIO(data))
    assert made["counts"][""] == made["counts"]["assistant"] == 400
    assert made["first"][""] == [1, 201]
    assert [json.loads(data[at:].split(b"\n")[0])["n"] for at in made["starts"][""]] == [1, 201]
