"""Rows: complete, ordered, the same in both views, whatever is compared."""

from __future__ import annotations

import hashlib
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from benchsite.diffs.cache import Cache
from benchsite.diffs.compare import compare
from benchsite.diffs.files import Changed, Side
from benchsite.diffs.options import Options
from benchsite.diffs.overlay import pieces
from benchsite.diffs.rows import Cell, Fold, Row, between
from tests.site.diffs.test_lines import TEXT


def side(data: bytes, mode: str = "100644") -> Side:
    return Side("file", mode, len(data), hashlib.sha256(data).hexdigest(), True)


def comparison(old: bytes, new: bytes, path: str = "src/merge.py", **options: str):
    change = Changed(path, "modified", side(old), side(new))
    return compare(change, old, new, Options(**options), Cache(None))


def rows(old: bytes, new: bytes, **options: str) -> list[Row | Fold]:
    return list(comparison(old, new, **options).rows(Options(**options)))


def numbers(found: list[Row | Fold], which: str) -> list[int]:
    seen: list[int] = []
    for row in found:
        if isinstance(row, Fold):
            first = getattr(row, which)
            seen += range(first, first + row.count)
        elif (cell := getattr(row, which)) is not None:
            seen.append(cell.number)
    return seen


WITHOUT_NUL = TEXT.map(lambda data: data.replace(b"\0", b"0")).filter(
    lambda data: data[:2] not in (b"\xff\xfe", b"\xfe\xff")
)


@settings(max_examples=250, deadline=None)
@given(WITHOUT_NUL, WITHOUT_NUL, st.sampled_from(["split", "unified"]), st.sampled_from(["3", "10", "all"]))
def test_every_line_of_both_sides_is_in_a_row_or_a_fold_in_order(old, new, view, context):
    if old == new:
        return
    found = rows(old, new, view=view, context=context)
    count = comparison(old, new)
    assert numbers(found, "old") == list(range(1, len(count.old) + 1))
    assert numbers(found, "new") == list(range(1, len(count.new) + 1))


@settings(max_examples=150, deadline=None)
@given(WITHOUT_NUL, WITHOUT_NUL)
def test_counts_are_the_rows_with_signs(old, new):
    if old == new:
        return
    count = comparison(old, new)
    found = rows(old, new, view="unified")
    assert sum(row.kind == "insert" for row in found if isinstance(row, Row)) == count.added
    assert sum(row.kind == "delete" for row in found if isinstance(row, Row)) == count.deleted


@settings(max_examples=200, deadline=None)
@given(
    st.text(max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=4),
)
def test_pieces_give_the_text_back_whatever_is_laid_over_it(text, extents):
    ordered = sorted((min(pair), max(pair)) for pair in extents)
    marks = tuple(extent for n, extent in enumerate(ordered) if n == 0 or extent[0] >= ordered[n - 1][1])
    marks = tuple(mark for n, mark in enumerate(marks) if all(a[1] <= b[0] for a, b in pairwise(marks[: n + 1])))
    cell = Cell(1, text, marks=marks)
    shown = [piece for piece in pieces(cell) if isinstance(piece.content, str)]
    assert "".join(piece.content for piece in shown) == "".join(
        c for c in text if c in "".join(p.content for p in shown)
    )
    assert sum(1 if not isinstance(p.content, str) else len(p.content) for p in pieces(cell)) == len(text)


def test_a_changed_word_is_marked_and_the_rest_is_not():
    (row,) = [row for row in rows(b"return a + b\n", b"return a | b\n") if row.kind == "replace"]
    assert (row.old.marks, row.new.marks) == (((9, 10),), ((9, 10),))


def test_a_line_that_changed_all_over_carries_no_marks():
    (row,) = rows(b"alpha beta gamma\n", b"one two three\n")
    assert (row.old.marks, row.new.marks) == ((), ())


def test_alike_lines_stand_side_by_side_when_others_were_put_between():
    old = b"def one(a):\n    return total(a)\n"
    new = b"# a remark nobody asked for\ndef one(a, b):\n    return total(a, b)\n"
    paired = [(row.old.number, row.new.number) for row in rows(old, new) if row.kind == "replace"]
    assert paired == [(1, 2), (2, 3)]


def test_unchanged_lines_far_from_a_change_are_folded_and_can_be_unfolded():
    old = b"".join(b"line %d\n" % n for n in range(60))
    new = old.replace(b"line 30\n", b"line thirty\n")
    found = rows(old, new)
    folds = [row for row in found if isinstance(row, Fold)]
    assert [(fold.old, fold.count) for fold in folds] == [(1, 27), (35, 26)]
    made = comparison(old, new)
    opened = list(between(made.old, made.new, folds[1]))
    assert [row.new.text for row in opened] == [f"line {n}" for n in range(34, 60)]
    assert not any(isinstance(row, Fold) for row in rows(old, new, context="all"))


def test_ignored_blanks_leave_each_side_its_own_text():
    (row,) = rows(b"if x:\n", b"if  x:\n", space="all")
    assert (row.kind, row.old.text, row.new.text) == ("equal", "if x:", "if  x:")


def test_a_line_beyond_the_limit_is_cut_and_says_how_long_it_is():
    (row,) = [row for row in rows(b"", b"x" * 5000 + b"\n") if row.new]
    assert (len(row.new.text), row.new.cut) == (2000, 5000)
