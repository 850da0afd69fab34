"""Striking out secrets: every text that a trial writes passes through its Redactor, once, on its way out."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus, urlsplit

from .paths import StrPath

CHUNK = 1 << 20
SHORTEST = 4
"""A shorter value would strike out half of every text; it protects nothing either."""
LONG = 8
"""From this length on a value is looked for in its encoded forms too, and struck out before an agent's output is read:
a shorter one may be a word of the agent's own protocol."""
_LINE = 12
_PLAIN = frozenset({"none", "null", "true", "false"})
_NAME = re.compile(
    r"(?:^|[^a-z])(?:api|access|auth|private|secret|signing)?(?:keys?|token|secrets?|passw(?:or)?d|passphrase|pwd"
    r"|credentials?|authorization|bearer|pat)(?:$|[^a-z])|(?:password|passwd|apikey|authtoken)$"
)
_NO_SECRET = re.compile(r"(?:^|[^a-z])(?:limit|budget|count|max|min|size|length|dir|path|name)$|^(?:old)?pwd$")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_KEPT = frozenset(
    {
        *("type", "at", "trial", "attempt", "phase", "then", "state", "outcome", "fault", "severity", "code", "stage"),
        *("measure", "kind", "media", "blob", "prompt", "text", "transcript", "output", "changes"),
    }
)
"""Fields of events that are words of our own or digests: no secret stands there, and a short one would break them."""


def looks_secret(name: str) -> bool:
    """Tell by its name whether a variable or axis holds a secret: `OPENAI_API_KEY`, `env.DB_PASSWORD`, `apiKey`."""
    plain = _CAMEL.sub("_", name.removeprefix("env.")).lower()
    return _NAME.search(plain) is not None and _NO_SECRET.search(plain) is None


