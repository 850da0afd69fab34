"""A bench's expected outputs: the telling pieces of its fixtures, against which what an agent wrote is compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .digests import sha256

SHORTEST, LONGEST = 12, 2000
FILE_LIMIT, FILES = 256 << 10, 2000
WORLD_LIMIT = 64 << 20
_SOLUTION = "solution"
"""What solves a scenario may look like the solution; what its checks expect may not stand in it."""
_CODE = frozenset({".py", ".js", ".ts", ".jsx", ".tsx", ".go", ".rs", ".java", ".c", ".cc", ".cpp", ".h", ".rb", ".sh"})
_LITERAL = re.compile(rf"\"([^\"\\\n]{{{SHORTEST},{LONGEST}}})\"|'([^'\\\n]{{{SHORTEST},{LONGEST}}})'")


@dataclass(frozen=True)
class Expected:
    """`pieces`: where each stands in the fixtures; `copies`: fixtures by digest."""

    pieces: dict[str, str] = field(default_factory=dict)
    copies: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, fixtures: Path) -> Expected:
        pieces: dict[str, str] = {}
        copies: dict[str, str] = {}
        for file, data in _files(fixtures, FILE_LIMIT):
            name = file.relative_to(fixtures.parent).as_posix()
            if file.relative_to(fixtures).parts[0] == _SOLUTION:
                continue
            if len(data) >= SHORTEST:
                copies[sha256(data)] = name
            for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
                for piece in literals(line) if file.suffix in _CODE else pieces_of(line):
                    pieces.setdefault(piece, f"{name}:{number}")
        return cls(pieces, copies)


def literals(line: str) -> Iterator[str]:
    return (first or second for first, second in _LITERAL.findall(line))


def pieces_of(line: str) -> Iterator[str]:
    """Give what of a line could be an expected output: the line itself, and what stands in quotes."""
    bare = line.strip().rstrip(",")
    if SHORTEST <= len(bare) <= LONGEST:
        yield bare
    yield from literals(line)


def in_world(world: Path, pieces: Sequence[str]) -> set[str]:
    """Tell which pieces stand in the world that the agent was given. Read only when something was found."""
    found = {piece for piece in pieces if (world / piece).exists()} if world.is_dir() else set()
    read = 0
    for _, data in _files(world, FILE_LIMIT * 8):
        read += len(data)
        text = data.decode("utf-8", "replace")
        found |= {piece for piece in pieces if piece in text}
        if read > WORLD_LIMIT or len(found) == len(pieces):
            break
    return found


def in_texts(texts: Iterable[str], pieces: Sequence[str]) -> set[str]:
    return {piece for text in texts for piece in pieces if piece in text}


def _files(root: Path, limit: int) -> Iterator[tuple[Path, bytes]]:
    if not root.is_dir():
        return
    for number, file in enumerate(sorted(root.rglob("*"))):
        if number >= FILES and limit == FILE_LIMIT:
            return
        if file.is_file() and not file.is_symlink() and file.stat().st_size <= limit:
            yield file, file.read_bytes()
