"""Trees: the template hash, what is refused, and the record of a kept world."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from runner.blobs import BlobStore
from runner.errors import BenchError, PathRefused, RunnerError
from runner.evidence import _copied
from runner.worlds.places import remove_tree
from runner.worlds.tree import Tree, scan, store_tree
from runner.worlds.walk import MAX_DEPTH


def test_the_hash_follows_content_names_and_the_executable_bit_alone(template: Path) -> None:
    before = scan(template).hash
    (template / "README").chmod(0o600)
    os.utime(template / "README", ns=(5, 5))
    assert scan(template).hash == before, "a umask or a touch must not split cohorts"
    (template / "README").chmod(0o700)
    executable = scan(template).hash
    (template / "README").chmod(0o600)
    (template / "README").write_text("other")
    assert len({before, executable, scan(template).hash}) == 3


def test_the_hash_knows_a_rename_and_an_empty_directory(template: Path) -> None:
    hashes = {scan(template).hash}
    (template / "README").rename(template / "READNE")
    hashes.add(scan(template).hash)
    (template / "another").mkdir()
    hashes.add(scan(template).hash)
    assert len(hashes) == 3


@pytest.mark.parametrize("kind", ["a symbolic link", "a fifo", "a socket"])
def test_what_cannot_be_copied_is_refused_with_its_path(template: Path, kind: str) -> None:
    odd = template / "src" / "odd"
    if kind == "a symbolic link":
        odd.symlink_to("parser.py")
    elif kind == "a fifo":
        os.mkfifo(odd)
    else:
        before = Path.cwd()
        os.chdir(odd.parent)  # the path of a socket may be 108 bytes long
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("odd")
        os.chdir(before)
    with pytest.raises(BenchError, match=kind) as refused:
        scan(template)
    assert str(odd) in str(refused.value)


def test_a_tree_comes_back_from_its_json_with_odd_names(template: Path) -> None:
    (template / os.fsdecode(b"\xff\n")).write_text("odd")
    (template / "link").symlink_to(os.fsdecode(b"to\xff"))
    tree = scan(template, refuse=False)
    assert Tree.from_json(tree.to_json()) == tree
    assert tree.by_path["link"].target == os.fsdecode(b"to\xff")


def test_a_tree_from_outside_cannot_name_a_path_that_leads_out(template: Path) -> None:
    value = scan(template).to_json()
    value["entries"][0]["path"] = "../../etc/passwd"
    with pytest.raises(PathRefused):
        Tree.from_json(value)
    with pytest.raises(RunnerError, match="format"):
        Tree.from_json({"format": "benchsite/tree/99", "entries": []})


def test_files_up_to_the_limit_are_stored_and_larger_ones_are_named_only(template: Path, blobs: BlobStore) -> None:
    tree = store_tree(template, blobs, 100)
    assert tree.by_path["README"].stored
    assert blobs.read(tree.by_path["README"].sha256 or "") == b"hello"
    assert not tree.by_path["data.bin"].stored
    assert not blobs.has(tree.by_path["data.bin"].sha256 or "")


def test_a_very_deep_world_is_recorded_up_to_a_depth_and_the_rest_is_named(tmp_path: Path) -> None:
    root = tmp_path / "deep"
    deepest = root.joinpath(*["d"] * (MAX_DEPTH + 20))
    deepest.mkdir(parents=True)
    entries = scan(root, refuse=False).entries
    assert entries[-1].type == "unreadable"
    assert len(entries) == MAX_DEPTH + 1


def test_a_folder_whose_path_no_program_opens_is_named_and_what_is_in_it_makes_no_record_unreadable(
    tmp_path: Path,
) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(30):  # an agent that goes down step by step makes such a one, and once hid all it had changed so
        os.mkdir("d" * 200, dir_fd=folder)
        inner = os.open("d" * 200, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    tree = scan(tmp_path, refuse=False)
    assert [entry.type for entry in tree.entries] == ["dir"] * 19 + ["unreadable"]
    assert Tree.from_json(tree.to_json()) == tree
    opened = _copied(tmp_path, tmp_path.parent / "opened")
    for left in (opened.path, tmp_path):
        remove_tree(left / ("d" * 200))
    assert opened.missing == ("paths longer than this system opens there, with what lies below them: 1",)
