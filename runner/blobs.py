"""Bytes named by their sha256, stored once: `<root>/<first two hex>/<all 64>`."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from .digests import CHUNK, sha256, sha256_file
from .errors import DiskFull, RunnerError, is_disk_full

HEX = frozenset("0123456789abcdef")


def is_digest(text: str) -> bool:
    return len(text) == 64 and HEX.issuperset(text)


class BlobStore:
    """A folder of blobs. Writing is atomic: a blob is whole or absent."""

    def __init__(self, root: Path) -> None:
        self.root, self._root = root, os.fspath(root)
        self.on_full: Callable[[DiskFull], None] | None = None
        """Told before the error is raised: a scenario may catch that, and evidence must not be lost unseen."""
        self._made: set[str] = set()

    def path(self, digest: str) -> Path:
        return Path(self._at(digest))

    def _at(self, digest: str) -> str:
        """The path as text: a trial asks often, and a path object costs as much as what is done with it."""
        if not is_digest(digest):
            raise RunnerError(f"{digest!r} is not a sha256 digest (64 lower-case hex digits).")
        return f"{self._root}/{digest[:2]}/{digest}"

    def has(self, digest: str) -> bool:
        return os.path.isfile(self._at(digest))  # noqa: PTH113

    def size(self, digest: str) -> int:
        return self.path(digest).stat().st_size

    def open(self, digest: str) -> BinaryIO:
        return self.path(digest).open("rb")

    def read(self, digest: str) -> bytes:
        with open(self._at(digest), "rb", buffering=0) as file:  # noqa: PTH123
            return file.read()

    def put(self, data: bytes) -> str:
        digest = sha256(data)
        if not os.path.exists(f"{self._root}/{digest[:2]}/{digest}"):  # noqa: PTH110  as a rule it is there
            with self._beside(self.path(digest)) as file:
                file.write(data)
        return digest

    def put_file(self, source: Path, digest: str | None = None) -> str:
        """Store a copy of a file; `digest`, where the caller has it already, saves one read."""
        digest = digest or sha256_file(source)
        target = self.path(digest)
        if not target.exists():
            with self._beside(target) as file, source.open("rb") as data:
                shutil.copyfileobj(data, file, CHUNK)
        return digest

    def put_stream(
        self, stream: IO[bytes], *, expected: str | None = None, limit: int | None = None
    ) -> tuple[str, int]:
        """Keep a stream read to its end: (digest, size). Over `limit` or not `expected`: nothing is kept."""
        self.root.mkdir(parents=True, exist_ok=True)
        hashed, size = hashlib.sha256(), 0
        descriptor, name = tempfile.mkstemp(dir=self.root, prefix=".incoming-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                while chunk := stream.read(CHUNK):
                    size += len(chunk)
                    if limit is not None and size > limit:
                        raise RunnerError(f"The blob is larger than the {limit} bytes allowed.")
                    hashed.update(chunk)
                    file.write(chunk)
            digest = hashed.hexdigest()
            if expected is not None and digest != expected:
                raise RunnerError(f"The bytes have the digest {digest}, not {expected} as announced.")
            target = self.path(digest)
            target.parent.mkdir(exist_ok=True)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return digest, size

    def digests(self) -> Iterator[str]:
        for folder in sorted(self.root.glob("[0-9a-f][0-9a-f]")):
            yield from sorted(entry.name for entry in folder.iterdir() if is_digest(entry.name))

    @contextmanager
    def _beside(self, target: Path) -> Iterator[BinaryIO]:
        """Write next to the target and rename into place; two writers of one digest write the same bytes."""
        temporary = target.with_name(f".{target.name}.{os.getpid()}.{os.urandom(4).hex()}")
        try:
            if target.parent.name not in self._made:
                target.parent.mkdir(parents=True, exist_ok=True)
                self._made.add(target.parent.name)
            with temporary.open("wb") as file:
                yield file
            temporary.replace(target)
        except BaseException as error:
            temporary.unlink(missing_ok=True)
            if is_disk_full(error):
                raise self._full() from error
            raise

    def _full(self) -> DiskFull:
        full = DiskFull(self.root)
        if self.on_full is not None:
            self.on_full(full)
        return full
