"""Opcodes over bytes: whatever the bytes, nothing is lost and nothing is counted twice."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from benchsite.diffs.lines import changed, count_lines, opcodes, pack, unpack

LINE = st.sampled_from([b"a", b"b", b"", b"  a", b"a ", b"\xff\xfe", b"a\r", b"\0", b"\r", "é\u202e".encode()])
TEXT = st.one_of(
    st.binary(max_size=200),
    st.lists(LINE, max_size=25).map(b"\n".join),
    st.lists(LINE, max_size=25).map(lambda lines: b"".join(line + b"\n" for line in lines)),
)


def split(data: bytes) -> list[bytes]:
    parts = data.split(b"\n")
    ended = [part + b"\n" for part in parts[:-1]]
    return [*ended, parts[-1]] if parts[-1] else ended


@settings(max_examples=400, deadline=None)
@given(TEXT, TEXT)
def test_applying_the_opcodes_gives_the_other_side(old, new):
    left, right = split(old), split(new)
    built = b""
    for code in opcodes(old, new):
        if code.tag == "equal":
            assert left[code.a0 : code.a1] == right[code.b0 : code.b1]
            built += b"".join(left[code.a0 : code.a1])
        else:
            built += b"".join(right[code.b0 : code.b1])
    assert built == new


@settings(max_examples=300, deadline=None)
@given(TEXT, TEXT, st.sampled_from(["keep", "eol", "all"]))
def test_opcodes_cover_both_sides_whole_and_in_order(old, new, space):
    a = b = 0
    for code in opcodes(old, new, space):
        assert (code.a0, code.b0) == (a, b)
        assert code.a1 > code.a0 or code.b1 > code.b0
        a, b = code.a1, code.b1
    assert (a, b) == (count_lines(old), count_lines(new)) == (len(split(old)), len(split(new)))


@settings(max_examples=200, deadline=None)
@given(TEXT, TEXT)
def test_the_cache_brings_the_same_opcodes_back(old, new):
    codes = opcodes(old, new)
    assert unpack(pack(codes), count_lines(old), count_lines(new)) == codes


@given(TEXT)
def test_a_text_equals_itself(data):
    assert all(code.tag == "equal" for code in opcodes(data, data))


def test_one_inserted_line_is_one_insertion_even_among_equal_lines():
    old = b"x\n" * 3000
    assert changed(opcodes(old, old + b"x\n")) == (1, 0)


def test_a_missing_last_newline_is_a_change():
    assert changed(opcodes(b"a\nb", b"a\nb\n")) == (1, 1)


def test_ignoring_blanks_at_line_ends_hides_crlf_and_trailing_blanks_but_not_indent():
    assert changed(opcodes(b"a\r\nb  \n", b"a\nb\n", "eol")) == (0, 0)
    assert changed(opcodes(b"a\n", b"  a\n", "eol")) == (1, 1)
    assert changed(opcodes(b"a\n", b"  a\n", "all")) == (0, 0)
