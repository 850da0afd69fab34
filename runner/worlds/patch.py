"""A change record as a patch that `git apply` takes: text by libgit2's line diff, binaries as git's literals."""

from __future__ import annotations

import base64
import hashlib
import os
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from runner.blobs import BlobStore

from .aside import shown
from .changes import Change, ChangeSet, Side
from .lines import is_binary

NOTHING: Mapping[str, str] = {}
NULL_ID = "0" * 40
_ESCAPES = {0x07: b"\\a", 0x08: b"\\b", 0x09: b"\\t", 0x0A: b"\\n", 0x0B: b"\\v", 0x0C: b"\\f", 0x0D: b"\\r"}


def git_patch(changes: ChangeSet, blobs: BlobStore, why: Mapping[str, str] = NOTHING) -> bytes:
    """Write the patch. What it cannot hold (bytes not kept, fifos and the like) is named in comments above it.

    `why` says by digest what else stands in the way of bytes.
    """
    left_out, parts = [], []
    for change in changes.changes:
        for old, new in _steps(change):
            sides = [_content(side, blobs) for side in (old, new)]
            if None in sides:
                left_out.append(change)
                break
            parts.append(_section(change.path, old, new, sides[0] or b"", sides[1] or b""))
    return b"".join(_comment(change, why) for change in left_out) + b"".join(parts)


def ignored_comments(names: Iterable[str]) -> bytes:
    """Name above a patch what the capture ignores; `git apply` passes over that."""
    return b"".join(b"# left out: " + quoted(b"", shown(name)) + b": the capture ignores it\n" for name in names)


def text_patch(old: bytes, new: bytes) -> tuple[bytes, int, int]:
    """Give (hunks, lines added, lines deleted) between two texts."""
    import pygit2  # loads libgit2: 80 ms, paid only where there is something to compare

    force_text: Any = pygit2.enums.DiffOption.FORCE_TEXT
    patch = pygit2.Patch.create_from(old, new, old_as_path="x", new_as_path="x", flag=force_text)
    _, added, deleted = patch.line_stats
    data: bytes = patch.data
    start = data.find(b"\n@@ ")
    return (b"" if start < 0 else data[start + 1 :]), added, deleted


def _steps(change: Change) -> list[tuple[Side | None, Side | None]]:
    """As git does, a change of type (a file that became a link) is a deletion and an addition."""
    before, after = change.before, change.after
    if before and after and before.type != after.type:
        return [(before, None), (None, after)]
    return [(before, after)]


def _content(side: Side | None, blobs: BlobStore) -> bytes | None:
    if side is None:
        return b""
    if side.type == "link" and side.target is not None:
        return os.fsencode(side.target)
    if side.type != "file" or not side.stored or side.sha256 is None:
        return None
    return blobs.read(side.sha256)


def _comment(change: Change, why: Mapping[str, str]) -> bytes:
    side = change.after or change.before
    size = f", {side.size} bytes" if side and side.size else ""
    kind = side.type if side else "file"
    told = [why[one.sha256] for one in (change.before, change.after) if one and one.sha256 and one.sha256 in why]
    reason = told[0].rstrip(".") if told else "its bytes are not kept"
    return b"# left out: " + quoted(b"", change.path) + f" ({change.kind} {kind}{size}): {reason}\n".encode()


def _section(path: str, old: Side | None, new: Side | None, before: bytes, after: bytes) -> bytes:
    lines = [b"diff --git " + quoted(b"a/", path) + b" " + quoted(b"b/", path)]
    if old is None and new:
        lines.append(b"new file mode " + new.mode.encode())
    elif new is None and old:
        lines.append(b"deleted file mode " + old.mode.encode())
    elif old and new and old.mode != new.mode:
        lines += [b"old mode " + old.mode.encode(), b"new mode " + new.mode.encode()]
    if before == after and old and new:
        return b"\n".join(lines) + b"\n"
    same_mode = f" {old.mode}" if old and new and old.mode == new.mode else ""
    ids = [blob_id(before) if old else NULL_ID, blob_id(after) if new else NULL_ID]
    lines.append(f"index {ids[0]}..{ids[1]}{same_mode}".encode())
    return b"\n".join(lines) + b"\n" + _body(path, old, new, before, after)


def _body(path: str, old: Side | None, new: Side | None, before: bytes, after: bytes) -> bytes:
    if is_binary(before) or is_binary(after):
        return b"GIT binary patch\n" + _literal(after) + _literal(before)
    if not before and not after:
        return b""  # an empty file made or deleted: the header says it all
    hunks, _, _ = text_patch(before, after)
    names = [b"/dev/null" if side is None else _header(prefix, path) for side, prefix in ((old, b"a/"), (new, b"b/"))]
    return b"--- " + names[0] + b"\n+++ " + names[1] + b"\n" + hunks


def _header(prefix: bytes, path: str) -> bytes:
    """A name with a blank ends in a tab, so that readers do not take what follows for a date."""
    name = quoted(prefix, path)
    return name + b"\t" if b" " in name and not name.startswith(b'"') else name


def quoted(prefix: bytes, path: str) -> bytes:
    """Quote a name as git does when it holds control bytes, quotes, backslashes or anything beyond ASCII."""
    name = prefix + os.fsencode(path)
    if all(0x20 <= byte < 0x7F and byte not in b'"\\' for byte in name):
        return name
    return b'"' + b"".join(_escaped(byte) for byte in name) + b'"'


def _escaped(byte: int) -> bytes:
    if byte in b'"\\':
        return b"\\" + bytes([byte])
    if 0x20 <= byte < 0x7F:
        return bytes([byte])
    return _ESCAPES.get(byte) or b"\\%03o" % byte


def blob_id(data: bytes) -> str:
    """Give git's name of a blob; `git apply` asks for the whole of it before it touches a binary."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _literal(data: bytes) -> bytes:
    """Write bytes as git does: deflated, 52 to a line, each line led by its length and written in base 85."""
    packed = zlib.compress(data)
    lines = [b"literal %d\n" % len(data)]
    for start in range(0, len(packed), 52):
        chunk = packed[start : start + 52]
        length = len(chunk) - 1 + (ord("A") if len(chunk) <= 26 else ord("a") - 26)
        lines.append(bytes([length]) + base64.b85encode(chunk, pad=True) + b"\n")
    return b"".join(lines) + b"\n"
