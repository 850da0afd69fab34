"""Secrets nobody told of: texts of a shape that only keys have, and random values under a name that says so.

What is known to be secret is struck out as it is written (`redaction`). This finds what an agent or a world brought
by itself; it only tells, and a person decides.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from .digests import sha256
from .redaction import looks_secret

VERSION = 2
"""Other shapes, another version: what was looked at with an older one is looked at again."""
OVERLAP = 8_192
"""Bytes of a chunk that are looked at again with the next one; no shape is longer."""
MOST = 50
"""Finds that are told of one stream: whoever decides about it has seen enough."""
MUCH = 32_768
"""Bytes from which on it pays to rule texts out by pairs of letters."""
RANDOM = 3.2
"""Bits a character from which on a value is no word: `your-token-here` has fewer, keys have more."""


@dataclass(frozen=True)
class Leak:
    """What was found in which line; `shown` is its beginning and its length, never the whole."""

    kind: str
    line: int
    shown: str


_KEY = rb"[A-Za-z0-9_-]"
_EDGE = rb"(?:\b|(?<=\\[nrt]))"
"""A word begins here, after a line feed too that JSON wrote as a letter."""
_SHAPES: tuple[tuple[str, tuple[bytes, ...], bytes], ...] = (
    ("AWS access key", (b"AKIA", b"ASIA"), rb"(?<![A-Z0-9])A[KS]IA[A-Z2-7]{16}(?![A-Z0-9])"),
    ("GitHub token", (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"), _EDGE + rb"gh[pousr]_[A-Za-z0-9]{36,251}"),
    ("GitHub token", (b"github_pat_",), _EDGE + rb"github_pat_[A-Za-z0-9_]{60,251}"),
    ("GitLab token", (b"glpat-",), _EDGE + rb"glpat-" + _KEY + rb"{20,200}"),
    (
        "model provider's key",
        (b"sk-",),
        rb"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))sk-(?=(?:[A-Za-z_-]*[0-9]){3})" + _KEY + rb"{32,250}",
    ),
    ("Google key", (b"AIza",), rb"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))AIza" + _KEY + rb"{35}(?![A-Za-z0-9_-])"),
    ("Slack token", (b"xox",), _EDGE + rb"xox[abeprs]-[A-Za-z0-9-]{20,250}"),
    ("Stripe key", (b"k_live_",), _EDGE + rb"[rs]k_live_[A-Za-z0-9]{20,250}"),
    ("npm token", (b"npm_",), _EDGE + rb"npm_[A-Za-z0-9]{36}\b"),
    ("PyPI token", (b"pypi-AgEI",), _EDGE + rb"pypi-AgEI" + _KEY + rb"{50,400}"),
    ("Hugging Face token", (b"hf_",), _EDGE + rb"hf_[A-Za-z0-9]{34}\b"),
    (
        "private key",
        (b"PRIVATE KEY",),
        rb"-----BEGIN (?:[A-Z]{2,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----"
        rb"(?:\\[rn]|[\r\n]){1,4}[A-Za-z0-9+/=\\\r\n:, -]{64,4000}",
    ),
)
_NAMED = re.compile(
    rb"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS)[A-Z0-9_]{0,20}"
    rb"(?:\\?[\"'])?[ \t]{0,3}[=:][ \t]{0,3}(?:\\?[\"'])?(?P<value>[A-Za-z0-9+/_.~=-]{20,300})"
)
_NAMES = (b"KEY", b"TOKEN", b"SECRET", b"PASSW", b"CREDENTIALS")
_BEFORE = re.compile(rb"[A-Z0-9_]{0,60}$")
_COMPILED = tuple((kind, literals, re.compile(pattern)) for kind, literals, pattern in _SHAPES)
_EXAMPLE = re.compile(rb"example|xxxx|redacted|placeholder|your[-_]|dummy|0123456789|abcdefgh", re.IGNORECASE)


def find_leaks(chunks: Iterable[bytes]) -> list[Leak]:
    """Look through a stream; memory holds one chunk. What is plainly an example is passed over."""
    found: dict[int, Leak] = {}
    at, line, held = 0, 1, b""
    for chunk in chunks:
        data = held + chunk
        for start, kind, value in _in(data):
            place = line + data.count(b"\n", 0, start)
            found.setdefault(at + start, Leak(kind, place, _shown(value)))
        keep = max(0, len(data) - OVERLAP)
        line += data.count(b"\n", 0, keep)
        at, held = at + keep, data[keep:]
        if len(found) >= MOST:
            break
    return [found[start] for start in sorted(found)][:MOST]


def strike(data: bytes) -> tuple[bytes, list[Leak]]:
    """Put stars where whole lines hold what is found here; gives them as long as before, and still JSON.

    Of each its beginning stays and a piece of its digest, so that two stay apart.
    """
    found = sorted({start: (kind, value) for start, kind, value in _in(data)}.items())
    if not found:
        return data, []
    made, told = bytearray(data), []
    for start, (kind, value) in found:
        kept = value.rstrip(b"\\")  # half of an escape must not go
        digest = sha256(value)[:6].encode()
        made[start : start + len(kept)] = kept[:6] + b"*" * (len(kept) - 12) + digest
        told.append(Leak(kind, data.count(b"\n", 0, start) + 1, _shown(value)))
    return bytes(made), told


def _presence(data: bytes) -> Callable[[bytes], bool]:
    """Tell whether a literal is in the data. In much of it, most are ruled out by their letters two by two.

    Of the data only the pairs at even places are noted: those of a literal stand there from its first letter on, or
    from its second.
    """
    if len(data) < MUCH:
        return data.__contains__
    import numpy as np  # not when this is imported: most who import the runner never look for leaks

    pairs = np.zeros(1 << 16, dtype=bool)
    pairs[np.frombuffer(data, dtype="<u2", count=len(data) // 2).astype(np.intp)] = True
    seen = pairs.tobytes()

    def present(literal: bytes) -> bool:
        ways = (zip(literal[start::2], literal[start + 1 :: 2], strict=False) for start in (0, 1))
        return any(all(seen[a | b << 8] for a, b in way) for way in ways) and literal in data

    return present


def _in(data: bytes) -> Iterator[tuple[int, str, bytes]]:
    present = _presence(data)
    for kind, literals, pattern in _COMPILED:
        if any(map(present, literals)):  # far faster than the pattern, and nearly always false
            for match in pattern.finditer(data):
                if _random(match[0]):
                    yield match.start(), kind, match[0]
    if any(map(present, _NAMES)):
        yield from _named(data)


def _named(data: bytes) -> Iterator[tuple[int, str, bytes]]:
    """Find `SOME_API_KEY=value`, as an environment or a settings file writes it."""
    for match in _NAMED.finditer(data):
        value = match["value"]
        before = _BEFORE.search(data, max(0, match.start() - 60), match.start())
        name = ((before[0] if before else b"") + re.split(rb"[^A-Z0-9_]", match[0], maxsplit=1)[0]).decode()
        mixed = re.search(rb"[0-9]", value) and re.search(rb"[A-Za-z]", value)
        if mixed and looks_secret(name) and _random(value) and not _told(data, match):
            yield match.start("value"), f"value of {name}", value


def _told(data: bytes, match: re.Match[bytes]) -> bool:
    """Tell whether the value has a shape of its own, under which it is told already."""
    return any(pattern.match(data, match.start("value")) for _, _, pattern in _COMPILED)


def _random(value: bytes) -> bool:
    if _EXAMPLE.search(value):
        return False
    counts = Counter(value)
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values()) >= RANDOM


def _shown(value: bytes) -> str:
    return f"{value[:6].decode('ascii', 'replace')}… ({len(value)} characters)"
