"""Moved lines: what is told as moved is in both places, once, and worth telling."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from benchsite.diffs import carried
from benchsite.diffs.cache import Cache
from benchsite.diffs.carried import Block, Stretch, blocks, by_line, stretches
from benchsite.diffs.files import Changed, Side
from benchsite.diffs.limits import CARRIED_TOTAL
from benchsite.diffs.options import Options
from runner.digests import sha256

HELPER = b"def helper(value):\n    total = value + 1\n    return total * 2\n"
TEXTS = st.lists(st.sampled_from(["", "}", "alpha = compute(1)", "beta = compute(2)", "gamma = 3"]), max_size=8)


def changed(path: str, old: bytes, new: bytes) -> tuple[list[Stretch], list[Stretch]]:
    before, after = (Side("file", "100644", len(data), sha256(data), True) for data in (old, new))
    return stretches(Changed(path, "modified", before, after), old, new, Options(), Cache(None))


def found(*files: tuple[str, bytes, bytes]) -> tuple[Block, ...]:
    each = [changed(*file) for file in files]
    return blocks([one for gone, _ in each for one in gone], [one for _, come in each for one in come])


def test_a_function_that_went_to_another_file_is_found_though_it_was_indented_anew():
    indented = b"".join(b"    " + line + b"\n" for line in HELPER.splitlines())
    moved = found(
        ("a.py", b"x = 1\n" + HELPER + b"y = 2\n", b"x = 1\ny = 2\n"), ("b.py", b"", b"class B:\n" + indented)
    )
    assert moved == (Block("a.py", 2, "b.py", 2, 3),)
    lines = by_line(moved)
    assert [(line, one.path, one.line, one.first) for line, one in lines["a.py"].items()] == [
        (("L", 2), "b.py", ("R", 2), True),
        (("L", 3), "b.py", ("R", 3), False),
        (("L", 4), "b.py", ("R", 4), False),
    ]
    assert lines["b.py"]["R", 3].line == ("L", 3)


def test_a_block_moved_within_its_file_is_found_and_one_only_indented_anew_is_not():
    rest = b"".join(b"value_%d = %d\n" % (n, n) for n in range(9))
    assert found(("a.py", HELPER + rest, rest + HELPER)) == (Block("a.py", 1, "a.py", 10, 3),)
    assert found(("a.py", rest + HELPER, rest + HELPER.replace(b"def", b"  def").replace(b"    ", b"      "))) == ()


def test_braces_and_lone_words_are_no_block_and_what_is_no_text_has_none():
    assert found(("a.c", b"}\n}\n}\nx\n", b"x\n"), ("b.c", b"", b"}\n}\n}\n")) == ()
    assert found(("a.c", b"\0" + HELPER, b"\0"), ("b.c", b"", HELPER)) == ()


def test_too_many_lines_are_not_searched():
    texts = ("a long enough line of text",) * (CARRIED_TOTAL // 2 + 1)
    assert blocks([Stretch("a", 0, 0, texts)], [Stretch("b", 0, 0, texts)]) == ()


@settings(max_examples=150, deadline=None)
@given(st.lists(TEXTS, max_size=4), st.lists(TEXTS, max_size=4))
def test_both_ends_of_a_block_say_the_same_and_no_line_has_two(gone, come):
    sides = [
        [Stretch(path, code, code * 100, tuple(texts)) for code, texts in enumerate(side)]
        for path, side in (("a", gone), ("b", come))
    ]
    moved = blocks(*sides)
    texts = {(one.path, one.first + 1 + n): text for one in (*sides[0], *sides[1]) for n, text in enumerate(one.texts)}
    ends = [(("old", one.at + n), ("new", one.to + n)) for one in moved for n in range(one.count)]
    for (_, old), (_, new) in ends:
        assert texts["a", old] == texts["b", new]
    assert len({old for old, _ in ends}) == len({new for _, new in ends}) == len(ends)
    assert len(by_line(moved).get("a", {})) == len(ends)


def test_a_line_that_came_a_thousand_times_begins_no_block():
    same = tuple("the very same line of text" for _ in range(1_000))
    other = tuple(f"{a}{b} another line" for a, b in product("ab", "cd"))
    assert blocks([Stretch("a", 0, 0, same)], [Stretch("b", 0, 0, same + other)]) == ()


def test_what_would_take_long_to_search_is_left_and_what_was_found_stays(monkeypatch):
    """Lines of signs alone are no block, however many follow each other: each would be compared with all after it."""
    monkeypatch.setattr(carried, "CARRIED_WORK", 20_000)

    def searched(many: int) -> tuple[Block, ...]:
        signs = tuple(f"{n:012b}".replace("0", "(").replace("1", ")") for n in range(many))
        helper = tuple(HELPER.decode().splitlines())
        gone, come = ([Stretch(path, 0, 0, signs), Stretch(path, 1, 9, helper)] for path in ("a.py", "b.py"))
        return blocks(gone, come)

    assert searched(100) == (Block("a.py", 10, "b.py", 10, 3),)
    assert searched(300) == ()
