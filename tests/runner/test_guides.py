"""What the guides show must run as shown."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from runner import replay

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
FILE = re.compile(r"# (\S+/\S+\.py)\n")


def write_files(guide: Path, folder: Path) -> Path:
    """Write every code block that starts with a file's path; give the bench's folder."""
    benches = set()
    for language, text in FENCE.findall(guide.read_text(encoding="utf-8")):
        named = FILE.match(text)
        if language == "python" and named:
            path = folder / named[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text[named.end() :], encoding="utf-8")
            benches.add(named[1].split("/")[0])
    (bench,) = benches
    return folder / bench


def benchsite(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "runner", *map(str, words)], capture_output=True, text=True, check=False
    )


def outcomes(bench: Path) -> dict[str, str | None]:
    (run,) = (bench / ".bench" / "runs").iterdir()
    result = replay.read(run)
    return {
        result.manifest.where(trial.planned.index): trial.final.outcome if trial.final else None
        for trial in result.trials
    }


def test_the_bench_of_the_authoring_guide_runs_as_written(tmp_path: Path) -> None:
    bench = write_files(ROOT / "docs" / "authoring.md", tmp_path)
    prepared = benchsite("prepare", bench)
    assert prepared.returncode == 0, prepared.stderr
    done = benchsite("run", bench, "--workers", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    found = outcomes(bench)
    assert {where: outcome for where, outcome in found.items() if "careful" in where} == {
        f"fix_add · agent=careful · trial {number}": "solved" for number in (1, 2, 3)
    }
    assert {outcome for where, outcome in found.items() if "sloppy" in where} == {"unsolved"}
    table = benchsite("result", bench)
    assert "100 % 3/3" in table.stdout
    sound = benchsite("check", bench)
    assert sound.returncode == 0, sound.stdout + sound.stderr


def test_the_bench_of_the_readme_runs_as_written(tmp_path: Path) -> None:
    bench = write_files(ROOT / "README.md", tmp_path)
    (bench / "workspace").mkdir()
    (bench / "workspace" / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (bench / "workspace" / "test_calc.py").write_text(
        "import unittest\nfrom calc import add\n\n\nclass Add(unittest.TestCase):\n"
        "    def test_sum(self):\n        self.assertEqual(add(2, 3), 5)\n"
    )
    solution = bench / "fixtures" / "solution" / "fix_bug"
    solution.mkdir(parents=True)
    (solution / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    done = benchsite("run", bench, "--workers", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(map(str, outcomes(bench).values())) == ["solved"] * 3 + ["unsolved"] * 3


@pytest.mark.parametrize("guide", ["README.md", "docs/authoring.md"])
def test_guides_link_only_to_what_is_there(guide: str) -> None:
    path = ROOT / guide
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        assert "://" in target or (path.parent / target).exists(), f"{guide} links to {target}, which is not there"
