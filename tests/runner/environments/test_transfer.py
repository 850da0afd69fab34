"""Files in and out of an environment: through the trial's own folders alone, through no link, all or nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.blobs import BlobStore
from runner.collected import Collected, tree_of
from runner.environments.base import KeptSession
from runner.errors import PathRefused, RunnerError
from runner.scenario.restoring import restore
from runner.worlds.places import Place
from runner.worlds.tree import Entry, Tree

Opener = Callable[..., KeptSession]
Said = Callable[..., str]
EACH = pytest.mark.parametrize("name", ["local", pytest.param("sandbox", marks=pytest.mark.sandbox)])


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "sub" / "empty").mkdir(parents=True)
    (folder / "sub" / "run.sh").write_text("#!/bin/sh\necho ran\n")
    (folder / "sub" / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("sub/run.sh")
    return folder


@EACH
def test_a_folder_is_put_whole_and_what_stood_there_goes(name: str, opener: Opener, said: Said, source: Path) -> None:
    session = opener(name)
    said(session, "mkdir -p deep/er/here/old && touch deep/er/here/old/file deep/er/stays")
    session.put(source, "/workspace/deep/er/here")
    listed = said(session, "cd deep/er && find . | sort && here/link && test -d here/sub/empty")
    assert listed.splitlines() == [
        ".", "./here", "./here/link", "./here/sub", "./here/sub/empty", "./here/sub/run.sh", "./stays", "ran",
    ]  # fmt: skip


@EACH
def test_the_world_itself_can_be_put(name: str, opener: Opener, said: Said, source: Path) -> None:
    """It is shown inside, so the folder stays the same one."""
    session = opener(name)
    said(session, "mkdir gone && touch gone/x y")
    session.put(source, "/workspace")
    assert said(session, "ls; ./sub/run.sh").split() == ["link", "sub", "ran"]


@EACH
def test_a_file_takes_the_place_of_a_folder(name: str, opener: Opener, said: Said, source: Path) -> None:
    session = opener(name)
    said(session, "mkdir -p a/b && touch a/b/c")
    session.put(source / "sub" / "run.sh", "/workspace/a")
    assert said(session, "./a") == "ran\n"


@EACH
def test_nothing_is_put_through_a_link(
    name: str, opener: Opener, said: Said, source: Path, place: Place, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    session = opener(name)
    os.symlink(outside, place.world / "way")  # noqa: PTH211
    with pytest.raises(PathRefused, match="way is no folder"):
        session.put(source, "/workspace/way/in")
    assert list(outside.iterdir()) == []


@EACH
@pytest.mark.parametrize("path", ["/etc/passwd", "/fixtures/x", "/workspaces", "/"])
def test_other_places_are_out_of_reach(name: str, path: str, opener: Opener, source: Path, tmp_path: Path) -> None:
    session = opener(name)
    with pytest.raises(PathRefused, match="lies in no folder of the trial"):
        session.get(path, tmp_path / "got", 1)
    with pytest.raises(PathRefused, match="lies in no folder of the trial"):
        session.put(source, path)


def entry(path: str, blobs: BlobStore, text: bytes) -> Collected:
    file = Entry(path.rsplit("/", 1)[-1], "file", "100644", len(text), blobs.put(text), stored=True)
    return Collected(path, "collected", "file", 1, len(text), Tree((file,)).store(blobs))


def test_everything_is_proven_before_the_first_byte_is_restored(opener: Opener, said: Said, tmp_path: Path) -> None:
    blobs, session = BlobStore(tmp_path / "blobs"), opener("local")
    first, second = entry("/workspace/a", blobs, b"one"), entry("/workspace/b", blobs, b"two")
    (row,) = tree_of(second, blobs).entries
    assert row.sha256 is not None
    blobs.path(row.sha256).write_bytes(b"tow")
    with pytest.raises(RunnerError, match=r"/workspace/b \(b\) is not what was stored"):
        restore([first, second], session, blobs, tmp_path / "scratch")
    with pytest.raises(RunnerError, match="lies in no folder"):
        restore([first, entry("/elsewhere/c", blobs, b"c")], session, blobs, tmp_path / "scratch")
    with pytest.raises(RunnerError, match=r"/workspace/d was not collected whole \(failed\)"):
        restore([first, Collected("/workspace/d", "failed")], session, blobs, tmp_path / "scratch")
    assert said(session, "ls") == ""
    missing = Collected("/workspace/nothing", "missing")
    restore([missing, first], session, blobs, tmp_path / "scratch")
    assert said(session, "ls; cat a") == "a\none"


def test_what_lies_within_another_declared_path_is_restored_after_it(
    opener: Opener, said: Said, tmp_path: Path
) -> None:
    blobs, session = BlobStore(tmp_path / "blobs"), opener("local")
    file = Entry("sub/x", "file", "100644", 3, blobs.put(b"old"), stored=True)
    outer = Collected("/workspace/out", "collected", "dir", 1, 3, Tree((file,)).store(blobs))
    restore([entry("/workspace/out/sub/x", blobs, b"new"), outer], session, blobs, tmp_path / "scratch")
    assert said(session, "cat out/sub/x") == "new"
