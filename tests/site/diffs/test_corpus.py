"""The odd files everyone meets: each says what is odd about it, in words."""

from __future__ import annotations

import pytest

from benchsite.diffs.cache import Cache
from benchsite.diffs.compare import compare
from benchsite.diffs.decode import decode
from benchsite.diffs.files import Changed, Side
from benchsite.diffs.options import Options
from tests.site.diffs.test_rows import comparison, rows, side


def said(old: bytes, new: bytes, path: str = "a.txt") -> str:
    return " ".join(fact.sentence for fact in comparison(old, new, path).facts)


def test_crlf_on_both_sides_is_quiet():
    made = comparison(b"a\r\nb\r\n", b"a\r\nc\r\n")
    assert not made.show_ends
    assert said(b"a\r\nb\r\n", b"a\r\nc\r\n") == "Line ends are CRLF."
    assert [row.new.text for row in rows(b"a\r\nb\r\n", b"a\r\nc\r\n")] == ["a", "c"]


def test_a_change_of_line_ends_alone_is_one_folded_sentence():
    made = comparison(b"a\r\nb\r\nc\r\n", b"a\nb\nc\n")
    assert "Only line ends changed: 3 lines CRLF → LF." in said(b"a\r\nb\r\nc\r\n", b"a\nb\nc\n")
    assert made.folded == "only line ends changed"


def test_mixed_line_ends_show_every_carriage_return():
    made = comparison(b"a\r\nb\n", b"a\r\nc\n")
    assert made.show_ends
    assert "mixed" in said(b"a\r\nb\n", b"a\r\nc\n")


@pytest.mark.parametrize(("old", "new", "which"), [(b"a", b"a\n", "old"), (b"a\n", b"a", "new")])
def test_a_missing_newline_at_the_end_belongs_to_its_side(old, new, which):
    (row,) = rows(old, new)
    other = "new" if which == "old" else "old"
    assert getattr(row, which).unended
    assert not getattr(row, other).unended


def test_bidi_controls_are_counted_and_told():
    made = comparison(b"x = 1\n", "x = 1 # \u202e\u2066 admin\n".encode())
    assert made.dangers == (("R", 1),)
    assert "2 hidden or control characters in the new text" in said(b"x = 1\n", "x = 1 # \u202e\u2066 admin\n".encode())


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_utf_16_and_32_are_compared_as_text(encoding):
    boms = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff", "utf-32-le": b"\xff\xfe\0\0"}
    old, new = (boms[encoding] + text.encode(encoding) for text in ("één\ntwee\n", "één\ndrie\n"))
    made = comparison(old, new)
    assert (made.kind, made.added, made.deleted) == ("text", 1, 1)
    assert [row.old.text for row in rows(old, new)] == ["één", "twee"]
    assert "decoded as UTF-" in said(old, new)


def test_other_bytes_fall_back_to_cp1252_with_a_badge():
    assert decode(b"caf\xe9 \x93q\x94\n").badge == "decoded as cp1252"
    assert [row.new.text for row in rows(b"", b"caf\xe9 \x93q\x94 \x81\n")] == ["café “q” \x81"]


def test_a_byte_order_mark_alone_is_a_change_told_in_words():
    assert "Encoding changed: UTF-8 → UTF-8 with BOM." in said(b"a\n", b"\xef\xbb\xbfa\n")


def test_binary_content_is_not_read_as_text():
    made = comparison(b"\x89PNG\0\1\2", b"\x89PNG\0\1\3")
    assert (made.kind, made.first_difference) == ("binary", 6)


def test_a_nul_late_in_a_text_is_shown_not_hidden():
    old = b"a\n" * 5000
    assert comparison(old, old + b"\0\n").kind == "text"


def test_minified_files_are_folded():
    assert comparison(b"", b"var a=1;" * 1000, "a.min.js").folded == "minified"


