"""Where a trial lives: one folder outside every project, so that nothing of ours reaches the agent by a parent."""

from __future__ import annotations

import functools
import os
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from runner.errors import EnvironmentRefused
from runner.keeper import process_of
from runner.paths import StrPath
from runner.processes import run_process

FOREIGN = (
    ".git", ".hg", "pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "conftest.py", "package.json",
    "AGENTS.md", "AGENT.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md", "CONVENTIONS.md",
    ".cursorrules", ".goosehints", ".aider.conf.yml", "opencode.json", ".mcp.json",
)  # fmt: skip
"""What agents and test tools look for in parent folders; a world below one of these is not the world of the bench."""


WORLD, HOME, TMP, OUT, OWNER = "world", "home", "tmp", "out", "owner"


@dataclass(frozen=True)
class Place:
    """The folders of one attempt: the world, the agent's HOME and TMPDIR, and what the runner writes beside them.

    `base` and `at` are text: what each trial does with a path object costs as much as what is done at the path."""

    base: str

    def at(self, name: str) -> str:
        return f"{self.base}/{name}"

    @cached_property
    def root(self) -> Path:
        return Path(self.base)

    @cached_property
    def world(self) -> Path:
        return self.root / WORLD

    @cached_property
    def home(self) -> Path:
        return self.root / HOME

    @cached_property
    def tmp(self) -> Path:
        return self.root / TMP

    @cached_property
    def out(self) -> Path:
        return self.root / OUT

    @cached_property
    def disk(self) -> Path:
        """Where a file system of the trial's own is mounted, for one whose disk is limited so; else it is not there."""
        return self.root / "disk"

    def layers(self, style: str) -> Path:
        """Where what lies over a template is kept, for a world that is no copy of it."""
        return (self.disk if self.disk.is_dir() else self.root) / f"layers-{style}"


def worlds_root() -> Path:
    """BENCHSITE_WORLDS, or a folder in the user's cache."""
    return _root(os.environ.get("BENCHSITE_WORLDS"), os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME"))


@functools.lru_cache(maxsize=8)
def _root(chosen: str | None, cache: str | None, home: str | None) -> Path:
    """Worked out by a server once, and not by each trial."""
    if chosen:
        return Path(os.path.abspath(chosen))  # noqa: PTH100  resolve() would follow links; the check below does that
    return Path(cache or Path(home or Path.home()) / ".cache") / "benchsite" / "worlds"


def owned(run_dir: StrPath = "") -> str:
    """Name this process, and the run it works for, as the maker of places: what a dead one left is known by it."""
    pid, began = process_of(os.getpid())
    return f"{pid} {began} {os.fspath(run_dir)}"


def make_place(run: str, trial: int, attempt: int, owner: str = "", root: StrPath = "") -> Place:
    """Make the folders of one attempt, empty; what a killed attempt left under the same name is removed. A link beside
    them, which leads nowhere, says whose they are. `root` was checked."""
    if not root:
        check_parents(root := worlds_root())
    place = Place(f"{root}/{run}/{trial}-{attempt}")
    try:
        _make_root(place.base)
    except FileExistsError:
        remove_tree(place.base)
        _make_root(place.base)
    for name in (WORLD, HOME, TMP, OUT):
        os.mkdir(place.at(name))  # noqa: PTH102
    os.symlink(owner or owned(), place.at(OWNER))  # noqa: PTH211
    return place


def _make_root(folder: str) -> None:
    try:
        os.mkdir(folder, 0o700)  # noqa: PTH102
    except FileNotFoundError:  # the run's first
        Path(folder).mkdir(parents=True, mode=0o700)


def drop_place(place: Place) -> None:
    """Remove an attempt's folders, whatever the agent did to their modes, and the run's folder once it is empty."""
    remove_tree(place.base)
    try:
        os.rmdir(os.path.dirname(place.base))  # noqa: PTH106, PTH120
    except OSError:
        return  # other trials still live there


def remove_tree(folder: StrPath) -> None:
    """Remove a folder that a stranger filled: closed directories and very deep ones too. Links are not followed."""
    if os.path.islink(folder):  # noqa: PTH114
        os.unlink(folder)  # noqa: PTH108
        return
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except (OSError, RecursionError):
        quiet = {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"}
        for argv in (["chmod", "-R", "u+rwX", "--", str(folder)], ["rm", "-rf", "--", str(folder)]):
            run_process(argv, cwd=Path(folder).parent, env=quiet, timeout=600)
        if Path(folder).exists():
            raise EnvironmentRefused(f"{folder} could not be removed; remove it by hand, then run again.") from None


@functools.lru_cache(maxsize=8)
def check_parents(root: Path) -> None:
    """Refuse a folder whose parents hold what agents look for; what was found good once is good for this process."""
    for parent in dict.fromkeys((root, *root.parents, *Path(os.path.realpath(root)).parents)):
        for name in FOREIGN:
            if os.path.lexists(f"{parent}/{name}"):
                raise EnvironmentRefused(
                    f"Worlds cannot live in {root}: {parent / name} would be seen from inside them. "
                    "Set BENCHSITE_WORLDS to a folder outside any project."
                )
