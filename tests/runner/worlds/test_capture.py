"""What a capture sees of a world that an agent, perhaps a hostile one, has worked in."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.blobs import BlobStore
from runner.digests import sha256
from runner.worlds import baseline as baseline_module
from runner.worlds.backends import Copying
from runner.worlds.baseline import take_baseline
from runner.worlds.capture import Change, ChangeSet, capture, capture_and_advance
from runner.worlds.copying import copy_world
from runner.worlds.places import Place
from runner.worlds.rules import Rules
from runner.worlds.tree import scan
from runner.worlds.walk import Found

from .conftest import Trial, without_root_powers

Start = Callable[..., Trial]


def watch_reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note which files a look at the world reads."""
    read: list[str] = []
    really = baseline_module.read_whole

    def watched(found: Found, limit: int) -> tuple[str, int, bytes | None] | None:
        read.append(found.path)
        return really(found, limit)

    monkeypatch.setattr(baseline_module, "read_whole", watched)
    return read


def only(changes: ChangeSet) -> Change:
    assert len(changes.changes) == 1, changes.paths()
    return changes.changes[0]


def test_an_untouched_world_has_no_changes(trial: Trial) -> None:
    assert trial.changes() == ChangeSet()


def test_added_modified_and_deleted_are_told_apart_with_both_sides(trial: Trial) -> None:
    (trial.world / "src" / "parser.py").write_text("one\nTWO\nthree\n")
    (trial.world / "README").unlink()
    (trial.world / "docs").mkdir()
    (trial.world / "docs" / "new.md").write_text("a\nb\n")
    changes = trial.changes()
    assert [(change.path, change.kind) for change in changes.changes] == [
        ("README", "deleted"),
        ("docs/new.md", "added"),
        ("src/parser.py", "modified"),
    ]
    assert changes.made == ("docs",)
    modified = changes.changes[2]
    assert modified.before
    assert modified.after
    assert trial.blobs.read(modified.before.sha256 or "") == b"one\ntwo\nthree\n"
    assert trial.blobs.read(modified.after.sha256 or "") == b"one\nTWO\nthree\n"
    assert changes.counts() == {
        "added": 1, "modified": 1, "deleted": 1, "links": 0, "lines_added": 3, "lines_deleted": 2,
    }  # fmt: skip


def test_a_change_of_mode_alone_is_a_change_and_other_bits_are_none(trial: Trial) -> None:
    (trial.world / "src" / "parser.py").chmod(0o755)
    (trial.world / "README").chmod(0o600)
    change = only(trial.changes())
    assert change.path == "src/parser.py"
    assert change.before
    assert change.after
    assert (change.before.mode, change.after.mode) == ("100644", "100755")
    assert change.after.stored
    assert (change.lines_added, change.lines_deleted) == (0, 0)


