from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .make import BENCH, SCENARIO, benchsite, command_line, environment, json_of, make_bench

RAISES = SCENARIO.replace(
    '    observe("resolved"', '    raise OSError("disk on fire\\x1b[31m")\n    observe("resolved"'
)
SKIPS = "import pytest\n\ndef bench_ask(workspace, agent):\n    pytest.skip('not here')\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "."], "bench.py"),
        (["prepare", "."], "bench.py"),
        (["list", "."], "There is no bench here"),
        (["result"], "There is no bench here"),
        (["result", "01ABC"], "There is no run '01ABC'"),
        (["result", "latest", "--policy", "best/1"], "scored/1 and errors-fail/1"),
        (["bundle"], "There is no bench here"),
        (["push", "--to", "http://127.0.0.1:9"], "There is no bench here"),
        (["run", "--resume", "latest"], "There is no bench here"),
        (["mock-model", "--script", "none.json"], "none.json"),
    ],
)
def test_what_cannot_start_is_one_sentence_and_code_two(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = benchsite(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["init", "file"], "file is no folder; choose another name."),
        (["init", "file/bench"], "/file/bench cannot be read or written (Not a directory)."),
        (["run", "b/bench.py"], "b/bench.py is a file; name the bench's folder"),
        (["run", "b"], "(Not a directory). Set BENCHSITE_WORLDS to a folder of your own."),
    ],
)
def test_a_place_that_cannot_be_had_is_no_fault_of_benchsite(tmp_path: Path, arguments: list[str], said: str) -> None:
    make_bench(tmp_path / "b")
    (tmp_path / "file").write_text("")
    done = benchsite(*arguments, cwd=tmp_path, BENCHSITE_WORLDS=str(tmp_path / "file" / "worlds"))
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_place_inside_a_project_is_refused_for_a_bench_without_a_world_too(tmp_path: Path) -> None:
    """It was found out by each trial, whose process died of it."""
    (tmp_path / "pyproject.toml").write_text("")
    done = benchsite("run", make_bench(tmp_path / "b"), BENCHSITE_WORLDS=str(tmp_path / "worlds"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Worlds cannot live in {tmp_path / 'worlds'}: {tmp_path / 'pyproject.toml'} would")


def test_debug_shows_where_an_error_came_from(tmp_path: Path) -> None:
    done = benchsite("result", "--debug", cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert "There is no bench here" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("arguments", [[], ["dance"], ["run", "--trials", "0"], ["run", "--trials", "x"], ["push"]])
def test_a_wrong_command_line_is_code_two(tmp_path: Path, arguments: list[str]) -> None:
    done = benchsite(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "usage: benchsite" in done.stderr


def test_a_broken_bench_is_told_with_file_and_line(tmp_path: Path) -> None:
    bench = make_bench(tmp_path / "b", bench=BENCH.replace("trials=2", "trials=two"))
    done = benchsite("run", bench)
    assert done.returncode == 2
    assert f"{bench / 'bench.py'}:" in done.stderr
    assert "two" in done.stderr


def test_errors_make_code_three_and_their_words_cannot_reach_the_terminal(tmp_path: Path) -> None:
    bench = make_bench(tmp_path / "b", scenario=RAISES)
    done = benchsite("run", bench)
    assert done.returncode == 3, done.stderr
    assert "4 x eval_error evaluation:" in done.stdout
    assert "disk on fire\\x1b[31m" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert "2 eval_error (2 evaluation)" in benchsite("result", cwd=bench).stdout


def test_skipped_trials_need_no_second_try(tmp_path: Path) -> None:
    done = json_of("run", make_bench(tmp_path / "b", scenario=SKIPS))
    assert (done["counts"], done["exit_code"]) == ({"skipped": 4}, 0)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    bench = make_bench(tmp_path_factory.mktemp("ran") / "b")
    return bench, benchsite("run", bench, "--json")


def test_with_json_only_the_object_is_on_stdout(ran: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    assert ran[1].stdout.startswith("{")
    assert ran[1].stdout.endswith("}\n")
    assert "2 agents x 1 scenario" in ran[1].stderr


def test_help_needs_nothing_heavy() -> None:
    code = "import sys\ntry:\n from runner.cli import main; main(['--help'])\nfinally:\n print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "runner.cli.arguments" in loaded
    assert loaded.isdisjoint({"numpy", "scipy", "rich", "pytest", "django", "hypothesis"})


def test_a_reader_that_has_seen_enough_is_no_error(ran: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    result = subprocess.Popen(
        command_line("result", ran[0], "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    assert result.stdout is not None
    assert result.stderr is not None
    result.stdout.close()
    assert result.stderr.read() == b""
    assert result.wait(timeout=60) == 0


def test_a_terminal_that_knows_only_ascii_gets_escapes(ran: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    done = benchsite("result", ran[0], PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.returncode == 0, done.stderr
    assert "\\xb7" in done.stdout
