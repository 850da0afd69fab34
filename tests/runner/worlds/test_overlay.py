"""An overlay world shows, records and keeps what a copy would, whatever was done in it."""

from __future__ import annotations

import errno
import itertools
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from runner.blobs import BlobStore
from runner.errors import EnvironmentRefused
from runner.worlds import backends, mounting
from runner.worlds.aside import touched
from runner.worlds.backends import Choice, Copying, Overlay, choose_world
from runner.worlds.capture import ChangeSet, capture, capture_and_advance
from runner.worlds.keeping import keep, script
from runner.worlds.layers import Lower
from runner.worlds.places import make_place
from runner.worlds.rules import Rules
from runner.worlds.tree import Tree, scan

from .conftest import BACKENDS, Trial

Start = Callable[..., Trial]
MOUNTED = [style for style in BACKENDS if style != "copy"]
WORLD = {
    "a/one.txt": "one\n", "a/two.txt": "two\n", "a/deep/er/three.txt": "three\n", "b/four.txt": "four\n",
    "b/run.sh": "#!/bin/sh\n", "c/x/five.txt": "five\n", "c/y/six.txt": "six\n", "top.txt": "top\n", "build/old.o": "o",
}  # fmt: skip
RULES = Rules(("build/", "*.log"), 1 << 20)


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    root = tmp_path / "wide"
    for name, text in WORLD.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "empty").mkdir()
    return root


def move(source: Path, target: Path) -> None:
    """As `mv` does: where the kernel does not rename a folder, copy it and remove the old one."""
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.copytree(source, target, symlinks=True)
        shutil.rmtree(source)


def meddle(world: Path, chance: random.Random, steps: int = 25, *, hard_links: bool) -> None:
    """Do what agents do to a world, in an order that a seed chooses. A folder that `mv` copies loses hard links."""
    for step in range(steps):
        paths = sorted(path for path in world.rglob("*"))
        folders = [world, *(path for path in paths if path.is_dir() and not path.is_symlink())]
        files = [path for path in paths if path.is_file() and not path.is_symlink()]
        one, folder, fresh = chance.choice(files or [world / "new"]), chance.choice(folders), f"new{step % 7}"
        act = chance.randrange(12)
        if act == 0:
            (folder / fresh).write_text(f"{step}\n") if not (folder / fresh).is_dir() else None
        elif act == 1 and one.exists():
            one.write_bytes(one.read_bytes())
        elif act == 2 and one.exists():
            one.chmod(chance.choice((0o755, 0o644, 0o600)))
        elif act == 3 and one.exists():
            one.unlink()
        elif act == 4 and one.exists() and not (folder / fresh).exists():
            one.rename(folder / fresh)
        elif act in (5, 6) and folder != world:
            target = chance.choice([other for other in folders if folder not in (other, *other.parents)]) / fresh
            if not os.path.lexists(target):
                move(folder, target)
        elif act == 7 and folder != world:
            shutil.rmtree(folder)
            if chance.random() < 0.7:
                folder.mkdir()
                (folder / "one.txt").write_text("again\n")
        elif act == 8 and not os.path.lexists(folder / fresh):
            (folder / fresh).symlink_to(chance.choice(("top.txt", "/etc", "nowhere")))
        elif act == 9 and hard_links and one.exists() and not os.path.lexists(folder / fresh):
            (folder / fresh).hardlink_to(one)
        elif act == 10 and one.exists():
            one.unlink()
            one.mkdir()
            (one / "inner.txt").write_text("a folder now\n")
        elif act == 11 and folder != world:
            shutil.rmtree(folder)
            folder.write_text("a file now\n")


def seen(world: Path) -> dict[str, object]:
    """What a world holds, apart from times."""
    return {
        str(path.relative_to(world)): (
            path.lstat().st_mode,
            path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else "",
        )
        for path in sorted(world.rglob("*"))
    }


