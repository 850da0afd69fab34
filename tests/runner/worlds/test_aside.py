"""What the capture ignores: whatever an agent does to it is named, wherever it lies, and caches are nobody's work."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.definition import DEFAULT_IGNORE
from runner.errors import PathRefused
from runner.scenario.preparing import GIT_ENV
from runner.worlds.aside import MOST, NAMED, WHOLE, bring_back, names_of, touched
from runner.worlds.capture import capture_and_advance
from runner.worlds.rules import Rules

from .conftest import Trial

Start = Callable[..., Trial]
RULES = Rules(DEFAULT_IGNORE, 1 << 20)


def told(trial: Trial) -> tuple[str, ...]:
    """What the next request is told to have touched."""
    changes, left = capture_and_advance(trial.world, trial.baseline, trial.blobs, trial.rules)
    assert changes.paths() == [], "it is in no record"
    names = touched(trial.baseline.aside, left.aside, trial.rules)
    trial.baseline = left
    return names


@pytest.fixture
def deep(start: Start, template: Path) -> Trial:
    for name in ("src/node_modules/a/one.js", "src/node_modules/b/two.js", ".venv/lib/six.py", ".coverage"):
        (template / name).parent.mkdir(parents=True, exist_ok=True)
        (template / name).write_text("1")
    return start()


def test_what_is_written_made_or_removed_below_ignored_folders_is_named(deep: Trial) -> None:
    assert told(deep) == (), "reading and copying is no touching"
    (deep.world / "src/node_modules/a/one.js").write_text("2")
    (deep.world / ".venv/lib/seven.py").write_text("7")
    assert told(deep) == (".venv/lib/seven.py", "src/node_modules/a/one.js")
    (deep.world / ".venv/lib/seven.py").unlink()
    shutil.rmtree(deep.world / "src/node_modules/b")
    (deep.world / "src/.venv/new").mkdir(parents=True)
    (deep.world / "src/.venv/new/x").write_text("x")
    assert told(deep) == (".venv/lib/seven.py", "src/.venv", "src/node_modules/b")
    shutil.rmtree(deep.world / "src/node_modules")
    (deep.world / "src/node_modules").mkdir()
    assert {name.split("/a")[0] for name in told(deep)} == {"src/node_modules"}
    assert told(deep) == ()


def test_caches_are_nobodys_work(deep: Trial) -> None:
    caches = "__pycache__/a.pyc src/__pycache__/b.pyc .venv/lib/__pycache__/c.pyc .venv/lib/d.pyc .pytest_cache/v/x"
    for name in (*caches.split(), ".coverage", "src/node_modules/.cache/x/y", "src/node_modules/.vite/z"):
        (deep.world / name).parent.mkdir(parents=True, exist_ok=True)
        (deep.world / name).write_text("2")
    assert told(deep) == ()
    (deep.world / ".venv/lib/six.py").unlink()
    assert told(deep) == (".venv/lib/six.py",), "a file that went is not hidden by a cache that came beside it"


def test_a_look_at_a_repository_is_no_touch_and_a_commit_is(start: Start) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=trial.world, check=True, env={**GIT_ENV, "PATH": "/usr/bin:/bin"})

    def setup(world: Path) -> None:
        for words in (["init", "-q"], ["add", "-A", "-f"], ["commit", "-qm", "Start"]):
            subprocess.run(["git", *words], cwd=world, check=True, env={**GIT_ENV, "PATH": "/usr/bin:/bin"})

    trial = start(setup)
    index = trial.world / ".git/index"
    was = index.read_bytes()
    os.utime(trial.world / "README", (1, 1))
    git("status", "-s")
    assert index.read_bytes() != was, "git wrote its index anew"
    assert told(trial) == ()
    git("rm", "-q", "--cached", "README")
    assert told(trial) == (".git/index",)
    git("reset", "-q")
    assert ".git/index" in told(trial)
    git("commit", "-q", "--allow-empty", "-m", "More")
    assert ".git/refs/heads" in " ".join(told(trial))


def test_long_lists_are_told_by_their_folders_and_beyond_measure_by_the_world() -> None:
    many = [f"a/node_modules/{number}" for number in range(NAMED + 1)]
    assert names_of(["a/.venv/x", *many], RULES) == ("a/.venv/x", "a/node_modules")
    assert names_of([f"{number}/.venv" for number in range(MOST + 1)], RULES) == (WHOLE,)
    assert names_of([f"{'deep/' * 200}{number}/.venv" for number in range(NAMED + 1)], RULES) == (WHOLE,)


def test_from_a_kept_world_ignored_paths_come_whole_or_go_and_nothing_outside_is_reached(tmp_path: Path) -> None:
    kept, world = tmp_path / "kept", tmp_path / "world"
    for root, text in ((kept, "kept"), (world, "start")):
        (root / "a/node_modules/x").mkdir(parents=True)
        (root / "a/node_modules/x/one.js").write_text(text)
    (world / "gone/.venv").mkdir(parents=True)
    bring_back(["a/node_modules", "gone/.venv"], kept, world)
    assert (world / "a/node_modules/x/one.js").read_text() == "kept"
    assert list((world / "gone").iterdir()) == []
    bring_back([WHOLE], kept, world)
    assert not (world / "gone").exists()
    (world / "out").symlink_to(tmp_path)
    for hostile in ("..", "../kept", "out/kept/a"):
        with pytest.raises(PathRefused):
            bring_back([hostile], kept, world)
    assert (kept / "a").is_dir()