def test_lock_files_are_folded_with_their_counts_kept():
    made = comparison(b"a\n", b"b\n", "web/package-lock.json")
    assert (made.folded, made.added, made.deleted) == ("generated file", 1, 1)


def test_a_file_with_many_changed_lines_waits_to_be_opened():
    assert comparison(b"", b"a\n" * 401).folded == "401 changed lines"


def test_too_many_lines_are_refused_with_size_and_first_difference():
    made = comparison(b"a\n" * 100_001, b"a\n" * 50 + b"b\n")
    assert (made.kind, made.first_difference) == ("large", 100)
    assert "100,001 lines, more than the 100,000" in made.facts[-1].sentence


def test_an_empty_file_that_appears_is_told():
    change = Changed("pkg/__init__.py", "added", None, side(b""))
    made = compare(change, None, b"", Options(), Cache(None))
    assert (made.kind, made.added) == ("text", 0)
    assert "The new file is empty." in [fact.sentence for fact in made.facts]


def test_a_change_of_mode_alone_says_so():
    before, after = side(b"#!/bin/sh\n"), side(b"#!/bin/sh\n", "100755")
    made = compare(Changed("run.sh", "mode", before, after), b"#!/bin/sh\n", b"#!/bin/sh\n", Options(), Cache(None))
    assert made.kind == "plain"
    assert made.facts[0].sentence == "Mode changed: 100644 → 100755, now executable."


def test_a_link_is_shown_as_what_it_is():
    link = Side("link", "120000", target="/etc/passwd")
    made = compare(Changed("notes", "added", None, link), None, None, Options(), Cache(None))
    assert made.kind == "plain"
    assert "symbolic link" in made.facts[0].sentence
    assert "/etc/passwd" in made.facts[0].sentence


def test_bytes_that_were_never_stored_are_named_not_guessed():
    after = Side("file", "100644", 20_000_000, "ab" * 32, False)
    made = compare(Changed("big.bin", "added", None, after), None, None, Options(), Cache(None))
    assert made.kind == "absent"
    assert "too large to be stored" in made.facts[0].sentence


def test_a_huge_file_has_no_colours_and_says_why():
    old = b"x = 1\n" * 20_001
    assert "No colours: more than 20,000 lines." in said(old, old + b"y = 2\n", "a.py")


def test_colours_survive_strings_over_several_lines():
    made = comparison(b'x = """\nnot = code\n"""\n', b'x = """\nnot = code at all\n"""\n', "a.py")
    assert made.new.cell(1).colours in [((0, 17, "sd"),), ((0, 17, "s"),)]


def test_the_cache_gives_the_same_comparison(tmp_path):
    cache = Cache(tmp_path)
    old, new = b"def f(x):\n    return x\n", b"def f(x):\n    return x + 1\n"
    change = Changed("a.py", "modified", side(old), side(new))
    first, second = (compare(change, old, new, Options(), cache) for _ in range(2))
    assert first == second
    assert first.take(Options(), 9) == second.take(Options(), 9)
    third = compare(change, old, new, Options(), cache)
    assert third.take(Options(), 9) == first.take(Options(), 9)
    assert (first.coloured, third.coloured) == (4, 0)
    assert len(list(tmp_path.glob("??/*"))) == 3
    cache.limit = 0
    cache.sweep()
    assert list(tmp_path.glob("??/*")) == []


def test_a_cache_may_be_emptied_damaged_or_taken_away_at_any_time(tmp_path):
    cache = Cache(tmp_path / "cache", limit=0)
    assert cache.get(["a"], lambda: [1]) == [1]
    (kept,) = (tmp_path / "cache").glob("??/*")
    kept.write_bytes(b"no zlib")
    assert cache.get(["a"], lambda: [2]) == [2]
    (kept.parent / "gone").symlink_to("nowhere")
    cache.sweep()
    assert not kept.exists()
    (tmp_path / "file").write_text("in the way")
    blocked = Cache(tmp_path / "file")
    assert blocked.get(["a"], lambda: [3]) == [3]
    blocked.sweep()
