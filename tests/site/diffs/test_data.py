"""The corpus: pairs for every case, each compared to what a person has read and found right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchsite.diffs.cache import Cache
from benchsite.diffs.compare import compare
from benchsite.diffs.files import Changed, Side
from benchsite.diffs.options import Options
from tests.site.diffs.corpus import CASES, told
from tests.site.diffs.test_rows import comparison, side

PAIRS = sorted(place for place in CASES.iterdir() if place.is_dir())


@pytest.mark.parametrize("case", PAIRS, ids=lambda case: case.name)
def test_a_pair_is_told_as_it_was_read_and_found_right(case: Path) -> None:
    assert told(case) == (case / "expected.txt").read_bytes().decode()


def test_a_line_of_five_megabytes_is_refused_and_one_below_it_is_cut():
    line = b"x" * 5_000_000
    made = comparison(line + b"\n", b"y\n")
    assert (made.kind, made.facts[-1].sentence) == (
        "large",
        "Too large to compare: 5,000,001 bytes, more than the 5,000,000 that are compared.",
    )
    made = comparison(line[:-9] + b"\n", b"y\n")
    rows, _ = made.take(Options(), 9)
    assert (made.folded, rows[0].old.cut, len(rows[0].old.text)) == ("minified", 4_999_991, 2_000)
    assert made.whole(("L", 1)).cut == 4_999_991
    assert made.whole(("L", 2)) is None


def test_a_hundred_thousand_lines_are_compared_and_one_more_is_not():
    old = b"".join(b"%d\n" % n for n in range(100_000))
    new = old.replace(b"\n77777\n", b"\nseven\n")
    made = comparison(old, new)
    assert (made.kind, made.added, made.deleted, made.folded) == ("text", 1, 1, "")
    rows, more = made.take(Options(), 99)
    assert [row.new.text for row in rows if getattr(row, "kind", "") == "replace"] == ["seven"]
    assert more is None
    assert comparison(old, old + b"1\n").kind == "large"


@pytest.mark.parametrize(
    ("after", "sentence"),
    [
        (Side("file", "160000", 0), "A submodule: another repository, of which only its commit is recorded."),
        (Side("fifo", "010000"), "A named pipe; it has no content that could be shown."),
        (Side("socket", "140000"), "A socket; it has no content that could be shown."),
        (Side("device", "020000"), "A device; it has no content that could be shown."),
        (Side("unreadable", "100000", 7), "A file that cannot be read; it has no content that could be shown."),
    ],
)
def test_what_is_no_file_is_named_and_has_no_rows(after: Side, sentence: str) -> None:
    made = compare(Changed("thing", "added", None, after), None, None, Options(), Cache(None))
    assert made.kind == "plain"
    assert [fact.sentence for fact in made.facts] == [sentence]
    assert made.take(Options(), 9) == ((), None)


def test_a_file_that_was_edited_and_then_called_generated_stays_open():
    change = Changed("a.txt", "modified", side(b"x\n"), side(b"# @generated\ny\n"))
    assert compare(change, b"x\n", b"# @generated\ny\n", Options(), Cache(None)).folded == ""


def test_a_record_that_names_bytes_it_does_not_show_spoils_no_other_comparison_of_them(tmp_path: Path):
    cache, old, new = Cache(tmp_path), b"a\nb\nc\n", b"a\nb\nd\n"
    for odd in (replace(side(old), type="link"), replace(side(old), stored=False, size=0)):
        assert compare(Changed("x", "type", odd, side(new)), b"", new, Options(), cache).added == 3
    made = compare(Changed("x", "modified", side(old), side(new)), old, new, Options(), cache)
    assert (made.added, made.deleted) == (1, 1)
    assert [row.new.text for row in made.take(Options(), 9)[0] if row.new] == ["a", "b", "d"]
