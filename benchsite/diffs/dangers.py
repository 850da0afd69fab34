"""Characters that make text look like something it is not; they are shown as pills with their code point."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_CONTROLS = "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f"
_BIDI = "\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069"
_HIDDEN = "\\u200b-\\u200d\\u2060\\ufeff\\u2028\\u2029\\u00ad"
_TAGS = "\\U000e0000-\\U000e007f"
_SURROGATES = "\\ud800-\\udfff"
DANGEROUS = re.compile(f"[{_CONTROLS}{_BIDI}{_HIDDEN}{_TAGS}{_SURROGATES}]")
_EDGE = "(?<![^/]) | (?![^/])"  # a blank that begins or ends a name
IN_NAMES = re.compile(f"[\\t\\n\\xa0{_CONTROLS}{_BIDI}{_HIDDEN}{_TAGS}{_SURROGATES}]|{_EDGE}")
_BIDI_ONLY = re.compile(f"[{_BIDI}]")

_SHORT = {
    0x00: "NUL", 0x07: "BEL", 0x08: "BS", 0x09: "TAB", 0x0A: "LF", 0x0B: "VT", 0x0C: "FF", 0x0D: "CR", 0x1B: "ESC",
    0x20: "SP", 0x7F: "DEL", 0xA0: "NBSP", 0xAD: "SHY",
    0x200B: "ZWSP", 0x200C: "ZWNJ", 0x200D: "ZWJ", 0x2060: "WJ", 0xFEFF: "BOM",
    0x61C: "ALM", 0x200E: "LRM", 0x200F: "RLM", 0x202A: "LRE", 0x202B: "RLE", 0x202C: "PDF", 0x202D: "LRO",
    0x202E: "RLO", 0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI", 0x2028: "LS", 0x2029: "PS",
}  # fmt: skip
_NAMES = {
    0x00: "NULL", 0x07: "BELL", 0x08: "BACKSPACE", 0x09: "TABULATION", 0x0A: "LINE FEED", 0x0B: "VERTICAL TABULATION",
    0x0C: "FORM FEED", 0x0D: "CARRIAGE RETURN", 0x1B: "ESCAPE", 0x7F: "DELETE", 0xFEFF: "BYTE ORDER MARK",
}  # fmt: skip


@dataclass(frozen=True)
class Pill:
    """One character shown by its name: `label` is short, `title` says all."""

    label: str
    title: str


def pill(char: str) -> Pill:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        # a surrogate escape: the byte of a path that is not UTF-8
        return Pill(f"\\x{code - 0xDC00:02x}", f"byte {code - 0xDC00:02X}, not UTF-8")
    point = f"U+{code:04X}"
    name = _NAMES.get(code) or unicodedata.name(char, "control character" if code < 0xA0 else "unassigned")
    return Pill(_SHORT.get(code, point), f"{point} {name}")


def count(text: str) -> int:
    """Count the dangerous characters of a text."""
    return sum(1 for _ in DANGEROUS.finditer(text))


def places(text: str) -> tuple[int, tuple[int, ...]]:
    """Count a text's dangerous characters and give the numbers of the lines they stand on, each once."""
    many, line, at = 0, 1, 0
    lines: dict[int, None] = {}
    for match in DANGEROUS.finditer(text):
        many += 1
        line += text.count("\n", at, match.start())
        at = match.start()
        lines[line] = None
    return many, tuple(lines)


def has_bidi(text: str) -> bool:
    return _BIDI_ONLY.search(text) is not None


def steady(text: str) -> str:
    """Name the characters that turn the reading direction: a name may then stand in a sentence of ours."""
    return text if text.isascii() else _BIDI_ONLY.sub(lambda found: f"[{pill(found[0]).label}]", text)


def split(text: str, pattern: re.Pattern[str] = DANGEROUS) -> list[str | Pill]:
    """Cut a text into harmless stretches and pills, in order."""
    parts: list[str | Pill] = []
    at = 0
    for match in pattern.finditer(text):
        if match.start() > at:
            parts.append(text[at : match.start()])
        parts.append(pill(match.group()))
        at = match.end()
    if at < len(text):
        parts.append(text[at:])
    return parts


def split_name(path: str) -> list[str | Pill]:
    """Cut a path the same way; in names tabs, line feeds and blanks at an end are dangerous too."""
    return split(path, IN_NAMES)
