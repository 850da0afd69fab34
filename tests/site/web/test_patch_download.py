"""The patch that is downloaded turns the start world into the agent's, whatever the names, modes and bytes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from runner.blobs import BlobStore
from runner.worlds.changes import Change, ChangeSet, Side
from runner.worlds.tree import Entry, scan
from tests.site.web.one_trial import Story, take_in
from tests.site.web.test_trial_pages import trial_url

pytestmark = pytest.mark.django_db
NAMES = [
    *(b"sp ace", b"tab\there", b"new\nline", b'"quoted"', b"back\\slash", b"\xff\xfe", "ünï".encode(), b"-n", b"\x01"),
    *(b"deep/er/a b", "\u202etxt".encode()),
]
CONTENTS = [
    *(b"", b"no newline", b"\r\nwindows\r\n", b"mixed\r\nends\n\r", b"latin \xe9\n", b"\0binary\xff" * 99, b"\n\n"),
]


def lay_out(folder: Path, files: dict[bytes, bytes]) -> Path:
    for path, data in files.items():
        target = folder / os.fsdecode(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder


def worlds(folder: Path) -> tuple[Path, Path]:
    """Every name is edited, deleted and added once; every content follows and precedes another one."""
    kept = {b"old/" + name: CONTENTS[n % 7] for n, name in enumerate(NAMES)} | {
        b"gone/" + name: CONTENTS[(n + 3) % 7] for n, name in enumerate(NAMES)
    }
    turned = {b"turn/%d-%d" % (a, b): (CONTENTS[a], CONTENTS[b]) for a in range(7) for b in range(7)}
    sets = (b"run", b"both", b"link", b"folder/in")
    before = lay_out(folder / "before", kept | {p: old for p, (old, _) in turned.items()} | dict.fromkeys(sets, b"x\n"))
    edited = {b"old/" + name: CONTENTS[(n + 2) % 7] + b"more" for n, name in enumerate(NAMES)}
    added = {b"new/" + name: CONTENTS[(n + 1) % 7] for n, name in enumerate(NAMES)}
    modes = {b"run": b"x\n", b"both": b"y\n", b"folder": b"a file now\n"}
    after = lay_out(folder / "after", edited | added | {p: new for p, (_, new) in turned.items()} | modes)
    for name in ("run", "both"):
        (after / name).chmod(0o755)
    (after / "link").symlink_to(os.fsdecode(b"../out\xff side"))
    return before, after


def record(before: Path, after: Path, blobs: BlobStore) -> bytes:
    old, new = (scan(place, refuse=False, blobs=blobs, limit=1_000_000).by_path for place in (before, after))

    def side(entry: Entry | None) -> Side | None:
        if entry is None or entry.type == "dir":
            return None
        return Side(entry.type, entry.mode, entry.size, entry.sha256, entry.stored, entry.target)

    pairs = ((path, side(old.get(path)), side(new.get(path))) for path in sorted({*old, *new}, key=os.fsencode))
    kinds = ((path, "added" if a is None else "deleted" if b is None else "modified", a, b) for path, a, b in pairs)
    changes = tuple(Change(path, kind, a, b) for path, kind, a, b in kinds if a != b)
    return json.dumps(ChangeSet(changes).to_json()).encode()


def leaves(place: Path) -> list[tuple[Any, ...]]:
    found = scan(place, refuse=False).entries
    return [(e.path, e.mode, e.sha256, e.target) for e in found if e.type != "dir" and not e.path.startswith(".git/")]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed; on Debian: apt install git")
def test_git_apply_takes_hostile_names_modes_links_binaries_and_every_end_of_file(client, tmp_path):
    before, after = worlds(tmp_path)
    run = take_in(tmp_path, Story(record=record(before, after, BlobStore(tmp_path / ".bench" / "blobs"))))
    patch = b"".join(client.get(trial_url(run, "changes/patch/")).streaming_content)
    assert b"left out" not in patch
    subprocess.run(["git", "init", "-q"], cwd=before, check=True)
    for flags in ([], ["-R"], []):
        command = ["git", "apply", "--whitespace=nowarn", *flags, "-"]
        done = subprocess.run(command, cwd=before, input=patch, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    assert leaves(before) == leaves(after)
