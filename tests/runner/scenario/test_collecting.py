"""Collecting: what a bench's files hold, and what stops it before anything is run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runner.errors import BenchError
from runner.scenario.collecting import CollectedCase, collect
from tests.runner.scenario.benches import write_bench

ALONE = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""Where the package is installed its plugin loads by itself; here it is named, so that it loads once."""
GLOB = "tests/**/bench_*.py"


def collected(folder: Path, source: str, glob: str = GLOB) -> tuple[CollectedCase, ...]:
    return collect(write_bench(folder / "bench", {"one": source}), glob, folder / "bench").cases


def refused(folder: Path, source: str) -> str:
    with pytest.raises(BenchError) as caught:
        collected(folder, source)
    return str(caught.value)


def test_a_case_tells_where_and_what_it_is(tmp_path: Path) -> None:
    (case,) = collected(
        tmp_path,
        '''
        @pytest.mark.scenario(id="pinned")
        @pytest.mark.evaluation("none", artifacts=["/workspace/a"], collect=[Collect("make a", timeout=5)])
        def bench_fix(workspace, agent, evaluation):
            """Fixes it."""

        def helper():
            raise RuntimeError("never called")
        ''',
    )
    assert (case.file, case.function, case.pin, case.case, case.doc) == (
        "tests/bench_one.py",
        "bench_fix",
        "pinned",
        "",
        "Fixes it.",
    )
    assert case.evaluation == {
        "mode": "none",
        "artifacts": [{"path": "/workspace/a", "exclude": []}],
        "collect": [{"command": "make a", "timeout": 5}],
    }
    assert case.uses_evaluation


def test_parameters_are_cases_under_their_ids(tmp_path: Path) -> None:
    cases = collected(
        tmp_path,
        """
        @pytest.mark.parametrize("q, a", [pytest.param("2+2", 4, id="sum"), pytest.param("ü", [1], id="a/ü b")])
        def bench_ask(workspace, agent, q, a): ...
        """,
    )
    assert [(case.case, case.params) for case in cases] == [
        ("sum", {"q": "2+2", "a": "4"}),
        ("a/ü b", {"q": "ü", "a": "[1]"}),
    ]


def test_two_files_of_one_name_do_not_collide(tmp_path: Path) -> None:
    folder = write_bench(tmp_path / "bench", {"one": "def bench_one(agent): ..."})
    (folder / "tests" / "deep").mkdir()
    (folder / "tests" / "deep" / "bench_one.py").write_text("def bench_one(agent): ...\n")
    cases = collect(folder, GLOB, folder).cases
    assert [case.file for case in cases] == ["tests/bench_one.py", "tests/deep/bench_one.py"]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("@pytest.mark.parametrize('n', [1, 2])\ndef bench_a(agent, n): ...", "has no id; name every parameter set"),
        ("@pytest.mark.parametrize('n', ['x'])\ndef bench_a(agent, n): ...", "has no id; name every parameter set"),
        ("async def bench_a(agent): ...", "is an async function"),
        ("def bench_a(agnt): ...", "asks for 'agnt', which is no fixture"),
        ("@pytest.mark.evaluation('fast')\ndef bench_a(agent): ...", "names the mode 'fast'"),
        ("@pytest.mark.evaluation(artifacts='/a')\ndef bench_a(agent): ...", "artifacts as a list of paths"),
        ("@pytest.mark.evaluation(collect=[3])\ndef bench_a(agent): ...", "collect as a list of Collect"),
        ("@pytest.mark.evaluation(until=3)\ndef bench_a(agent): ...", "nothing else"),
        ("@pytest.mark.scenario('x')\ndef bench_a(agent): ...", "pytest.mark.scenario(id='...')"),
    ],
)
def test_what_cannot_be_a_scenario_is_refused_with_its_line(tmp_path: Path, source: str, sentence: str) -> None:
    told = refused(tmp_path, source)
    assert sentence in told
    assert told.startswith(f"{tmp_path}/bench/tests/bench_one.py:3: ")


def test_a_scenario_that_yields_is_refused(tmp_path: Path) -> None:
    assert "'yield' keyword is allowed in fixtures" in refused(tmp_path, "def bench_a(agent):\n    yield\n")


