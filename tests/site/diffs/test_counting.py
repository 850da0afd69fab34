"""A list of files counts lines as the comparison of each does."""

from __future__ import annotations

import pytest

from benchsite.diffs.cache import Cache
from benchsite.diffs.compare import compare, count
from benchsite.diffs.files import Side, changed
from benchsite.diffs.options import Options
from runner.digests import sha256

PAIRS: dict[str, tuple[bytes | None, bytes | None]] = {
    "edited": (b"a\nb\nc\n", b"a\nB\nc\nd\n"),
    "added": (None, b"a\nb"),
    "deleted": (b"a\n\n", None),
    "same": (b"a\n", b"a\n"),
    "empty": (b"", b"a\n"),
    "binary": (b"\0\1", b"\0\2"),
    "picture": (b"\x89PNG\r\n\x1a\n1", b"\x89PNG\r\n\x1a\n2"),
    "cp1252": (b"caf\xe9\n", b"caf\xe9\nth\xe9\n"),
    "utf-16": ("a\nb\n".encode("utf-16"), "a\nc\n".encode("utf-16")),
    "blanks": (b"a \n", b"a\n"),
    "large": (b"a\n", b"b\n" * 3_000_000),
    "a.json": (b'{"b":1,"a":2}', b'{"a":2,"b":3}'),
}


def side(data: bytes | None) -> Side | None:
    return None if data is None else Side("file", "100644", len(data), sha256(data), True)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("asked", ["space=keep", "space=eol", "json=pretty"])
def test_counting_agrees_with_comparing(name: str, asked: str) -> None:
    old, new = PAIRS[name]
    change = changed(name, side(old), side(new))
    options = Options.read(dict([asked.split("=")]))
    made = compare(change, old, new, options, Cache(None))
    assert count(change, old, new, options, Cache(None)) == (made.added, made.deleted)


def test_a_side_that_is_not_to_be_had_is_not_counted() -> None:
    change = changed("a", side(b"a\n"), side(b"b\n"))
    assert count(change, b"a\n", None, Options(), Cache(None)) == (None, None)


def test_what_is_no_file_is_not_counted() -> None:
    change = changed("a", None, Side("link", "120000", target="x"))
    assert count(change, None, None, Options(), Cache(None)) == (None, None)
