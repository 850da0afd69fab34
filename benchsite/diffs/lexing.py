"""Pygments' tokens, sooner: of a state's rules only those are tried that can begin with the character at hand.

A lexer tries thirty patterns for each token, and nearly all of them fail at their first character. Which characters a
pattern can begin with is read off its own parse; where that is not plain, it is tried as before. So the tokens are
exactly Pygments' own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from pygments.lexer import Lexer, RegexLexer
from pygments.token import Error, Whitespace, _TokenType

try:
    from re import _constants as ops  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError:  # another Python keeps them elsewhere: everything is tried, as Pygments does
    ops = parser = None

ASCII = 128
ALL = (1 << ASCII) - 1
"""Sets of characters are numbers here, a bit for each ASCII character; all others are tried with every rule."""
Rules = tuple[Any, ...]
Token = tuple[int, _TokenType, str]


def tokens(lexer: Lexer, text: str) -> Iterator[Token]:
    """Give what `lexer.get_tokens_unprocessed(text)` gives."""
    kind = type(lexer)
    plain = getattr(kind, "get_tokens_unprocessed", None) is RegexLexer.get_tokens_unprocessed
    if parser is None or not plain or "_tokens" in vars(lexer):
        return iter(lexer.get_tokens_unprocessed(text))
    return _tokens(lexer, text)


def _tokens(lexer: Any, text: str) -> Iterator[Token]:
    """Go as Pygments goes, but for the choice of rules."""
    kind, stack, at, end = type(lexer), ["root"], 0, len(text)
    by_char, every = _rules(kind, "root")
    while True:
        char = ord(text[at]) if at < end else ASCII
        for match_at, action, new_state in by_char[char] if char < ASCII else every:
            found = match_at(text, at)
            if not found:
                continue
            if action is not None:
                if type(action) is _TokenType:
                    yield at, action, found.group()
                else:
                    yield from action(lexer, found)
            at = found.end()
            if new_state is not None:
                _turn(stack, new_state)
                by_char, every = _rules(kind, stack[-1])
            break
        else:
            if at >= end:
                return
            if text[at] == "\n":
                stack = ["root"]
                by_char, every = _rules(kind, "root")
                yield at, Whitespace, "\n"
            else:
                yield at, Error, text[at]
            at += 1


def _turn(stack: list[str], new_state: Any) -> None:
    """Change the stack of states as a rule says."""
    for one in new_state if isinstance(new_state, tuple) else (new_state,):
        if one == "#push":
            stack.append(stack[-1])
        elif one == "#pop":
            if len(stack) > 1:
                stack.pop()
        elif isinstance(one, int):
            # "pop", but keep at least one state
            if abs(one) >= len(stack):
                del stack[1:]
            else:
                del stack[one:]
        else:
            stack.append(one)


@cache
def _rules(kind: Any, state: str) -> tuple[list[Rules], Rules]:
    """Give a state's rules by character, and all of them."""
    every = tuple(kind._tokens[state])
    tried = [getattr(rule[0], "__self__", None) for rule in every]
    masks = [_begins(one.pattern, one.flags) if isinstance(one, re.Pattern) else ALL for one in tried]
    return [tuple(r for r, mask in zip(every, masks, strict=True) if mask >> c & 1) for c in range(ASCII)], every


@cache
def _begins(pattern: str, flags: int) -> int:
    """Give the characters a match can begin with; all where it may be empty."""
    mask, empty = _first(parser.parse(pattern, flags), bool(flags & re.IGNORECASE))
    return ALL if empty else mask


def _first(parts: Iterable[Any], fold: bool) -> tuple[int, bool]:
    """Give the characters a sequence can begin with, and whether it may be empty."""
    mask = 0
    for op, value in parts:
        more, empty = _one(op, value, fold)
        mask |= more
        if not empty:
            return mask, False
    return mask, True


def _one(op: Any, value: Any, fold: bool) -> tuple[int, bool]:
    if op is ops.LITERAL:
        return _literals(value, value, fold), False
    if op is ops.IN:
        return _set(value, fold), False
    if op in (ops.NOT_LITERAL, ops.ANY):
        return ALL, False
    if op is ops.BRANCH:
        found = [_first(branch, fold) for branch in value[1]]
        return _union(mask for mask, _ in found), any(empty for _, empty in found)
    if op is ops.SUBPATTERN:
        return _first(value[3], fold or bool(value[1] & re.IGNORECASE))
    if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
        mask, empty = _first(value[2], fold)
        return mask, empty or value[0] == 0
    if op in (ops.AT, ops.ASSERT, ops.ASSERT_NOT):
        return 0, True
    return ALL, True


def _set(parts: list[tuple[Any, Any]], fold: bool) -> int:
    turned = parts[0][0] is ops.NEGATE
    if turned and fold:
        return ALL
    mask = _union(_of_set(op, value, fold) for op, value in parts[turned:])
    return ALL & ~mask if turned else mask


def _of_set(op: Any, value: Any, fold: bool) -> int:
    if op is ops.LITERAL:
        return _literals(value, value, fold)
    if op is ops.RANGE:
        return _literals(*value, fold)
    return _CATEGORIES[str(value)]


def _literals(low: int, high: int, fold: bool) -> int:
    """Give the characters from `low` to `high`; beyond ASCII a letter may be another case of one within it."""
    if fold and high >= ASCII:
        return ALL
    chars = [chr(code) for code in range(low, min(high, ASCII - 1) + 1)]
    return _mask([*chars, *(char.swapcase() for char in chars)] if fold else chars)


def _mask(chars: Iterable[str]) -> int:
    return _union(1 << ord(char) for char in chars)


def _union(masks: Iterable[int]) -> int:
    made = 0
    for mask in masks:
        made |= mask
    return made


def _category(pattern: str) -> int:
    return _mask(char for char in map(chr, range(ASCII)) if re.match(pattern, char))


_CATEGORIES = {
    f"CATEGORY_{no}{name}": _category(pattern if not no else pattern.upper())
    for name, pattern in (("DIGIT", r"\d"), ("SPACE", r"\s"), ("WORD", r"\w"))
    for no in ("", "NOT_")
}
