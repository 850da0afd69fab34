"""`gate` and the reports of `result`, as a CI job runs them."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import takewhile
from pathlib import Path

import pytest

from runner.cli.arguments import parse
from runner.cli.gate import in_unit
from runner.errors import RunnerError
from tests.make import make_run

from .make import benchsite, json_of

GUIDE = Path(__file__).parents[3] / "docs" / "ci.md"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs: the first is the baseline."""
    folder = tmp_path_factory.mktemp("gate")
    for seed in (1, 2):
        make_run(folder, cells=2, scenarios=6, trials=3, seed=seed)
    return folder


def runs(bench: Path) -> list[str]:
    return sorted(path.name for path in (bench / ".bench" / "runs").iterdir())


def test_a_gate_tells_passed_and_not_passed_by_its_exit_code(bench: Path, tmp_path: Path) -> None:
    base, new = runs(bench)
    markdown, junit = tmp_path / "s.md", tmp_path / "g.xml"
    passed = benchsite("gate", "--bench", bench, "--baseline", base, "--max-drop", 90, "--markdown", markdown)
    assert (passed.returncode, passed.stdout.splitlines()[-1]) == (0, "The gate is passed.")
    assert markdown.read_text().startswith("### ✅ The gate is passed")
    failed = benchsite("gate", new, "--bench", bench, "--baseline", base, "--require", "100", "--junit", junit)
    assert failed.returncode == 1
    assert "FAILED require: resolved is" in failed.stdout
    assert ET.parse(junit).getroot().get("failures") == "1"


def test_a_baseline_may_be_a_bundle_and_the_answer_json(bench: Path, kept: Path) -> None:
    base, new = runs(bench)
    made = json_of("gate", "--bench", bench, "--baseline", kept, "--max-drop", 90)
    assert (made["passed"], made["baseline"], made["run"]) == (True, base, new)
    assert made["all"]["clusters"] == 6 and len(made["cells"]) == 2


@pytest.mark.parametrize(
    ("asked", "told"),
    [((), "Say what to check"), (("--max-drop", "5", "--measure", "speed"), "speed is no measure with numbers")],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(bench: Path, asked: tuple[str, ...], told: str) -> None:
    done = benchsite("gate", "--bench", bench, "--baseline", runs(bench)[0], *asked)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr and "Traceback" not in done.stderr


def test_limits_of_a_rate_are_points_and_a_share_of_one_is_taken_for_a_slip() -> None:
    assert in_unit("--max-drop", "5", rate=True) == in_unit("--max-drop", "5%", rate=True) == 0.05
    assert in_unit("--max-drop", "0.5%", rate=True) == 0.005
    assert in_unit("--require", "-2.5", rate=False) == -2.5
    with pytest.raises(RunnerError, match=r"write 5 for 5 points, or 0.05% if you mean it"):
        in_unit("--max-drop", "0.05", rate=True)
    for text, rate in (("much", True), ("5%", False), ("", False)):
        with pytest.raises(RunnerError, match="is no limit; write"):
            in_unit("--max-drop", text, rate=rate)


def test_the_commands_of_the_guide_are_understood() -> None:
    text = GUIDE.read_text()
    lines = re.findall(r"^(?:\s*|\s*- run: )(benchsite .+?)(?: 2?>.*)?(?: \|\| .*| >> .*)?$", text, re.MULTILINE)
    asked = [parse(shlex.split(line)[1:]).command for line in lines]
    assert asked.count("gate") == 3 and {"run", "result", "bundle"} <= set(asked)


def test_result_writes_its_reports_and_prints_them_on_demand(bench: Path, tmp_path: Path) -> None:
    shown = benchsite("result", "--bench", bench, "--markdown", "-")
    assert shown.returncode == 0 and shown.stdout.startswith("### acme/demo 1.0.0: run `")
    made = benchsite("result", "--bench", bench, "--junit", tmp_path / "r.xml", "--json")
    assert ET.parse(tmp_path / "r.xml").getroot().get("tests") == "36"
    assert json.loads(made.stdout)["format"] == "benchsite/result/1"
    refused = benchsite("result", "--bench", bench, "--junit", tmp_path / "none" / "r.xml")
    assert (refused.returncode, "cannot be written" in refused.stderr) == (2, True)


@pytest.fixture(scope="module")
def kept(bench: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What main kept: the bundle of the first run."""
    file = tmp_path_factory.mktemp("kept") / "main.zip"
    assert benchsite("bundle", runs(bench)[0], "--bench", bench, "-o", file).returncode == 0
    return file


def of_pull_request(text: str) -> str:
    """The lines that the guide's job runs for a pull request, as its runner would have them."""
    lines = text.partition("- if: github.event_name == 'pull_request'\n        run: |\n")[2].splitlines()
    script = takewhile(lambda line: line.startswith(" " * 10), lines)
    return "\n".join(line[10:] for line in script).replace("${{ github.event.number }}", "7")


RULES = "--max-drop 5 --min-coverage 90"
GH = """#!/bin/sh
# the command line of GitHub: `api` names the run that main kept, `run download` fetches its file, `pr comment` is heard
case "$1" in
  api) echo "$LATEST" ;;
  run) cp "$KEPT" main.zip ;;
  pr) shift 4; cp "$1" said.md ;;
esac
"""


@pytest.mark.parametrize(
    ("latest", "limit", "code", "told"),
    [
        ("", "5", 0, "No baseline yet"),
        ("42", "90", 0, "The gate is passed"),
        ("42", "-100", 1, "The gate is not passed"),
        ("42", "much", 2, "Nothing could be compared"),
    ],
)
def test_a_pull_request_is_told_what_the_gate_says_and_a_first_one_that_there_is_nothing_to_be_worse_than(
    bench: Path, kept: Path, tmp_path: Path, latest: str, limit: str, code: int, told: str
) -> None:
    program, script = tmp_path / "bin" / "gh", of_pull_request(GUIDE.read_text())
    program.parent.mkdir()
    program.write_text(GH)
    program.chmod(0o755)
    (program.parent / "benchsite").symlink_to(Path(sys.executable).with_name("benchsite"))
    (tmp_path / "my-bench").symlink_to(bench)
    (tmp_path / "main.zip").touch()
    assert script.count(RULES) == 1
    path, summary = f"{program.parent}:{os.environ['PATH']}", tmp_path / "summary.md"
    given = {"LATEST": latest, "KEPT": str(kept), "GITHUB_REPOSITORY": "o/r", "GITHUB_STEP_SUMMARY": str(summary)}
    done = subprocess.run(
        ["bash", "-e", "-c", script.replace(RULES, f"--max-drop {limit}")],
        cwd=tmp_path, env={**os.environ, **given, "PATH": path}, text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    said = (tmp_path / "said.md").read_text()
    assert told in said and summary.read_text() == said
    if code == 2:
        assert "--max-drop 'much' is no limit" in said
