"""`benchsite doctor`: what is there, what is missing, and no value of any variable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .make import BENCH, benchsite, make_bench

REAL = BENCH.replace("import Scripted,", "import Cli, Command, Scripted, Workspace,").replace(
    "agents={",
    'agents={"mine": Cli("codex", base_url="http://127.0.0.1:9"), "ghost": Command("no-such-program-here"), ',
)


def _bench(folder: Path, agents: str, **more: str) -> Path:
    text = REAL
    for old, new in more.items():
        text = text.replace(old, new)
    return make_bench(folder / "b", agents=agents, bench=text)


@pytest.fixture
def programs(tmp_path: Path) -> str:
    """A PATH on which a program stands for each command line that the tests name."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("codex", "claude"):
        (folder / name).write_text("#!/bin/sh\necho 4.5.6\n")
        (folder / name).chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


def _found(bench: Path, **env: str) -> tuple[int, dict[str, Any]]:
    done = benchsite("doctor", bench, "--json", **env)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_a_bench_that_can_run_is_code_zero(tmp_path: Path, programs: str) -> None:
    bench = _bench(tmp_path, '["yes", "mine"]')
    code, found = _found(bench, PATH=programs)
    assert (code, found["ok"], found["problems"]) == (0, True, [])
    assert [(agent["name"], agent["version"]) for agent in found["agents"]] == [("yes", "1"), ("mine", "4.5.6")]
    assert found["environment"]["name"] == "local"
    assert not (bench / ".bench" / "runs").exists()


def test_a_missing_program_is_named_with_how_to_get_it(tmp_path: Path) -> None:
    bench = _bench(tmp_path, '["yes", "goose", "ghost"]')
    done = benchsite("doctor", bench, PATH="/usr/bin:/bin", OPENAI_API_KEY="sk-canary-value")
    assert done.returncode == 1
    assert "agent        goose  not found" in done.stdout
    assert "missing      goose: The program 'goose' was not found on PATH; install it with `curl" in done.stdout
    assert "missing      ghost: The program 'no-such-program-here'" in done.stdout
    assert "t/tiny cannot run here yet." in done.stdout


def test_a_key_that_is_not_set_is_missing_and_one_that_is_set_is_never_shown(tmp_path: Path, programs: str) -> None:
    bench = _bench(tmp_path, '["codex"]')
    code, found = _found(bench, PATH=programs, CODEX_API_KEY="", OPENAI_API_KEY="")
    assert (code, found["agents"][0]["variables"]) == (1, {"CODEX_API_KEY": False, "OPENAI_API_KEY": False})
    assert found["problems"] == ["codex: none of its keys is set; set CODEX_API_KEY or OPENAI_API_KEY."]
    assert "  no key set" in benchsite("doctor", bench, PATH=programs, CODEX_API_KEY="", OPENAI_API_KEY="").stdout
    done = benchsite("doctor", bench, PATH=programs, OPENAI_API_KEY="sk-canary-value")
    assert done.returncode == 0
    assert "  OPENAI_API_KEY set" in done.stdout
    assert "sk-canary-value" not in done.stdout + done.stderr


def test_an_environment_that_cannot_hold_what_is_asked_is_missing_too(tmp_path: Path) -> None:
    bench = _bench(tmp_path, '["yes"]', **{'environment="local"': 'environment="local", isolation="sandbox"'})
    code, found = _found(bench)
    assert code == 1
    assert "gives 'none'" in found["problems"][0]


def test_a_suite_that_cannot_start_is_missing_too(tmp_path: Path) -> None:
    bench = _bench(tmp_path, '["yes"]', **{"workspace=None": 'workspace=Workspace(), suite="no-such-suite-program"'})
    (bench / "workspace").mkdir()
    (bench / "workspace" / "a.txt").write_text("a")
    code, found = _found(bench)
    assert code == 1
    assert "'no-such-suite-program' cannot start" in found["problems"][0]


def test_a_bench_that_cannot_be_loaded_cannot_run(tmp_path: Path) -> None:
    code, found = _found(tmp_path)
    assert (code, found["ok"]) == (1, False)
    assert "bench.py" in found["problems"][0]
    done = benchsite("doctor", tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
