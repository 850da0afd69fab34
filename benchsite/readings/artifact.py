"""What is this evidence: artifacts of a trial, and blobs within the reader's benches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO


@dataclass(frozen=True)
class Raw:
    """Bytes on their way out. `media` counts only where `inline` allows showing them at all."""

    file: BinaryIO
    size: int
    name: str
    media: str = "application/octet-stream"
    inline: bool = False

    @property
    def saved_as(self) -> str:
        return "application/octet-stream"
