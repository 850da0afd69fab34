"""Raster images by their first bytes, whatever they are called: the kinds a browser may be given, and their sizes."""

from __future__ import annotations

from dataclasses import dataclass

from .limits import SNIFF

HEAD = 65_536
"""Bytes enough to find the size of most images; a JPEG may hide it behind more."""
MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


@dataclass(frozen=True)
class Image:
    """`width` and `height` are 0 where the head does not tell them."""

    media: str
    width: int = 0
    height: int = 0


def image_type(head: bytes) -> str:
    """Tell a raster image by its first bytes; "" where it is none."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[4:12] in (b"ftypavif", b"ftypavis"):
        return "image/avif"
    return next((media for magic, media in MAGIC if head.startswith(magic)), "")


def is_picture(data: bytes) -> bool:
    """Tell an image from a text that begins like one: pictures hold NUL bytes, texts must not hide behind a word."""
    return b"\0" in data[:SNIFF] and bool(image_type(data[:16]))


def image(head: bytes) -> Image | None:
    media = image_type(head)
    if not media:
        return None
    width, height = {
        "image/png": _png, "image/gif": _gif, "image/jpeg": _jpeg, "image/webp": _webp, "image/avif": _avif,
    }[media](head)  # fmt: skip
    return Image(media, width, height)


def _png(head: bytes) -> tuple[int, int]:
    return _big(head, 16, 4), _big(head, 20, 4)


def _gif(head: bytes) -> tuple[int, int]:
    return _little(head, 6, 2), _little(head, 8, 2)


def _jpeg(head: bytes) -> tuple[int, int]:
    """Walk the segments to the one that starts a frame."""
    at = 2
    while at + 9 < len(head) and head[at] == 0xFF:
        kind = head[at + 1]
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            return _big(head, at + 7, 2), _big(head, at + 5, 2)
        at += 2 + max(2, _big(head, at + 2, 2))
    return 0, 0


def _webp(head: bytes) -> tuple[int, int]:
    kind = head[12:16]
    if kind == b"VP8X":
        return _little(head, 24, 3) + 1, _little(head, 27, 3) + 1
    if kind == b"VP8 ":
        return _little(head, 26, 2) & 0x3FFF, _little(head, 28, 2) & 0x3FFF
    if kind == b"VP8L":
        bits = _little(head, 21, 4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return 0, 0


def _avif(head: bytes) -> tuple[int, int]:
    at = head.find(b"ispe")
    return (_big(head, at + 8, 4), _big(head, at + 12, 4)) if at >= 0 else (0, 0)


def _big(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "big")


def _little(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")
