"""Bytes to text for showing. The diff itself runs on bytes, so nothing is lost by a wrong guess."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from .limits import SNIFF

BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LABELS = {
    "utf-8": "UTF-8",
    "utf-16-le": "UTF-16 LE",
    "utf-16-be": "UTF-16 BE",
    "utf-32-le": "UTF-32 LE",
    "utf-32-be": "UTF-32 BE",
}
# cp1252 leaves five bytes undefined; like browsers, give them the control character of the same number
CP1252 = {byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(256)}


@dataclass(frozen=True)
class Source:
    """One side of a comparison. `data` is what is compared: the bytes themselves, or UTF-8 made from UTF-16 and 32."""

    data: bytes
    encoding: str = "utf-8"
    bom: bool = False
    binary: bool = False
    form: str = ""
    """Names what `data` was made by, where it is not what the file holds: part of every cache key."""

    @property
    def badge(self) -> str:
        """Say how the text was read, where that is not plain UTF-8."""
        if self.binary:
            return ""
        if self.encoding == "cp1252":
            return "decoded as cp1252"
        if self.encoding != "utf-8":
            return f"decoded as {_LABELS[self.encoding]}"
        return "UTF-8 with BOM" if self.bom else ""

    def text(self, line: bytes) -> str:
        """Decode a part of `data` that begins and ends at line ends."""
        if self.encoding == "cp1252":
            return line.decode("latin-1").translate(CP1252)
        return line.decode("utf-8")


def decode(data: bytes) -> Source:
    for bom, encoding in BOMS:
        if data.startswith(bom):
            return _with_bom(data, bom, encoding)
    if b"\0" in data[:SNIFF]:
        return Source(data, binary=True)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return Source(data, encoding="cp1252")
    return Source(data)


def _with_bom(data: bytes, bom: bytes, encoding: str) -> Source:
    try:
        text = data[len(bom) :].decode(encoding)
        body = text.encode("utf-8")
    except UnicodeError:
        return Source(data, binary=b"\0" in data[:SNIFF], encoding="cp1252")
    return Source(body, encoding=encoding, bom=True)
