"""A small world and what agents did to it: trees, change records and their bytes, as the runner stores them."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

from runner.blobs import BlobStore
from runner.digests import sha256
from runner.paths import to_json

PARSER = '''"""Reads settings of the form `key = value`."""


def parse_line(line):
    """Split one line into key and value."""
    key, value = line.split("=")
    return key.strip(), value.strip()


def parse(text):
    settings = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        key, value = parse_line(line)
        settings[key] = value
    return settings


def dump(settings):
    return "\\n".join(f"{key} = {value}" for key, value in settings.items())
'''
FIXED = PARSER.replace('line.split("=")', 'line.split("=", 1)').replace(
    'if line.startswith("#"):', 'if not line.strip() or line.lstrip().startswith("#"):'
)
BROKEN = FIXED.replace("def dump(settings):", "def dump(settings, sep=' = '):").replace(
    'f"{key} = {value}"', 'f"{key}{sep}{value.upper()}"'
)
TESTS = """from src.parser import parse


def test_a_value_may_hold_the_separator():
    assert parse("url = a=b") == {"url": "a=b"}


def test_blank_lines_are_left_aside():
    assert parse("\\n# note\\nx = 1\\n") == {"x": "1"}
"""
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000002000000020802000000fdd49a73"
    "0000001649444154789c63fccfc0f09f81818181898101008e16030128a0f3a40000000049454e44ae426082"
)
START: dict[str, bytes] = {
    "README.md": b"# Parser\n\nReads settings.\n",
    "pyproject.toml": b"[project]\nname = 'parser'\nversion = '1'\n",
    "src/__init__.py": b"",
    "src/parser.py": PARSER.encode(),
    "src/legacy.py": b"OLD = True\n",
    "tests/test_parser.py": TESTS.encode(),
    "data/logo.png": PNG,
    "data/crlf.txt": b"one\r\ntwo\r\n",
    "docs/notes.txt": b"no newline at the end",
}
STORED = 200_000
"""Larger files are hashed and not kept."""
EXECUTABLE = frozenset({"tools/run.sh"})


@dataclass
class World:
    """Files by path (bytes), links by path (target); modes follow the name."""

    files: dict[str, bytes] = field(default_factory=lambda: dict(START))
    links: dict[str, str] = field(default_factory=dict)

    def copy(self) -> World:
        return World(dict(self.files), dict(self.links))


def mode(path: str) -> str:
    return "100755" if path in EXECUTABLE else "100644"


def tree_blob(world: World, blobs: BlobStore) -> tuple[str, int, int]:
    """Store every file and the tree (benchsite/tree/1); gives (digest, files, bytes)."""
    folders = {"/".join(path.split("/")[:n]) for path in world.files for n in range(1, path.count("/") + 1)}
    entries: list[dict[str, Any]] = [_entry(path, "dir", "040000") for path in folders]
    for path, data in world.files.items():
        entries.append(
            {
                **_entry(path, "file", mode(path)),
                "size": len(data),
                "sha256": blobs.put(data),
                "stored": True,
            }
        )
    entries += [{**_entry(path, "link", "120000"), "target": target} for path, target in world.links.items()]
    entries.sort(key=lambda entry: str(entry["path"]))
    record = {"format": "benchsite/tree/1", "entries": entries}
    return blobs.put(json.dumps(record).encode()), len(world.files), sum(map(len, world.files.values()))


def _entry(path: str, type: str, mode: str) -> dict[str, Any]:
    return {
        "path": to_json(path),
        "type": type,
        "mode": mode,
        "size": None,
        "sha256": None,
        "target": None,
        "stored": False,
    }


def changes_blob(before: World, after: World, blobs: BlobStore) -> tuple[str, dict[str, int]]:
    """Store a change record (benchsite/changes/1) and all its sides; gives (digest, counts)."""
    changes: list[dict[str, Any]] = []
    counts = dict.fromkeys(("added", "modified", "deleted", "links", "lines_added", "lines_deleted"), 0)
    for path in sorted({*before.files, *after.files}):
        old, new = before.files.get(path), after.files.get(path)
        if old == new:
            continue
        kind = "added" if old is None else "deleted" if new is None else "modified"
        counts[kind] += 1
        plus, minus = _lines(old or b"", new or b"")
        counts["lines_added"] += plus
        counts["lines_deleted"] += minus
        changes.append(_change(path, kind, _side(path, old, blobs), _side(path, new, blobs)))
    for path in sorted(set(after.links) - set(before.links)):
        counts["links"] += 1
        side = {
            "type": "link",
            "mode": "120000",
            "size": None,
            "sha256": None,
            "stored": False,
            "target": after.links[path],
        }
        changes.append(_change(path, "link", None, side))
    return blobs.put(json.dumps({"format": "benchsite/changes/1", "changes": changes}).encode()), counts


def _change(path: str, kind: str, before: Any, after: Any) -> dict[str, Any]:
    return {"path": to_json(path), "kind": kind, "before": before, "after": after}


def _side(path: str, data: bytes | None, blobs: BlobStore) -> dict[str, Any] | None:
    if data is None:
        return None
    stored = len(data) <= STORED
    digest = blobs.put(data) if stored else sha256(data)
    return {
        "type": "file",
        "mode": mode(path),
        "size": len(data),
        "sha256": digest,
        "stored": stored,
        "target": None,
    }


def _lines(old: bytes, new: bytes) -> tuple[int, int]:
    if b"\0" in old + new:
        return 0, 0
    left, right = old.splitlines(), new.splitlines()
    return sum(line not in left for line in right), sum(line not in right for line in left)


def solved(world: World, rng: random.Random) -> None:
    world.files["src/parser.py"] = FIXED.encode()
    world.files["tests/test_more.py"] = f"def test_{rng.randrange(100)}():\n    assert True\n".encode()


def unsolved(world: World, rng: random.Random) -> None:
    """Everything a change record can hold: modified, added, deleted, binary, a link, an odd name, one too large."""
    world.files["src/parser.py"] = BROKEN.encode()
    del world.files["src/legacy.py"]
    world.files["data/logo.png"] = PNG[:-8] + bytes(rng.randrange(256) for _ in range(8))
    world.files["data/new.bin"] = b"\0\1\2" + bytes(rng.randrange(256) for _ in range(40))
    world.files["tools/run.sh"] = b"#!/bin/sh\necho run\n"
    world.files["docs/notes.txt"] = b"no newline at the end, still"
    world.files["odd \udcff name.txt"] = b"a name that is not UTF-8\n"
    world.files["data/large.txt"] = b"x" * 99 + b"\n" + b"0123456789\n" * 20_000
    world.links["latest"] = "../../etc/passwd"


def idle(world: World, rng: random.Random) -> None:
    """Change nothing."""
