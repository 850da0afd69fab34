"""The patch is git's: `git apply` turns the template into what the agent left."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.blobs import BlobStore
from runner.worlds.copying import copy_world
from runner.worlds.lines import count_between
from runner.worlds.patch import git_patch, quoted
from runner.worlds.tree import scan

from .conftest import Trial

Start = Callable[..., Trial]


def applied(patch: bytes, template: Path, target: Path) -> Path:
    """Apply a patch to a fresh copy of the template, by git itself."""
    copy_world(template, target)
    env = {**os.environ, "GIT_CEILING_DIRECTORIES": str(target.parent), "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"], input=patch, cwd=target, env=env, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode() + patch.decode(errors="replace")
    return target


def leaves(root: Path) -> list[tuple[str, str, str | None, str | None]]:
    """What git keeps of a tree: no directories."""
    return [(e.path, e.mode, e.sha256, e.target) for e in scan(root, refuse=False).entries if e.type != "dir"]


def check(trial: Trial, template: Path, tmp_path: Path) -> bytes:
    patch = git_patch(trial.changes(), trial.blobs)
    assert leaves(applied(patch, template, tmp_path / "applied")) == leaves(trial.world)
    return patch


def test_text_edits_deletions_and_additions_apply(trial: Trial, template: Path, tmp_path: Path) -> None:
    (trial.world / "src" / "parser.py").write_text("zero\none\nTWO\n")
    (trial.world / "src" / "run.sh").unlink()
    (trial.world / "new" / "deep").mkdir(parents=True)
    (trial.world / "new" / "deep" / "file").write_text("x\n" * 50)
    check(trial, template, tmp_path)


@pytest.mark.parametrize(
    "content",
    [b"", b"no newline", b"\r\nwindows\r\n", b"mixed\r\nends\n\r", b"\n", b"\n\n\n", b"latin \xe9\n", b"\x0c\x0b\n"],
)
def test_every_kind_of_text_applies_both_ways(trial: Trial, template: Path, tmp_path: Path, content: bytes) -> None:
    (trial.world / "src" / "parser.py").write_bytes(content)
    (trial.world / "README").write_bytes(content + b"more\n")
    (trial.world / "added").write_bytes(content)
    patch = check(trial, template, tmp_path)
    assert b"GIT binary patch" not in patch


def test_from_no_newline_to_newline_and_from_empty_apply(template: Path, start: Start, tmp_path: Path) -> None:
    (template / "void").touch()
    trial = start()
    (trial.world / "README").write_text("hello\n")
    (trial.world / "void").write_text("filled")
    (trial.world / "src" / "parser.py").write_text("")
    check(trial, template, tmp_path)


@pytest.mark.parametrize("size", [1, 51, 52, 53, 26, 27, 4096, 200_000])
def test_binaries_of_every_length_apply(trial: Trial, template: Path, tmp_path: Path, size: int) -> None:
    chance = random.Random(size)
    (trial.world / "data.bin").write_bytes(b"\0" + chance.randbytes(size))
    (trial.world / "new.bin").write_bytes(b"\0" * size)
    (trial.world / "README").write_bytes(b"\0now binary")
    patch = check(trial, template, tmp_path)
    assert patch.count(b"GIT binary patch\n") == 3


def test_a_deleted_and_a_fresh_binary_apply(trial: Trial, template: Path, tmp_path: Path) -> None:
    (trial.world / "data.bin").unlink()
    (trial.world / "other.bin").write_bytes(bytes(range(256)))
    check(trial, template, tmp_path)


def test_modes_alone_and_with_content_apply(trial: Trial, template: Path, tmp_path: Path) -> None:
    (trial.world / "src" / "run.sh").chmod(0o644)
    (trial.world / "README").chmod(0o755)
    (trial.world / "README").write_text("new\n")
    (trial.world / "tool").write_text("#!/bin/sh\n")
    (trial.world / "tool").chmod(0o755)
    check(trial, template, tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        b"sp ace", b"tab\there", b"new\nline", b'"quoted"', b"back\\slash", b"\xff\xfe", "ünï".encode(), b" ", b"-n",
        b"a b/c d", b"\x01\x7f",
    ],
)  # fmt: skip
def test_hostile_names_apply(start: Start, template: Path, tmp_path: Path, name: bytes) -> None:
    old, new = os.fsdecode(b"old " + name), os.fsdecode(name)
    for folder in (template, template / "src"):
        (folder / old).parent.mkdir(parents=True, exist_ok=True)
        (folder / old).write_text("a\nb\n")
    trial = start()
    (trial.world / old).write_text("a\nB\n")
    (trial.world / "src" / old).unlink()
    (trial.world / new).parent.mkdir(parents=True, exist_ok=True)
    (trial.world / new).write_text("fresh")
    (trial.world / "empty" / new).parent.mkdir(parents=True, exist_ok=True)
    (trial.world / "empty" / new).touch(mode=0o755)
    check(trial, template, tmp_path)


def test_links_apply_as_links_and_a_file_may_become_one(trial: Trial, template: Path, tmp_path: Path) -> None:
    (trial.world / "link").symlink_to("src/parser.py")
    (trial.world / "README").unlink()
    (trial.world / "README").symlink_to("data.bin")
    check(trial, template, tmp_path)


def test_a_directory_replaced_by_a_file_applies(trial: Trial, template: Path, tmp_path: Path) -> None:
    for name in ("parser.py", "run.sh"):
        (trial.world / "src" / name).unlink()
    (trial.world / "src").rmdir()
    (trial.world / "src").write_text("a file now\n")
    check(trial, template, tmp_path)


def test_what_a_patch_cannot_hold_is_named_and_the_rest_still_applies(
    start: Start, template: Path, tmp_path: Path
) -> None:
    trial = start(max_bytes=2000)
    (trial.world / "huge\nname").write_bytes(b"x" * 3000)
    os.mkfifo(trial.world / "pipe")
    (trial.world / "README").write_text("small\n")
    patch = git_patch(trial.changes(), trial.blobs)
    assert b'# left out: "huge\\nname" (added file, 3000 bytes)' in patch
    assert b"# left out: pipe (added fifo)" in patch
    assert (applied(patch, template, tmp_path / "applied") / "README").read_text() == "small\n"


def test_no_change_is_an_empty_patch(trial: Trial) -> None:
    assert git_patch(trial.changes(), trial.blobs) == b""


def test_names_are_quoted_as_git_quotes_them() -> None:
    assert quoted(b"a/", "plain name") == b"a/plain name"
    assert quoted(b"a/", os.fsdecode(b'\xff"\\\n\x01')) == b'"a/\\377\\"\\\\\\n\\001"'


TEXT = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"c\r\n", b"  a\n", b"d"]), max_size=12).map(b"".join)


@given(old=TEXT, new=TEXT)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_any_two_texts_apply_and_count_as_git_counts(
    old: bytes, new: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("pair")
    for name, data in (("old", old), ("new", new)):
        (folder / name).write_bytes(data)
    done = subprocess.run(
        ["git", "diff", "--no-index", "--no-color", "--numstat", "old", "new"], cwd=folder, capture_output=True
    )
    added, deleted = (int(number) for number in (done.stdout.split() or [b"0", b"0"])[:2])
    assert count_between(old, new) == (added, deleted)


def test_blobs_of_both_sides_are_named_for_who_carries_the_record(trial: Trial, blobs: BlobStore) -> None:
    (trial.world / "README").write_text("new")
    changes = trial.changes()
    assert len(changes.digests()) == 2
    assert all(blobs.has(digest) for digest in changes.digests())
