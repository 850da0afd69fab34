"""Every oddity of a comparison, said in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .decode import Source
from .limits import GENERATED, GENERATED_LINES, MAX_BYTES, MAX_LINES, MINIFIED_LINE, MINIFIED_MEAN
from .lines import count_lines

Ends = Literal["", "LF", "CRLF", "mixed"]


@dataclass(frozen=True)
class Fact:
    """`tone` is info, warn or danger; the sentence stands alone."""

    tone: str
    sentence: str


def line_ends(data: bytes) -> Ends:
    """Tell which line ends a text uses; "" where it has none."""
    crlf, lf = data.count(b"\r\n"), data.count(b"\n")
    if not lf:
        return ""
    return "CRLF" if crlf == lf else "mixed" if crlf else "LF"


def show_ends(old: Source, new: Source) -> bool:
    """Tell whether carriage returns are worth showing: not where both sides agree on one kind."""
    kinds = {line_ends(old.data), line_ends(new.data)} - {""}
    return "mixed" in kinds or len(kinds) > 1


def about_ends(old: Source, new: Source) -> list[Fact]:
    before, after = line_ends(old.data), line_ends(new.data)
    if not before or not after or before == after == "LF" or before == after == "CRLF":
        return [Fact("info", f"Line ends are {after or before}.")] if "CRLF" in (before, after) else []
    if before == after:
        return [Fact("warn", "Line ends are mixed on both sides; every CR is shown as ␍.")]
    return [Fact("warn", f"Line ends changed: {before} → {after}; every CR is shown as ␍.")]


def ends_only(old: Source, new: Source) -> Fact | None:
    """Tell a change that touches line ends and nothing else."""
    if old.data == new.data or old.data.replace(b"\r\n", b"\n") != new.data.replace(b"\r\n", b"\n"):
        return None
    before, after = old.data.split(b"\n"), new.data.split(b"\n")
    count = sum(1 for a, b in zip(before, after, strict=True) if a != b)
    lines = "1 line" if count == 1 else f"{count:,} lines"
    return Fact("warn", f"Only line ends changed: {lines} {line_ends(old.data)} → {line_ends(new.data)}.")


def about_encodings(old: Source | None, new: Source | None) -> list[Fact]:
    before, after = (side.badge if side else "" for side in (old, new))
    if old and new and before != after:
        return [Fact("warn", f"Encoding changed: {before or 'UTF-8'} → {after or 'UTF-8'}.")]
    return [
        Fact("info", f"Text {badge}." if badge.startswith("decoded") else f"Text is {badge}.")
        for badge in {before, after} - {""}
    ]


def too_large(data: bytes) -> str:
    """Say why a side is not compared, or ""."""
    if len(data) > MAX_BYTES:
        return f"{len(data):,} bytes, more than the {MAX_BYTES:,} that are compared"
    lines = count_lines(data)
    return f"{lines:,} lines, more than the {MAX_LINES:,} that are compared" if lines > MAX_LINES else ""


def minified(lines: Sequence[str]) -> bool:
    if not lines:
        return False
    longest, total = max(map(len, lines)), sum(map(len, lines))
    return longest > MINIFIED_LINE or total / len(lines) > MINIFIED_MEAN


def generated(lines: Sequence[str]) -> bool:
    """Tell a file whose first lines say that a program wrote it."""
    return any(sign in line for line in lines[:GENERATED_LINES] for sign in GENERATED)


def first_difference(old: bytes, new: bytes) -> int:
    """Find the offset of the first byte that differs."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[:middle] == new[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def hex_head(data: bytes, start: int = 0) -> list[tuple[str, str, str]]:
    """Give (offset, hex, printable) for each sixteen bytes; `start` is where in its file `data` begins."""
    found = []
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in row)
        found.append((f"{start + at:08x}", row.hex(" "), shown))
    return found
