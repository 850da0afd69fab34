"""What the guides show must run as shown."""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import runner
from runner import replay
from runner.cli.arguments import COMMANDS
from runner.environments import sandbox
from tests.runner.cli.make import told

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "docs" / "library.md"
FENCE = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
FILE = re.compile(r"# (\S+/\S+\.\w+)\n")


def write_files(guide: Path, folder: Path) -> Path:
    """Write every code block that starts with a file's path; give the bench's folder."""
    benches = set()
    for _, text in FENCE.findall(guide.read_text(encoding="utf-8")):
        named = FILE.match(text)
        if named:
            path = folder / named[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text[named.end() :], encoding="utf-8")
            benches.add(named[1].split("/")[0])
    (bench,) = benches
    return folder / bench


def benchsite(*words: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "runner", *map(str, words)], capture_output=True, text=True, check=False, cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


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


def commands_of(guide: Path) -> list[list[str]]:
    """Give the command lines of a guide's shell blocks."""
    lines = [line for language, text in FENCE.findall(guide.read_text(encoding="utf-8")) if language == "sh"
             for line in text.splitlines()]  # fmt: skip
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("benchsite ")]


def test_the_bench_of_the_guide_to_agents_runs_as_written(tmp_path: Path) -> None:
    bench = write_files(ROOT / "docs" / "agents.md", tmp_path)
    code, said = told("run", bench, "--workers", "2", cwd=tmp_path)
    assert code == 0, said
    (run,) = (bench / ".bench" / "runs").iterdir()
    found = {}
    for trial in replay.read(run).trials:
        assert trial.final is not None
        values = {key: one.value for key, one in trial.final.observations.items()}
        found[replay.read(run).manifest.cells[trial.planned.cell].axes["agent"]] = values
    assert found == {
        "shell": {"resolved": True, "cost": 0.0},
        "code": {"resolved": True, "cost": 0.02},
        "script": {"resolved": True, "cost": 0.02},
        "oracle": {"resolved": True, "cost": 0.0},
        "noop": {"resolved": False, "cost": 0.0},
    }


@pytest.mark.sandbox
@pytest.mark.skipif(bool(sandbox.unusable()), reason=f"The sandbox cannot be tested here: {sandbox.unusable()}")
def test_the_bench_of_the_guide_to_environments_runs_as_written(tmp_path: Path) -> None:
    bench = write_files(ROOT / "docs" / "environments.md", tmp_path)
    done = benchsite("run", bench, "--workers", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(outcomes(bench).values()) == ["solved", "solved"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[int, str]]]:
    """Write the bench of the guide to measuring, and run its commands in their order."""
    guide, folder = ROOT / "docs" / "measuring.md", tmp_path_factory.mktemp("measured")
    bench = write_files(guide, folder)
    assert all(FILE.match(text) for language, text in FENCE.findall(guide.read_text("utf-8")) if language == "python")
    return bench, [told(*words, cwd=folder) for words in commands_of(guide)]


def test_what_the_guide_to_measuring_says_of_states_and_flags_is_so(
    measured: tuple[Path, list[tuple[int, str]]],
) -> None:
    bench, done = measured
    assert [code for code, _ in done] == [0, 3, 0, 0, 0, 0, 0]
    first, again = (replay.read(run) for run in sorted((bench / ".bench" / "runs").iterdir()))
    states: dict[str, set[tuple[str, str | None]]] = {}
    for trial in first.trials:
        final = trial.final
        scenario = first.manifest.scenarios[trial.planned.scenario].id
        assert final is not None
        states.setdefault(scenario, set()).add((trial.state, final.outcome or final.fault))
        if scenario == "odd":
            reasons = {one.measure: one.reason for one in final.observations.values() if not one.valid}
            assert reasons["resolved"] == "expected a bool, got int"
            assert reasons["share"] == "nan is not a finite number"
            assert reasons["approach"] == "'8' is none of patch, rewrite, none"
            assert (final.observations["words"].value, final.observations["words"].count) == (3, 2)
            assert final.flags == ("invalid", "observed_twice")
        if scenario == "late" and trial.state == "excluded":
            assert final.flags == ("late_guard",)
    assert states == {
        "fix": {("scored", "solved"), ("scored", "unsolved")},
        "odd": {("scored", None)},
        "forgotten": {("eval_error", "required")},
        "guarded": {("excluded", None)},
        "late": {("scored", None), ("excluded", None)},
    }
    assert (again.manifest.parent, again.counts) == (first.manifest.run, {"scored": 4})


def test_coverage_is_counted_as_the_guide_to_measuring_says(
    measured: tuple[Path, list[tuple[int, str]]],
) -> None:
    made = json.loads(measured[1][4][1])
    for seen in made["coverage"].values():
        assert seen["expected"] == seen["observed"] + seen["invalid"] + sum(seen["missing"].values()) == 20
    assert made["coverage"]["note"]["observed"] == 0
    assert made["coverage"]["resolved"]["invalid"] == 4
    assert {m["key"]: (m["aggregate"], m["objective"]) for m in made["measures"]} == {
        "resolved": ("rate", "maximize"), "collateral": ("mean", "minimize"), "share": ("median", "maximize"),
        "words": ("mean", "target(1)"), "approach": ("counts", ""), "graded": ("rate", "maximize"),
        "note": ("none", ""),
    }  # fmt: skip


def test_the_lines_of_the_library_guide_run_as_written(tmp_path: Path) -> None:
    blocks = [text for language, text in FENCE.findall(LIBRARY.read_text(encoding="utf-8")) if language == "python"]
    (tmp_path / "guide.py").write_text("\n".join(blocks))
    done = subprocess.run(
        [sys.executable, "guide.py"], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "finished {'scored': 4}" in done.stdout
    assert "{'careful': 1.0, 'idle': 0.0}" in done.stdout


def test_every_command_has_a_documented_function() -> None:
    rows = [line.split("|") for line in LIBRARY.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    told = {command: re.findall(r"`(\w+)\(", row[2]) for row in rows for command in re.findall(r"`([\w-]+)", row[1])}
    assert set(COMMANDS) <= set(told)
    for name in {name for names in told.values() for name in names} | {"MockModel"}:
        assert name in runner.__all__
        assert inspect.getdoc(getattr(runner, name)), name


@pytest.mark.parametrize("guide", ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))])
def test_guides_link_only_to_what_is_there(guide: str) -> None:
    path = ROOT / guide
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        assert "://" in target or (path.parent / target).exists(), f"{guide} links to {target}, which is not there"
