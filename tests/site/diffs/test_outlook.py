"""The stages around the rows: images by their bytes, the tree of files, the map, canonical JSON, places of dangers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchsite.diffs.dangers import count, places
from benchsite.diffs.images import Image, image, is_picture
from benchsite.diffs.limits import MAP_MARKS
from benchsite.diffs.lines import opcodes
from benchsite.diffs.named import Names
from benchsite.diffs.options import Options, read_line
from benchsite.diffs.outline import outline
from benchsite.diffs.pretty import pretty
from benchsite.diffs.tree import Node, order, tree
from tests.make_world import PNG
from tests.site.diffs.test_rows import comparison

JPEG = bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffc0001108002000300301220002110103110100")
WEBP = b"RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x0f\0\0\x07\0\0"
LOSSLESS = b"RIFF\x24\0\0\0WEBPVP8L\x0a\0\0\0\x2f" + (15 | 7 << 14).to_bytes(4, "little")
LOSSY = b"RIFF\x24\0\0\0WEBPVP8 \x0a\0\0\0\x30\1\0\x9d\1\x2a\x10\0\x08\0"
AVIF = b"\0\0\0\x1cftypavif\0\0\0\0" + b"\0\0\0\x14ispe\0\0\0\0" + b"\0\0\0\x10\0\0\0\x08"


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (PNG, Image("image/png", 2, 2)),
        (b"GIF89a\x10\0\x08\0\xf0\0\0", Image("image/gif", 16, 8)),
        (JPEG, Image("image/jpeg", 48, 32)),
        (WEBP, Image("image/webp", 16, 8)),
        (LOSSLESS, Image("image/webp", 16, 8)),
        (LOSSY, Image("image/webp", 16, 8)),
        (AVIF, Image("image/avif", 16, 8)),
        (b"\xff\xd8\xff\xe0", Image("image/jpeg")),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", None),
        (b"", None),
    ],
)
def test_an_image_is_known_by_its_bytes_with_its_size(head, found):
    assert image(head) == found


@given(
    st.binary(max_size=60), st.sampled_from([PNG[:8], JPEG[:3], b"GIF89a", WEBP[:16], WEBP[:12] + b"VP8L", AVIF[:12]])
)
def test_no_bytes_break_the_reading_of_sizes(tail, magic):
    found = image(magic + tail)
    assert found is not None
    assert found.width >= 0


def test_a_text_that_begins_like_a_picture_is_still_compared_as_text():
    assert not is_picture(b"GIF89a is the name of a format\n")
    assert comparison(b"GIF89a one\n", b"GIF89a two\n").kind == "text"


def test_lone_folders_stand_in_one_row_and_sums_go_upwards():
    found = tree(["a/b/c/x", "a/b/c/y", "a/d", "top"], [(1, 2), (3, 0), (5, 0), (0, 7)])
    assert found == (
        Node("a", 0, 9, 2),
        Node("b/c", 1, 4, 2),
        Node("x", 2, 1, 2, 0),
        Node("y", 2, 3, 0, 1),
        Node("d", 1, 5, 0, 2),
        Node("top", 0, 0, 7, 3),
    )


PATH = st.lists(st.sampled_from(["a", "b", "a.b", "-"]), min_size=1, max_size=30).map("/".join)


@given(st.lists(PATH, unique=True, max_size=12))
def test_the_tree_holds_every_file_once_in_the_order_of_the_sheets(paths):
    paths = sorted(paths, key=order)
    found = tree(paths, [(1, 0)] * len(paths))
    assert [node.place for node in found if node.place is not None] == list(range(len(paths)))
    tops = [node for node in found if node.depth == 0]
    assert sum(node.added for node in tops) == len(paths)


def test_a_path_of_a_thousand_folders_is_no_deep_tree():
    found = tree(["x/" * 1000 + f"f{n}" for n in range(3)] + ["x/y"], [(0, 0)] * 4)
    assert max(node.depth for node in found) <= 21


def test_the_map_lays_changes_where_they_stand():
    old = b"".join(b"line %d\n" % n for n in range(100))
    new = old.replace(b"line 50\n", b"fifty\n").replace(b"line 99\n", b"")
    first, last = outline(opcodes(old, new), None, unified=False)
    assert (first.top, first.height, first.kind, first.line) == (50.0, 1.0, "replace", ("R", 51))
    assert (last.kind, last.line) == ("delete", ("L", 100))
    assert last.top + last.height == pytest.approx(100)
    many = outline(opcodes(b"a\nb\n" * 3000, b"a\nc\n" * 3000), None, unified=True)
    assert 0 < len(many) <= MAP_MARKS


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (b'{"b": 1, "a": [true]}', b'{\n  "a": [\n    true\n  ],\n  "b": 1\n}\n'),
        (b'"\\ud800"', b'"\\ud800"\n'),
        (b"{broken", None),
        (b"\xff", None),
        (b"[" * 100_000, None),
        (b"1" * 5000, None),
        (b"[" * 900 + b"1," * 5_000 + b"1" + b"]" * 900, None),  # nine megabytes when written out
    ],
)
def test_json_has_one_canonical_form(data, form):
    assert pretty(data) == form


@given(st.text(alphabet=st.sampled_from("ab\n\u202e\u200b\x07"), max_size=60))
def test_dangers_are_counted_and_placed(text):
    many, lines = places(text)
    assert many == count(text)
    assert lines == tuple(n for n, line in enumerate(text.split("\n"), 1) if count(line))


@pytest.mark.parametrize("text", ["", "R", "R0", "x1", "R1x", "R-1", "R999999999", "r1", "R\u0661"])
def test_a_line_that_has_no_such_name_is_none(text):
    assert read_line(text) is None
    assert Options.read({"from": text}).start is None


def test_rows_begin_at_any_line_and_together_give_all():
    old = b"".join(b"line %d\n" % n for n in range(90))
    new = old.replace(b"line 30\n", b"a\nb\nc\n").replace(b"line 60\nline 61\n", b"")
    for view in ("split", "unified"):
        options = Options(view=view, context="all")
        made = comparison(old, new, view=view, context="all")
        whole, more = made.take(options, 999)
        assert more is None
        found, start = [], None
        while True:
            rows, start = made.take(options, 7, start)
            found += rows
            if start is None:
                break
        assert tuple(found) == whole


NAMED = ("calc.py", "src/a.py", "src/b/c.py", "lib/b/c.py", "with space.py", "tests/test_a.py", "Makefile")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("src/a.py:3: AssertionError", {"src/a.py"}),
        ('  File "/tmp/x/1/world/src/a.py", line 3, in f', {"src/a.py"}),
        ("/tmp/x/world/calc.py:1:2: E501", {"calc.py"}),
        ("FAILED tests/test_a.py::test_x - assert 1", {"tests/test_a.py"}),
        ("tests/test_a.py::test_x PASSED\ntests/test_a.py ..... [100%]\nok  tests/test_a.py", set()),
        (".\\src\\a.py(4): error", {"src/a.py"}),
        ("a.py is wrong.", {"src/a.py"}),
        ("which c.py is meant nobody knows", set()),
        ("b/c.py might be either", {"src/b/c.py", "lib/b/c.py"}),
        ("see 'with space.py', line 2", {"with space.py"}),
        ("/usr/lib/python3.11/calc.py and /x/site-packages/src/a.py are no files of the world", set()),
        ("/opt/other/a.py lies elsewhere", set()),
        ("the Makefile has no target", {"Makefile"}),
        ("a" * 100_000 + "/" * 100_000, set()),
    ],
)  # fmt: skip
def test_a_text_names_the_files_it_speaks_of(text, found):
    assert Names(NAMED).within(text) == found