def test_copy_and_overlay_agree_about_whatever_was_done_and_keep_the_same_world(
    wide: Path, worlds: Path, tmp_path: Path
) -> None:
    blobs, tree = BlobStore(tmp_path / "blobs"), scan(wide)
    lower = Lower(wide, tree, RULES)
    for seed, style in zip(range(6), itertools.cycle(MOUNTED)):
        links = style == mounting.TRUSTED
        told: list[tuple[ChangeSet, ChangeSet, bool, dict[str, object], dict[str, object]]] = []
        for number, way in enumerate((Copying(wide, tree), Overlay(style, lower))):
            place, chance = make_place("run", seed, number), random.Random(seed)
            baseline = way.set_up(place)(blobs, RULES)
            meddle(place.world, chance, hard_links=links)
            changes, left = capture_and_advance(place.world, baseline, blobs, RULES)
            meddle(place.world, chance, 6, hard_links=links)
            later = capture(place.world, left, blobs, RULES)
            live = seen(place.world)
            if number:
                subprocess.run(["umount", place.world], check=True)
            kept = keep(place, tmp_path, seed, number, blobs, RULES, wide)
            ignored = bool(touched(baseline.aside, left.aside, RULES))
            told.append((changes, later, ignored, live, seen(tmp_path / kept.path)))
            assert told[-1][3] == told[-1][4], f"seed {seed}"
        assert told[0] == told[1], f"seed {seed}"


def test_a_renamed_folder_of_the_template_is_told_file_by_file(start: Start, style: str) -> None:
    trial = start()
    if style == mounting.OWN:
        with pytest.raises(OSError, match="cross-device"):
            (trial.world / "src").rename(trial.world / "lib")
        return
    (trial.world / "src").rename(trial.world / "lib")
    (trial.world / "lib" / "run.sh").write_text("#!/bin/sh\nexit 0\n")
    changes = trial.changes()
    assert [(change.path, change.kind) for change in changes.changes] == [
        ("lib/parser.py", "added"),
        ("lib/run.sh", "added"),
        ("src/parser.py", "deleted"),
        ("src/run.sh", "deleted"),
    ]
    assert (changes.made, changes.removed) == (("lib",), ("src",))


def test_hard_links_are_two_changed_paths_with_one_content(start: Start) -> None:
    trial = start()
    (trial.world / "again").hardlink_to(trial.world / "README")
    (trial.world / "again").write_text("both\n")
    assert trial.changes().paths() == ["README", "again"]


def test_a_closed_folder_hides_and_an_opened_one_shows_its_files_again(start: Start) -> None:
    from .conftest import without_root_powers

    trial = start()
    (trial.world / "src" / "parser.py").write_text("edited\n")
    (trial.world / "src").chmod(0)
    with without_root_powers():
        closed, left = capture_and_advance(trial.world, trial.baseline, trial.blobs, trial.rules)
    assert closed.paths() == ["src"]
    (trial.world / "src").chmod(0o755)
    assert capture(trial.world, left, trial.blobs, trial.rules).paths() == ["src", "src/parser.py", "src/run.sh"]


