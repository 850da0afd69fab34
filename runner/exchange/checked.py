"""Reading an archive that may be hostile: a cap on opening it, rules for entries, bytes that verify themselves."""

from __future__ import annotations

import hashlib
import io
import stat
import zipfile
import zlib
from types import TracebackType
from typing import IO, Any

from runner.digests import CHUNK
from runner.errors import BundleError

ENTRY_COST = 256
"""Bytes a central directory may spend on one entry; names here have at most 70."""
ENTRY = b"PK\1\2"
"""What each entry of a central directory begins with."""
LARGEST_PARSED = 512 << 20
"""Bytes of memory that JSON from outside may take once it is read: a few packed kilobytes can ask for many gigabytes.
The manifest of a million trials takes 350 MiB."""
COSTS = {b"{": 240, b"[": 64, b",": 40}
PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 0x1


class Measured(io.BufferedIOBase):
    """A file that refuses one large read while the archive opens: zipfile reads the central directory at once.

    So a directory of millions of entries is refused before it is parsed.
    """

    def __init__(self, file: IO[bytes], name: str, entries: int) -> None:
        self._file, self._archive, self._most = file, name, max(entries * ENTRY_COST, CHUNK)
        self._entries = entries

    def read(self, size: int | None = -1) -> bytes:
        wanted = self._most + 1 if size is None or size < 0 else size
        if wanted > self._most + 1:
            raise BundleError(f"{self._archive} has a table of contents of {wanted} bytes; {self._most} are allowed.")
        data = self._file.read(wanted)
        if len(data) > self._most:
            raise BundleError(f"{self._archive} has a table of contents of over {self._most} bytes.")
        if len(data) > CHUNK and (found := data.count(ENTRY)) > self._entries:  # no piece of an entry is that large
            raise BundleError(f"{self._archive} holds {found} entries; {self._entries} are allowed.")
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


def refuse_crowded(data: bytes, what: str) -> None:
    """Refuse JSON that would take too much memory, told by what its values cost when they are read."""
    if sum(cost * data.count(sign) for sign, cost in COSTS.items()) > LARGEST_PARSED:
        raise BundleError(f"{what} holds too many values: reading it would take over {LARGEST_PARSED >> 20} MiB.")


def refuse_unfit(archive: zipfile.ZipFile, name: str, limit: int) -> dict[str, zipfile.ZipInfo]:
    """Give entries by name; refuse too many, one name twice, and whatever is not a plain readable file."""
    infos = archive.infolist()
    if len(infos) > limit:
        raise BundleError(f"{name} holds {len(infos)} entries; {limit} are allowed.")
    entries: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        shown = f"{name}: the entry {info.filename[:100]!r}"
        kind = stat.S_IFMT(info.external_attr >> 16)
        if info.filename in entries:
            raise BundleError(f"{shown} is there twice.")
        if info.is_dir() or kind not in (0, stat.S_IFREG):
            raise BundleError(f"{shown} is not a plain file.")
        if info.flag_bits & ENCRYPTED or info.compress_type not in PLAIN:
            raise BundleError(f"{shown} is encrypted or packed by a method that bundles do not use.")
        entries[info.filename] = info
    return entries


class Checked(io.RawIOBase):
    """A stream from an archive that counts and hashes what it gives, and raises BundleError when either is wrong."""

    def __init__(self, stream: IO[bytes], what: str, digest: str | None, limit: int) -> None:
        self._stream, self._what, self._digest, self._limit = stream, what, digest, limit
        self._hash, self._size = hashlib.sha256(), 0

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            parts = []
            while part := self.read(CHUNK):
                parts.append(part)
            return b"".join(parts)
        return self._take(lambda: self._stream.read(size), size)

    def readline(self, size: int | None = -1) -> bytes:
        return self._take(lambda: self._stream.readline(-1 if size is None else size), size or 0)

    def drain(self) -> None:
        """Read to the end, so that the digest is verified."""
        while self.read(CHUNK):
            pass

    def _take(self, read: Any, size: int) -> bytes:
        try:
            data: bytes = read()
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise BundleError(f"{self._what} is damaged: {error}.") from error
        self._size += len(data)
        if self._size > self._limit:
            raise BundleError(f"{self._what} is larger than {self._limit} bytes.")
        self._hash.update(data)
        if not data and size != 0:
            self._verify()
        return data

    def _verify(self) -> None:
        if self._digest is not None and self._hash.hexdigest() != self._digest:
            raise BundleError(f"{self._what} has the digest {self._hash.hexdigest()[:12]}…, not the announced one.")

    def close(self) -> None:
        self._stream.close()
        super().close()

    def __enter__(self) -> Checked:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