def test_a_same_size_edit_with_its_time_put_back_is_seen(trial: Trial) -> None:
    file = trial.world / "src" / "parser.py"
    before = file.stat()
    file.write_text("one\nTWO\nthree\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert only(trial.changes()).path == "src/parser.py"


def test_a_file_swapped_for_one_of_the_same_size_and_time_is_seen(trial: Trial) -> None:
    file, other = trial.world / "src" / "parser.py", trial.world / "other"
    other.write_text("one\nTWO\nthree\n")
    os.utime(other, ns=(0, file.stat().st_mtime_ns))
    other.rename(file)
    assert only(trial.changes()).kind == "modified"


def test_a_touch_and_an_edit_taken_back_are_no_changes(trial: Trial) -> None:
    (trial.world / "README").touch()
    file = trial.world / "src" / "parser.py"
    data = file.read_bytes()
    file.write_bytes(b"changed")
    file.write_bytes(data)
    assert trial.changes() == ChangeSet()


def test_links_are_recorded_and_never_followed(trial: Trial, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("do not read")
    (trial.world / "to_file").symlink_to(secret / "key")
    (trial.world / "to_folder").symlink_to(secret)
    (trial.world / "README").unlink()
    (trial.world / "README").symlink_to("src/parser.py")
    changes = trial.changes()
    assert [(change.path, change.kind) for change in changes.changes] == [
        ("README", "link"),
        ("to_file", "link"),
        ("to_folder", "link"),
    ]
    assert changes.changes[1].after
    assert changes.changes[1].after.target == str(secret / "key")
    assert not trial.blobs.has(sha256(b"do not read"))


def test_a_directory_replaced_by_a_link_loses_its_files_and_leads_nowhere(trial: Trial) -> None:
    for name in ("parser.py", "run.sh"):
        (trial.world / "src" / name).unlink()
    (trial.world / "src").rmdir()
    (trial.world / "src").symlink_to("/usr/bin")
    changes = trial.changes()
    assert [(change.path, change.kind) for change in changes.changes] == [
        ("src", "link"),
        ("src/parser.py", "deleted"),
        ("src/run.sh", "deleted"),
    ]
    assert changes.removed == ("src",)


def test_fifos_and_sockets_are_recorded_without_opening_them(trial: Trial) -> None:
    os.mkfifo(trial.world / "pipe")
    before = Path.cwd()
    os.chdir(trial.world)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock")
    os.chdir(before)
    changes = trial.changes()
    assert [(change.path, change.after.type if change.after else "") for change in changes.changes] == [
        ("pipe", "fifo"),
        ("sock", "socket"),
    ]
    assert changes.incomplete() == ["pipe", "sock"]


def test_odd_names_survive_the_record(trial: Trial) -> None:
    names = sorted([b"new\nline", b"\xff\xfe", b" ", b'"q"', "ü".encode()])
    for name in names:
        (trial.world / os.fsdecode(name)).write_text("x")
    changes = trial.changes()
    assert [os.fsencode(path) for path in changes.paths()] == names
    assert ChangeSet.from_json(changes.to_json()) == changes


def test_closed_files_and_directories_are_named_and_nothing_below_counts_as_deleted(trial: Trial) -> None:
    (trial.world / "README").chmod(0)
    (trial.world / "src").chmod(0)
    try:
        with without_root_powers():
            changes = trial.changes()
    finally:
        (trial.world / "src").chmod(0o755)
    assert [(change.path, change.after and change.after.type) for change in changes.changes] == [
        ("README", "unreadable"),
        ("src", "unreadable"),
    ]
    assert changes.incomplete() == ["README", "src"]


def test_what_setup_wrote_is_not_the_agents_and_its_bytes_are_kept(start: Start) -> None:
    def setup(world: Path) -> None:
        (world / "src" / "parser.py").write_text("by setup\n")
        (world / "generated").write_text("by setup too\n")
        (world / "link").symlink_to("README")

    trial = start(setup)
    assert trial.changes() == ChangeSet()
    (trial.world / "src" / "parser.py").write_text("by the agent\n")
    (trial.world / "link").unlink()
    changes = trial.changes()
    assert [(change.path, change.kind) for change in changes.changes] == [
        ("link", "deleted"),
        ("src/parser.py", "modified"),
    ]
    before = changes.changes[1].before
    assert before
    assert trial.blobs.read(before.sha256 or "") == b"by setup\n"


def test_an_edit_by_setup_of_the_same_size_and_time_is_not_taken_for_the_template(start: Start) -> None:
    def setup(world: Path) -> None:
        file = world / "src" / "parser.py"
        before = file.stat()
        file.write_text("one\nTWO\nthree\n")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    trial = start(setup)
    state = trial.baseline.states["src/parser.py"]
    assert state.sha256 == sha256(b"one\nTWO\nthree\n")
    assert trial.changes() == ChangeSet()


def test_large_files_are_hashed_and_not_stored(start: Start) -> None:
    trial = start(max_bytes=1000)
    (trial.world / "data.bin").write_bytes(b"x" * 2000)
    change = only(trial.changes())
    assert change.before
    assert change.after
    assert (change.before.stored, change.after.stored) == (False, False)
    assert change.after.sha256 == sha256(b"x" * 2000)
    assert not trial.blobs.has(change.after.sha256)
    assert trial.changes().incomplete() == ["data.bin"]


def test_ignored_paths_are_left_out_by_gitignore_rules(start: Start) -> None:
    trial = start(ignore=("*.log", "!keep.log", "/build/", "node_modules"))
    for name in ("a.log", "keep.log", "build/x", "src/build/x", "node_modules/y", "src/node_modules/z"):
        (trial.world / name).parent.mkdir(parents=True, exist_ok=True)
        (trial.world / name).write_text("x")
    assert trial.changes().paths() == ["keep.log", "src/build/x"]


def test_an_ignored_name_that_ends_in_a_slash_spares_files(start: Start) -> None:
    trial = start(ignore=("cache/",))
    (trial.world / "cache").mkdir()
    (trial.world / "cache" / "x").write_text("x")
    (trial.world / "src" / "cache").write_text("a file")
    assert trial.changes().paths() == ["src/cache"]


def test_empty_directories_are_recorded_apart_from_changed_paths(trial: Trial) -> None:
    (trial.world / "made" / "inner").mkdir(parents=True)
    (trial.world / "empty").rmdir()
    changes = trial.changes()
    assert changes.paths() == []
    assert (changes.made, changes.removed) == (("made", "made/inner"), ("empty",))


def test_the_next_stage_is_measured_from_where_the_agent_stopped(trial: Trial) -> None:
    (trial.world / "README").write_text("by the agent")
    agent, left = capture_and_advance(trial.world, trial.baseline, trial.blobs, trial.rules)
    (trial.world / "README").write_text("by the evaluation")
    (trial.world / "report").write_text("by the evaluation")
    later = capture(trial.world, left, trial.blobs, trial.rules)
    assert agent.paths() == ["README"]
    assert later.paths() == ["README", "report"]
    assert later.changes[0].before == agent.changes[0].after
    assert trial.baseline.advanced(trial.world, trial.blobs, trial.rules).states["README"].sha256 == sha256(
        b"by the evaluation"
    )


def test_a_world_without_a_template_counts_only_what_the_agent_makes(place: Place, blobs: BlobStore) -> None:
    rules = Rules((), 1000)
    copied = copy_world(None, place.world)
    baseline = take_baseline(place.world, None, blobs, rules, copied)
    (place.world / "answer.txt").write_text("42\n")
    assert capture(place.world, baseline, blobs, rules).counts()["added"] == 1


def test_without_the_copys_word_everything_is_hashed_and_comes_out_the_same(
    template: Path, place: Place, blobs: BlobStore
) -> None:
    rules = Rules((), 1000)
    copy_world(template, place.world)
    baseline = take_baseline(place.world, scan(template), blobs, rules)
    assert capture(place.world, baseline, blobs, rules) == ChangeSet()


@pytest.mark.parametrize("style", ["copy"], indirect=True)
def test_times_of_a_network_file_system_are_never_trusted(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline_module, "times_can_be_trusted", lambda folder: False)
    trial = start()
    read: list[str] = []
    really = baseline_module.read_whole
    monkeypatch.setattr(
        baseline_module, "read_whole", lambda found, limit: read.append(found.path) or really(found, limit)
    )
    assert trial.changes() == ChangeSet()
    assert sorted(read) == ["README", "data.bin", "src/parser.py", "src/run.sh"]


def test_a_world_nobody_was_in_since_its_copy_is_not_read_and_a_change_in_that_instant_is_seen(
    template: Path, place: Place, blobs: BlobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules, read = Rules((), 1000), list[str]()
    really = baseline_module.read_whole
    monkeypatch.setattr(
        baseline_module, "read_whole", lambda found, limit: read.append(found.path) or really(found, limit)
    )
    baseline = Copying(template, scan(template)).set_up(place, alone=True)(blobs, rules)
    assert read == []
    file = place.world / "README"
    was, text = file.stat(), file.read_text()
    file.write_text(text.swapcase())
    os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert capture(place.world, baseline, blobs, rules).paths() == ["README"]


@pytest.mark.parametrize("ignore", [(), (".cache/",), ("*.py",)])
def test_a_world_as_copied_has_the_baseline_that_a_look_at_it_gives(
    template: Path, place: Place, blobs: BlobStore, ignore: tuple[str, ...]
) -> None:
    (template / ".cache").mkdir()
    (template / ".cache" / "kept").write_text("x")
    rules, tree = Rules(ignore, 1000), scan(template)
    told = Copying(template, tree).set_up(place, alone=True)(blobs, rules)
    looked = take_baseline(place.world, tree, blobs, rules)
    assert (told.states, told.aside) == (looked.states, looked.aside)


def test_a_template_that_is_not_what_was_copied_is_looked_at(template: Path, place: Place, blobs: BlobStore) -> None:
    tree = scan(template)
    (template / "later").write_text("x")
    told = Copying(template, tree).set_up(place, alone=True)(blobs, Rules((), 1000))
    assert told.states["later"].sha256 == sha256(b"x")


def test_a_touched_file_is_read_and_old_ones_are_not(
    template: Path, place: Place, blobs: BlobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules, copied = Rules((), 1000), copy_world(template, place.world)
    later = copied.clock + 10 * baseline_module.GUARD
    monkeypatch.setattr(baseline_module, "clock_of", lambda folder: later)
    copied.clock = later
    read: list[str] = []
    really = baseline_module.read_whole
    monkeypatch.setattr(
        baseline_module, "read_whole", lambda found, limit: read.append(found.path) or really(found, limit)
    )
    baseline = take_baseline(place.world, scan(template), blobs, rules, copied)
    assert read == []
    (place.world / "README").write_text("HELLO")
    assert capture(place.world, baseline, blobs, rules).paths() == ["README"]
    assert read == ["README"]
