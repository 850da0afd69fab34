"""Rules that cannot match are not tried; nobody sees a difference."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pygments.lexers import get_lexer_by_name

from benchsite.diffs import lexing
from benchsite.diffs.lexing import ASCII, tokens

ROOT = Path(__file__).parents[3]
LEXERS = ("python", "javascript", "css", "html", "bash", "c", "rust", "go", "java", "typescript", "toml", "ruby", "sql")
WORDS = "def class if else let {} () <a b='x'> </a> <!-- --> /* */ // # @x $y %z 0x1f 1e3 'st\" `t` \\ \n \t ſıKé \0"
TEXTS = st.lists(st.sampled_from([*WORDS.split(" "), " ", "\n"]) | st.characters(), max_size=40).map(" ".join)


def alike(name: str, text: str) -> None:
    lexer = get_lexer_by_name(name)
    assert list(tokens(lexer, text)) == list(lexer.get_tokens_unprocessed(text)), name


@pytest.mark.parametrize("name", LEXERS)
def test_the_tokens_of_real_files_are_those_of_pygments(name: str) -> None:
    for file in ("benchsite/diffs/words.py", "static/js/matrix.js", "templates/base.html", "Makefile"):
        alike(name, (ROOT / file).read_text(encoding="utf-8"))


@given(st.sampled_from(LEXERS), TEXTS)
@settings(max_examples=150, deadline=None)
def test_the_tokens_of_any_text_are_those_of_pygments(name: str, text: str) -> None:
    alike(name, text)


@pytest.mark.parametrize(
    "pattern",
    [
        r"a?b|c",
        r"[^x]y",
        r"(?i)K|[a-c]",
        r"(?i:ſ)x",
        r"\s+\S",
        r"(?=q)q",
        r"(?<!a)\w",
        r"x*",
        r"(?>z|y)",
        r"\bif\b",
        ".",
    ],
)
def test_no_character_is_left_out_that_a_pattern_can_begin_with(pattern: str) -> None:
    made = re.compile(pattern)
    allowed = lexing._begins(made.pattern, made.flags)
    for code in range(ASCII):
        begins = any(made.match(chr(code) + rest) for rest in ("", "b", "y", "x", "f", " "))
        assert not begins or allowed >> code & 1, chr(code)