@pytest.mark.parametrize("style", MOUNTED or ["copy"], indirect=True)
def test_what_nobody_touched_is_not_even_looked_at(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    really = os.scandir
    trial = start()
    (trial.world / "src" / "parser.py").write_text("edited\n")
    monkeypatch.setattr(os, "scandir", lambda folder: looked.append(str(folder)) or really(folder))
    assert trial.changes().paths() == ["src/parser.py"]
    assert len(looked) == (2 if MOUNTED else 3)  # root and src, of the upper layer alone: not the folder `empty`


def ask(
    wanted: str,
    template: Path,
    tree: Tree,
    environment: str = "local",
    said: str = "trusted ok",
    enough: int = 1,
    code: Sequence[str] = (),
) -> Choice:
    """Choose as `prepare` does, on a machine whose kernel says so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backends, "try_styles", lambda source: dict([said.split(" ", 1)]))
        patch.setattr(backends, "PAYS_FROM", enough)
        return choose_world(wanted, template, tree, environment, code)


def test_auto_takes_an_overlay_only_where_it_pays_and_looks_the_same(template: Path, worlds: Path) -> None:
    tree = scan(template)
    assert ask("auto", template, tree).name == "overlay"
    assert ask("auto", template, tree, enough=tree.files + 1).name == "copy"
    assert ask("auto", template, tree, said="user flat").name == "copy"
    assert ask("auto", template, tree, environment="container").name == "copy"
    assert ask("copy", template, tree).name == "copy"
    suite = ["docker compose run --rm tests"]
    assert ask("auto", template, tree, code=suite).name == "copy"
    assert ask("auto", template, tree, code=suite, environment="sandbox").name == "overlay"
    assert ask("overlay", template, tree, code=suite).name == "overlay"
    flat = ask("overlay", template, tree, said="user flat")
    assert flat.style == "user"
    assert "EXDEV" in flat.warning
    assert choose_world("overlay", None, None, "local").name == "copy"


def test_an_overlay_that_cannot_be_had_is_refused_with_the_reason(
    template: Path, worlds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = scan(template)
    with pytest.raises(EnvironmentRefused, match=r"kernel refuses.*unshare: Operation not permitted.*--world copy"):
        ask("overlay", template, tree, said="user unshare: Operation not permitted")
    with pytest.raises(EnvironmentRefused, match="'container' would not see"):
        ask("overlay", template, tree, environment="container")
    with pytest.raises(EnvironmentRefused, match="'ramdisk'; choose auto, copy, overlay"):
        ask("ramdisk", template, tree)
    monkeypatch.setenv("BENCHSITE_WORLD", "ramdisk")
    with pytest.raises(EnvironmentRefused, match="BENCHSITE_WORLD: there are no worlds of the kind 'ramdisk'; choose"):
        choose_world(None, template, tree, "local")
    monkeypatch.setenv("BENCHSITE_WORLD", "copy")
    assert choose_world(None, template, tree, "local").name == "copy"


def test_a_template_with_files_of_other_users_is_copied(template: Path, worlds: Path) -> None:
    tree = scan(template)
    os.chown(template / "README", 12345, 12345)
    assert ask("auto", template, tree).name == "copy"
    with pytest.raises(EnvironmentRefused, match="README belongs to another user"):
        ask("overlay", template, tree)


def test_trying_leaves_nothing_behind_and_agrees_with_what_this_process_may_do(template: Path, worlds: Path) -> None:
    before = Path("/proc/self/mountinfo").read_text()
    tried = backends.try_styles(template)
    assert list(tried) == list(mounting.STYLES)
    assert (tried[mounting.TRUSTED] == "ok") == (mounting.TRUSTED in BACKENDS)
    assert list(worlds.iterdir()) == []
    assert Path("/proc/self/mountinfo").read_text() == before


def test_in_a_user_namespace_nobody_gains_power_and_the_world_is_written_out_whole(
    template: Path, worlds: Path, tmp_path: Path, blobs: BlobStore
) -> None:
    """Done by a process of its own, since a user namespace cannot be left again."""
    if "user" not in {style for style, said in backends.try_styles(template).items() if said in ("ok", "flat")}:
        assert choose_world("auto", template, scan(template), "local").style != mounting.USER
        return
    place = make_place("run", 1, 1)
    code = f"""if True:
        import os, sys
        sys.path.insert(0, {str(Path(mounting.__file__).parent)!r})
        import mounting
        layers, world = {str(place.layers("user"))!r}, {str(place.world)!r}
        mounting.make_layers(layers)
        mounting.mount("user", {str(template)!r}, layers, world)
        os.remove(world + "/README")
        os.mkdir(world + "/README")
        os.chmod(world + "/src/run.sh", 0)
        print(open("/proc/self/status").read().split("CapEff:")[1].split()[0], os.getuid(), os.stat(world).st_uid)
    """
    said = subprocess.run([*script()[:-1], "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert said == ["0000000000000000", str(os.getuid()), str(os.getuid())]
    kept = tmp_path / keep(place, tmp_path, 1, 1, blobs, Rules((), 1000), template).path
    assert sorted(path.name for path in kept.iterdir()) == ["README", "data.bin", "empty", "src"]
    assert (kept / "README").is_dir()
    assert (kept / "src" / "run.sh").stat().st_mode & 0o777 == 0
    assert (template / "README").is_file()
