"""A kept world is the world exactly as it was left."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from runner.blobs import BlobStore
from runner.worlds import keeping
from runner.worlds.keeping import discard, keep
from runner.worlds.places import make_place
from runner.worlds.rules import Rules
from runner.worlds.tree import Tree, scan


def fill(world: Path) -> None:
    (world / "node_modules").mkdir()
    (world / "node_modules" / "ignored.js").write_text("kept all the same")
    (world / "tool").write_text("#!/bin/sh\n")
    (world / "tool").chmod(0o755)
    (world / "link").symlink_to("/etc/passwd")
    (world / "big").write_bytes(b"x" * 5000)
    (world / "none").mkdir()
    os.mkfifo(world / "pipe")


@pytest.mark.parametrize("across", [False, True])
def test_a_world_is_moved_whole_and_recorded(
    worlds: Path, tmp_path: Path, blobs: BlobStore, across: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make_place("01RUN", 4, 2)
    fill(place.world)
    before = scan(place.world, refuse=False)
    if across:
        monkeypatch.setattr(keeping, "_move", lambda world, target: keeping._copy_across(world, target))
    kept = keep(place, tmp_path / "run", 4, 2, blobs, Rules(("node_modules",), 1000))
    folder = tmp_path / "run" / kept.path
    assert kept.path == "workspaces/4-2"
    assert scan(folder, refuse=False).hash == before.hash
    assert (kept.files, kept.size) == (5, 5000 + 17 + 10)
    tree = Tree.from_json(json.loads(blobs.read(kept.blob)))
    assert [(entry.path, entry.stored) for entry in tree.entries if entry.type == "file"] == [
        ("big", False),
        ("node_modules/ignored.js", True),
        ("tool", True),
    ]
    assert tree.by_path["link"].target == "/etc/passwd"
    assert (folder / "tool").stat().st_mode & 0o777 == 0o755
    discard(place)
    assert not place.root.exists()


def test_keeping_again_replaces_what_a_killed_try_left(worlds: Path, tmp_path: Path, blobs: BlobStore) -> None:
    target = tmp_path / "run" / "workspaces" / "1-1"
    target.mkdir(parents=True)
    (target / "stale").write_text("x")
    place = make_place("01RUN", 1, 1)
    (place.world / "fresh").write_text("y")
    keep(place, tmp_path / "run", 1, 1, blobs, Rules((), 1000))
    assert [path.name for path in target.iterdir()] == ["fresh"]