def test_ids_that_are_given_twice_are_refused(tmp_path: Path) -> None:
    told = refused(tmp_path, "@pytest.mark.parametrize('n', [1, 2], ids=['x', 'x'])\ndef bench_a(agent, n): ...")
    assert "Duplicate parametrization IDs" in told


def test_an_import_error_is_told_at_its_line_with_the_way_to_it(tmp_path: Path) -> None:
    folder = write_bench(tmp_path / "bench", {"one": "import helpers\n"}, helpers="x = 1\nimport not_there\n")
    with pytest.raises(BenchError) as caught:
        collect(folder, GLOB, folder)
    told = str(caught.value)
    assert told.startswith(f"{folder}/helpers.py:2: It could not be imported:")
    assert "No module named 'not_there'" in told
    assert f'File "{folder}/tests/bench_one.py", line 3' in told
    assert "_pytest" not in told


def test_a_syntax_error_is_told_at_its_line(tmp_path: Path) -> None:
    told = refused(tmp_path, "def bench_a(agent):\n    return )\n")
    assert told.startswith(f"{tmp_path}/bench/tests/bench_one.py:4: ")
    assert "SyntaxError" in told


def test_a_file_that_ends_the_process_does_not_pass_unseen(tmp_path: Path) -> None:
    assert "ended the process without a word" in refused(tmp_path, "import os\nos._exit(0)\n")


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("pytest.importorskip('absent')", "leaves itself out of the plan: could not import 'absent'"),
        ("import unittest\nraise unittest.SkipTest('later')", "leaves itself out of the plan: later. Skip in its"),
        ("breakpoint()\nx = 1", "BdbQuit: a breakpoint() stops within a scenario, in `benchsite try SCENARIO --pdb`."),
        ("raise SystemExit(3)", "It could not be imported: SystemExit: 3."),
    ],
)
def test_no_file_is_left_out_because_it_never_came_to_its_scenarios(tmp_path: Path, source: str, sentence: str) -> None:
    """Its scenarios would be missing from the plan, and so from every figure, without a word."""
    folder = write_bench(tmp_path / "bench", {"one": f"{source}\ndef bench_a(agent): ...", "two": "def bench_b(): ..."})
    with pytest.raises(BenchError) as caught:
        collect(folder, GLOB, folder)
    assert sentence in str(caught.value)
    assert str(caught.value).startswith(f"{folder}/tests/bench_one.py:")


def test_faults_are_told_together(tmp_path: Path) -> None:
    told = refused(tmp_path, "async def bench_a(agent): ...\nasync def bench_b(agent): ...\n")
    assert "bench_a" in told
    assert "bench_b" in told


def test_no_file_is_a_sentence(tmp_path: Path) -> None:
    folder = write_bench(tmp_path / "bench", {})
    with pytest.raises(BenchError, match=r"No scenario found: no file matches"):
        collect(folder, GLOB, folder)


def test_settings_and_plugins_from_outside_do_not_reach_a_bench(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    (tmp_path / "conftest.py").write_text("raise SystemExit('the outer conftest was read')\n")
    assert len(collected(tmp_path, "def bench_a(agent): ...")) == 1


def test_nothing_is_written_into_the_bench(tmp_path: Path) -> None:
    folder = write_bench(tmp_path / "bench", {"one": "import helpers\ndef bench_a(agent): ...\n"})
    before = sorted(folder.rglob("*"))
    collect(folder, GLOB, folder)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("named", ["tests", "tests/bench_one.py", "tests/bench_one.py::bench_a"])
def test_plain_pytest_on_a_bench_says_what_to_use(tmp_path: Path, named: str) -> None:
    folder = write_bench(tmp_path / "bench", {"one": "def bench_a(agent): ...\n"})
    argv = [sys.executable, "-m", "pytest", "-p", "runner.scenario.outside", "-p", "no:cacheprovider", named]
    done = subprocess.run(argv, cwd=folder, env=ALONE, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert f"{folder} is a bench, not a test suite" in done.stderr + done.stdout
    assert f"`benchsite run {folder}`" in done.stderr + done.stdout


def test_plain_pytest_elsewhere_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_x.py").write_text("def test_x(): ...\n")
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "runner.scenario.outside", "-p", "no:cacheprovider", "tests"]
    assert subprocess.run(argv, cwd=tmp_path, env=ALONE, capture_output=True, check=False).returncode == 0
