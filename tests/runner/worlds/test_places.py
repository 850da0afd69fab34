"""Where worlds live, and that nothing above them can be seen."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from runner.errors import EnvironmentRefused
from runner.worlds.places import drop_place, make_place, worlds_root
from runner.worlds.walls import is_full


def test_a_place_has_its_own_world_home_tmp_and_out(worlds: Path) -> None:
    place = make_place("01RUN", 7, 2)
    assert place.root == worlds / "01RUN" / "7-2"
    assert all(folder.is_dir() for folder in (place.world, place.home, place.tmp, place.out))
    assert stat.S_IMODE(place.root.stat().st_mode) == 0o700


def test_what_a_killed_attempt_left_is_gone_when_its_place_is_made_again(worlds: Path) -> None:
    first = make_place("01RUN", 7, 1)
    (first.world / "left over").write_text("x")
    second = make_place("01RUN", 7, 1)
    assert list(second.world.iterdir()) == []


@pytest.mark.parametrize("name", [".git", "pyproject.toml", "pytest.ini", "package.json", "AGENTS.md", "CLAUDE.md"])
def test_a_root_below_a_project_is_refused_with_the_path(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).mkdir() if name == ".git" else (tmp_path / name).write_text("")
    monkeypatch.setenv("BENCHSITE_WORLDS", str(tmp_path / "deep" / "worlds"))
    with pytest.raises(EnvironmentRefused, match="BENCHSITE_WORLDS") as refused:
        make_place("01RUN", 1, 1)
    assert str(tmp_path / name) in str(refused.value)


def test_a_link_that_leads_the_root_into_a_project_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project" / "worlds").mkdir(parents=True)
    (tmp_path / "project" / "pyproject.toml").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "project" / "worlds")
    monkeypatch.setenv("BENCHSITE_WORLDS", str(tmp_path / "link"))
    with pytest.raises(EnvironmentRefused):
        make_place("01RUN", 1, 1)


def test_the_root_defaults_to_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCHSITE_WORLDS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert worlds_root() == tmp_path / "benchsite" / "worlds"


def test_dropping_a_place_removes_closed_and_deep_directories_and_the_empty_run(worlds: Path) -> None:
    place = make_place("01RUN", 1, 1)
    (place.world / "closed" / "inner").mkdir(parents=True)
    (place.world / "closed").chmod(0)
    before = Path.cwd()
    try:
        os.chdir(place.world)
        for _ in range(1500):
            Path("d").mkdir()
            os.chdir("d")
    finally:
        os.chdir(before)
    drop_place(place)
    assert not place.root.exists()
    assert not place.root.parent.exists()


def test_dropping_a_place_never_follows_a_link(worlds: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("kept")
    place = make_place("01RUN", 1, 1)
    (place.world / "link").symlink_to(precious)
    drop_place(place)
    assert (precious / "file").read_text() == "kept"


def test_a_disk_that_tells_of_no_size_is_not_taken_for_a_full_one() -> None:
    assert os.statvfs("/proc").f_blocks == 0
    assert not is_full("/proc")