def secret_pairs(variables: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Give (name, value) of what looks secret in an environment, and the passwords in its URLs."""
    for name, value in variables.items():
        text = str(value)
        if looks_secret(name):
            yield name, text
        elif "://" in text and "@" in text and (password := _password(text)):
            yield name, password


def pairs_of_cell(
    declared: Iterable[str], axes: Mapping[str, Any], variables: Mapping[str, Any], keys: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Give what a cell's agent is handed: secret axes, the bench's own variables, the keys its adapter passes on."""
    yield from ((name, str(axes[name])) for name in declared if name in axes)
    yield from secret_pairs({n: v for n, v in axes.items() if n.startswith(("env.", "config."))})
    yield from secret_pairs(variables)
    yield from ((name, os.environ[name]) for name in keys if name in os.environ)


class Redactor:
    """Known secrets as (name, value); never changed. `[redacted NAME]` stands where a value, or a form of it, stood."""

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self.pairs = tuple(dict.fromkeys((_label(name), value) for name, value in pairs if _protects(value)))
        marks = {form: f"[redacted {name}]".encode() for name, value in reversed(self.pairs) for form in forms(value)}
        self._marks = dict(sorted(marks.items(), key=lambda row: -len(row[0])))
        self._wrapped = {form: f"[redacted {name}]".encode() for name, value in self.pairs for form in wrapping(value)}
        self._halves = {half for form in self._wrapped for half in (form[: len(form) // 2], form[len(form) // 2 :])}
        lines = (len(form) + (len(form) // _LINE + 1) * _BREAK for form in self._wrapped)
        escaped = (len(value) * _LONGEST_ESCAPE for _, value in self.pairs if is_long(value))
        self.longest = max((*map(len, self._marks), *lines, *escaped), default=0)

    def __bool__(self) -> bool:
        return bool(self.pairs)

    def knowing(self, pairs: Iterable[tuple[str, str]]) -> Redactor:
        pairs = [*pairs]
        more = Redactor((*self.pairs, *pairs)) if pairs else self
        return self if more.pairs == self.pairs else more

    @cached_property
    def long(self) -> Redactor:
        """Only the secrets that no protocol has for a word."""
        return Redactor(pair for pair in self.pairs if is_long(pair[1])) if self.pairs else self

    @cached_property
    def _whole(self) -> re.Pattern[bytes]:
        return re.compile(b"|".join(map(re.escape, self._marks)))

    @cached_property
    def _broken(self) -> re.Pattern[bytes]:
        wrapped = (_WRAP.join(re.escape(form[at : at + 1]) for at in range(len(form))) for form in self._wrapped)
        return re.compile(b"|".join((*map(re.escape, self._marks), *wrapped)))

    @cached_property
    def _escaped(self) -> re.Pattern[bytes]:
        """`_broken`, and each long value with any of its characters written as JSON may write it."""
        rows = (
            f"(?P<e{at}>".encode() + escaping(value) + b")"
            for at, (_, value) in enumerate(self.pairs)
            if is_long(value)
        )
        return re.compile(b"|".join((self._broken.pattern, *rows)))

    @cached_property
    def _codes(self) -> re.Pattern[bytes]:
        """How the characters of long values look in JSON that escapes them; one of them must be there."""
        codes = {f"{ord(char):04x}" for _, value in self.pairs if is_long(value) for char in f"{value}\0"}
        return re.compile(rb"\\u(?i:%s)" % "|".join(sorted(codes)).encode())

    def _pattern(self, data: bytes) -> re.Pattern[bytes] | None:
        """None where nothing stands in there, which is found out far faster than by a pattern and is nearly always so.
        Of what a line's end cuts in two one half is whole."""
        if b"\\u" in data and self._codes.search(data):
            return self._escaped
        if any(half in data for half in self._halves):
            return self._broken
        return self._whole if any(form in data for form in self._marks) else None

    def strike(self, data: bytes) -> bytes:
        pattern = self._pattern(data) if self.pairs else None
        return pattern.sub(self._mark, data) if pattern else data

    def _mark(self, found: re.Match[bytes]) -> bytes:
        if found.lastgroup:
            return f"[redacted {self.pairs[int(found.lastgroup[1:])][0]}]".encode()
        return self._marks.get(found[0]) or self._wrapped[_WRAPS.sub(b"", found[0])]

    def text(self, text: str) -> str:
        """Strike out of a text; also the half of a secret at its ends, where somebody cut it before."""
        if not self.pairs:
            return text
        clean = self.strike(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
        for name, value in self.pairs:
            clean = _without_halves(clean, value, f"[redacted {name}]")
        return clean

    def tree(self, value: Any) -> Any:
        """Strike out of every text in JSON-like data."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {key: self.tree(item) for key, item in value.items()}
        return [self.tree(item) for item in value] if isinstance(value, list | tuple) else value

    def event(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        if not self.pairs:
            return dict(fields)
        return {key: value if key in _KEPT else self.tree(value) for key, value in fields.items()}

    def stream(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Strike out of a stream, also what lies across the borders of its chunks."""
        held = b""
        for chunk in chunks:
            held += chunk
            whole = len(held) - self.longest + 1  # whatever begins before here lies in `held` to its end
            if whole > 0:
                done, held = self._part(held, whole)
                yield done
        yield self.strike(held)

    def _part(self, data: bytes, whole: int) -> tuple[bytes, bytes]:
        pieces: list[bytes] = []
        at = 0
        pattern = self._pattern(data)
        for found in pattern.finditer(data) if pattern else ():
            if found.start() >= whole:
                break
            pieces += [data[at : found.start()], self._mark(found)]
            at = found.end()
        cut = max(at, whole)
        return b"".join((*pieces, data[at:cut])), data[cut:]

    def names_in(self, chunks: Iterable[bytes]) -> list[str]:
        """Name the secrets that stand in a stream."""
        held, names = b"", dict[str, None]()
        for chunk in chunks if self.pairs else ():
            held += chunk
            pattern = self._pattern(held)
            for found in pattern.finditer(held) if pattern else ():
                names[self._mark(found)[10:-1].decode()] = None
            held = held[max(0, len(held) - self.longest + 1) :]
        return list(names)

    def clean_file(self, path: StrPath) -> None:
        """Rewrite a file without its secrets; one that holds none is left as it is."""
        if not self.pairs:
            return
        file = Path(path)
        if not file.is_file() or not self.names_in(chunks_of(file)):
            return
        fresh = file.with_name(f".{file.name}.redacted")
        with fresh.open("wb") as target:
            target.writelines(self.stream(chunks_of(file)))
        fresh.replace(file)


NO_SECRETS = Redactor()
"""Of whom nothing is known. A redactor never changes, so all may share it."""


def chunks_of(file: StrPath) -> Iterator[bytes]:
    with open(file, "rb") as data:  # noqa: PTH123
        while chunk := data.read(CHUNK):
            yield chunk


def forms(value: str) -> set[bytes]:
    """Give the ways a value may be written: itself, within JSON, a long one in UTF-16, URLs, base64 and hexadecimal."""
    texts = {value}
    for _ in range(2):  # output of a tool within an event of its agent is quoted twice
        texts |= {json.dumps(text, ensure_ascii=plain)[1:-1] for text in texts for plain in (True, False)}
    if is_long(value):
        with contextlib.suppress(UnicodeEncodeError):
            texts |= {done for text in _quoted(value) for done in (text, _ESCAPE.sub(lambda e: e[0].lower(), text))}
    raw = value.encode("utf-8", "surrogateescape")
    found = {text.encode("utf-8", "surrogateescape") for text in texts}
    if is_long(value):
        found |= {raw.hex().encode(), raw.hex().upper().encode(), *_base64(raw)}
        found |= _in_16(value)
    lines = [line.strip() for line in value.splitlines()]
    if len(lines) > 1:  # a private key is as secret line by line
        found |= {line.encode("utf-8", "surrogateescape") for line in lines if len(line) >= _LINE and line[0] != "-"}
    return found


_ESCAPE = re.compile(r"%[0-9A-F]{2}")
_CODES = (base64.b64encode, base64.urlsafe_b64encode)
_WRAPS = re.compile(rb"\\+[rn]|[\r\n]")
_WRAP = rb"(?:\\{1,4}[rn]|[\r\n]){0,2}"
"""The end of a line, also as it is told within JSON that is quoted again."""
_BREAK = 10
_LONGEST_ESCAPE = 39
"""Bytes of one character: two units and a zero, each with a `u`, four digits and eight backslashes."""


def is_long(value: str) -> bool:
    return len(value) >= LONG


def _in_16(value: str) -> set[bytes]:
    """UTF-16, of ASCII what both its orders have in common: it may have been read as something else."""
    if value.isascii():
        return {"\0".join(value).encode()}
    return {value.encode(f"utf-16-{order}", "surrogatepass") for order in ("le", "be")}


def escaping(value: str) -> bytes:
    """A pattern of a value whose characters may stand as `\\u0063`, in JSON that may be quoted again, also those of
    UTF-16 that was read as something else."""
    return rb"(?:\\{1,8}u0000)?".join(map(_any_way, value))


def _any_way(char: str) -> bytes:
    plain = re.escape(char.encode("utf-8", "surrogateescape"))
    units = char.encode("utf-16-be", "surrogatepass")
    escaped = (rb"\\{1,8}u(?i:%04x)" % int.from_bytes(units[at : at + 2]) for at in range(0, len(units), 2))
    quoted = rb"\\{0,8}" if char in '"\\/' else b""
    return b"(?:" + quoted + plain + b"|" + b"".join(escaped) + b")"


def _quoted(value: str) -> set[str]:
    return {quote(value, safe=""), quote(value), quote_plus(value)}


def wrapping(value: str) -> set[bytes]:
    """Give the forms of a long value that a program breaks into lines: `base64` does after 76 characters."""
    return set(_within(value.encode("utf-8", "surrogateescape"))) if is_long(value) else set()


def _base64(raw: bytes) -> Iterator[bytes]:
    for code in _CODES:
        yield code(raw)
        yield code(raw).rstrip(b"=")
    yield from _within(raw)


def _within(raw: bytes) -> Iterator[bytes]:
    """As it looks anywhere within a longer text in base64: three ways, by where its first byte falls."""
    for code in _CODES:
        for before in range(3):
            first, last = (-(-before * 8 // 6)), (before + len(raw)) * 8 // 6
            yield code(b"\0" * before + raw)[first:last]


def _protects(value: str) -> bool:
    plain = value.strip()
    return len(plain) >= SHORTEST and plain.lower() not in _PLAIN and not (plain.isdigit() and len(plain) < LONG)


def _label(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name.removeprefix("env."))


def _without_halves(text: str, value: str, mark: str) -> str:
    for size in range(min(len(value), len(text)) - 1, LONG - 1, -1):
        if text.endswith(value[:size]):
            text = text[:-size] + mark
            break
    for size in range(min(len(value), len(text)) - 1, LONG - 1, -1):
        if text.startswith(value[-size:]):
            return mark + text[size:]
    return text


def _password(url: str) -> str | None:
    try:
        return urlsplit(url).password
    except ValueError:
        return None
