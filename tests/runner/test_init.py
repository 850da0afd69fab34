from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runner.errors import BenchError
from runner.init import init
from runner.load import load_bench
from runner.prepare import prepare
from runner.running import run

from .authoring import write_files


@pytest.fixture(autouse=True)
def _worlds(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHSITE_WORLDS", str(tmp_path_factory.mktemp("worlds")))


def outcomes(folder: Path, **asked: object) -> dict[str, list[str | None]]:
    result = run(folder, environment="local", trials=1, workers=2, seed=1, **asked)  # type: ignore[arg-type]
    ended = [(result.manifest.cells[trial.planned.cell].axes["agent"], trial.final) for trial in result.trials]
    return {agent: [final.state, final.outcome] for agent, final in ended if final is not None}


def test_a_new_bench_runs_as_generated(tmp_path: Path) -> None:
    made = init(tmp_path / "Näh bench")
    assert all(path.is_file() for path in made)
    assert load_bench(tmp_path / "Näh bench").name == "me/N-h-bench"
    assert outcomes(tmp_path / "Näh bench") == {"careful": ["scored", "solved"], "idle": ["scored", "unsolved"]}


def test_its_own_solution_reaches_the_headline_and_idleness_does_not(tmp_path: Path) -> None:
    init(tmp_path / "new", "acme/first")
    assert outcomes(tmp_path / "new", agents=["oracle", "noop"]) == {
        "oracle": ["scored", "solved"], "noop": ["scored", "unsolved"],
    }  # fmt: skip


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    write_files(tmp_path / "mine", {"README.md": "mine\n"})
    with pytest.raises(BenchError, match=r"README.md is in the way; choose an empty folder."):
        init(tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["README.md"]
    init(tmp_path / "new")
    with pytest.raises(BenchError, match=r"There is a bench in .* already"):
        init(tmp_path / "new")


TYPOS = """\
from runner import bench, observe

def bench_more(agent: object) -> None:
    observe("resovled", True)
    observe("resolved", 3)
    observe("collateral", "3")
    bench.axis("modle")
    observe("resolved", True)
"""
MARKED = ["4", "5", "6", "7"]


def _with_typos(folder: Path) -> Path:
    """A bench with a sound scenario, the generated one, and one that is not."""
    init(folder)
    prepare(folder, environment="local")
    write_files(folder, {"tests/bench_typo.py": TYPOS})
    return folder


def test_a_type_checker_marks_a_typo_through_the_stub(tmp_path: Path) -> None:
    _with_typos(tmp_path)
    assert {row["key"] for row in json.loads((tmp_path / ".bench/schema.json").read_text())["measures"]} == {
        "resolved", "collateral", "approach",
    }  # fmt: skip
    argv = [sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", "cache", "tests"]
    told = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True).stdout.splitlines()
    marked = [line.split(":")[:2] for line in told if ": error:" in line]
    assert marked == [["tests/bench_typo.py", line] for line in MARKED], told


def test_pyright_marks_the_same_lines_and_no_other(tmp_path: Path) -> None:
    folder = Path(os.environ.get("BENCHSITE_CLIS") or "var/npm").resolve() / "node_modules" / ".bin"
    program = shutil.which("pyright", path=f"{folder}:{os.environ['PATH']}")
    if program is None:
        pytest.skip("pyright is not installed; npm is needed: apt install npm, then make test installs it")
    argv = [program, "--outputjson", "--pythonpath", sys.executable]
    told = json.loads(subprocess.run(argv, cwd=_with_typos(tmp_path), capture_output=True, text=True).stdout)
    marked = {(Path(row["file"]).name, row["range"]["start"]["line"] + 1) for row in told["generalDiagnostics"]}
    assert marked == {("bench_typo.py", int(line)) for line in MARKED}, told
