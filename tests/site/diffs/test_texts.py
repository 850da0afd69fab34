"""Dangers, terminal escapes, words and colours: tables for the small stages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchsite.diffs import ansi
from benchsite.diffs.colour import colours, lexer_name
from benchsite.diffs.dangers import DANGEROUS, Pill, count, pill, split, split_name
from benchsite.diffs.options import Options
from benchsite.diffs.words import marks, pairs

BIDI = [0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
ZERO_WIDTH = [0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF]
CONTROLS = [n for n in [*range(0x20), *range(0x7F, 0xA0)] if n not in (9, 10)]


@pytest.mark.parametrize("code", [*BIDI, *ZERO_WIDTH, *CONTROLS, 0xE0001, 0xE007F])
def test_every_dangerous_character_is_found(code):
    assert count(f"a{chr(code)}b") == 1
    assert f"U+{code:04X}" in pill(chr(code)).title


@pytest.mark.parametrize("text", ["tab\there", "naïve café", "日本語", "שלום", "a\nb", "😀"])
def test_foreign_scripts_tabs_and_newlines_are_no_danger(text):
    assert count(text) == 0


def test_pills_carry_short_name_and_code_point():
    assert split("a\u202eb") == ["a", Pill("RLO", "U+202E RIGHT-TO-LEFT OVERRIDE"), "b"]
    blank = Pill("SP", "U+0020 SPACE")
    assert split_name(" lead/a b/tail ") == [blank, "lead/a b/tail", blank]
    assert split_name("a\tb\udcff") == ["a", Pill("TAB", "U+0009 TABULATION"), "b", Pill("\\xff", "byte FF, not UTF-8")]


@given(st.text())
def test_no_dangerous_character_stays_in_the_harmless_parts(text):
    parts = split(text)
    assert not any(DANGEROUS.search(part) for part in parts if isinstance(part, str))
    assert sum(1 if isinstance(part, Pill) else len(part) for part in parts) == len(text)


def test_colours_of_a_terminal_become_classes():
    made = ansi.read("\x1b[1;31mFAILED\x1b[0m ok \x1b[38;5;46mgreen\x1b[39m")
    assert [(s.text, s.classes) for s in made.stretches] == [
        ("FAILED", "t-fg-red t-bold"),
        (" ok ", ""),
        ("green", "t-fg-bright-green"),
    ]


def test_other_escapes_are_dropped_and_counted():
    made = ansi.read("a\x1b[2Jb\x1b]0;title\x07c\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\x1b[?25l")
    assert (made.text, made.dropped) == ("abclink", 5)


@given(st.text(alphabet=st.sampled_from("\x1b[]0123456789;:mKJ?abc\x07\\\x9b\n")))
def test_no_escape_survives_whatever_is_written(text):
    assert "\x1b" not in ansi.read(text).text


@given(
    st.lists(st.sampled_from(["a b c", "a b d", "x", "", "  x"]), max_size=9),
    st.lists(st.sampled_from(["a b c", "x y", ""]), max_size=9),
)
def test_pairs_hold_every_line_once_and_in_order(old, new):
    found = pairs(old, new)
    assert [a for a, _ in found if a is not None] == list(range(len(old)))
    assert [b for _, b in found if b is not None] == list(range(len(new)))


@pytest.mark.parametrize(
    ("old", "new", "left", "right"),
    [
        ("total = a + b", "total = a - b", ((10, 11),), ((10, 11),)),
        ("call(first)", "call(first, second)", (), ((10, 18),)),
        ("same", "same", (), ()),
        ('{"/": 2, "^": 4, "-": 1}', '{"/": 2, "%": 2, "^": 4, "-": 1}', (), ((9, 17),)),
        ("    return x", "        return x", (), ((4, 8),)),
        ("value = one, two", "value = uno, dos", ((8, 16),), ((8, 16),)),
        ("all of it", "nothing alike here", (), ()),
        ("x" * 1001, "y" * 1001, (), ()),
    ],
)
def test_marks(old, new, left, right):
    assert marks(old, new) == (left, right)


@pytest.mark.parametrize(
    ("path", "head", "lexer"),
    [
        ("src/a.py", "", "python"),
        ("Makefile", "", "make"),
        ("run", "#!/usr/bin/env python3", "python"),
        ("run", "#!/bin/sh", "bash"),
        ("notes.txt", "", ""),
        ("a\n.py", "", ""),
        ("unknown.zzz", "", ""),
    ],
)
def test_lexers_are_chosen_by_name_then_by_shebang(path, head, lexer):
    assert lexer_name(path, head) == lexer


@given(
    st.lists(st.text(alphabet=st.characters(exclude_characters="\n")), max_size=8),
    st.sampled_from(["python", "html", "json", "markdown", "diff"]),
)
def test_colours_stay_within_their_lines_and_in_order(lines, lexer):
    for line, runs in zip(lines, colours(lines, lexer) or [], strict=False):
        ends = [0, *(edge for start, end, _ in runs for edge in (start, end)), len(line)]
        assert ends == sorted(ends)


def test_options_keep_one_canonical_query():
    assert Options.read({"wrap": "off", "view": "unified", "space": "nonsense"}).query() == "view=unified&wrap=off"
    assert Options().query() == ""
    assert Options().query(context="all") == "context=all"
