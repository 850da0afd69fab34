"""Settings come from BENCHSITE_* variables only, and an odd one stops the program with a sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchsite.databases import database
from benchsite.env import VARIABLES, BadSetting, Env

ROOT = Path(__file__).parents[2]


def run(code: str, data: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Load the settings in a process of their own, with nothing of ours in its environment."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("BENCHSITE_")}
    env = {**clean, "BENCHSITE_DATA": str(data), "DJANGO_SETTINGS_MODULE": "benchsite.settings", **variables}
    command = [sys.executable, "-c", f"from django.conf import settings as s; {code}"]
    return subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BENCHSITE_DEBUG", "perhaps"),
        ("BENCHSITE_SECRET_KEY", "short"),
        ("BENCHSITE_URL", "bench.example.org"),
        ("BENCHSITE_DATABASE_URL", "mysql://root@localhost/x"),
        ("BENCHSITE_DATABASE_POOL", "-1"),
        ("BENCHSITE_BROKER_URL", "http://localhost"),
        ("BENCHSITE_LEASE_SECONDS", "soon"),
        ("BENCHSITE_UPLOAD_BLOB", "much"),
        ("BENCHSITE_UPLOAD_FILES", "1"),
        ("BENCHSITE_LOG_LEVEL", "loud"),
        ("BENCHSITE_TIME_ZONE", "Europe/Atlantis"),
        ("BENCHSITE_WORKERS", "0"),
    ],
)
def test_an_odd_value_is_refused_with_its_name_and_what_is_allowed(name: str, value: str) -> None:
    key = name.removeprefix("BENCHSITE_").lower()
    with pytest.raises(BadSetting) as refusal:
        Env({name: value})[key]
    assert name in str(refusal.value)
    assert f"allowed is {VARIABLES[key].allowed}" in str(refusal.value)


def test_a_refusal_shows_no_secret() -> None:
    with pytest.raises(BadSetting) as refusal:
        Env({"BENCHSITE_SECRET_KEY": "hunter2"})["secret_key"]
    assert "hunter2" not in str(refusal.value)
    with pytest.raises(BadSetting) as refusal:
        Env({"BENCHSITE_DATABASE_URL": "mysql://root:hunter2@db/x"})["database_url"]
    assert "hunter2" not in str(refusal.value)


def test_a_mistyped_name_is_refused() -> None:
    with pytest.raises(BadSetting, match="BENCHSITE_DEBUGG is not a setting"):
        Env({"BENCHSITE_DEBUGG": "1"})


def test_every_variable_is_documented_with_its_default_and_what_is_allowed() -> None:
    lines = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8").splitlines()
    for variable in VARIABLES.values():
        rows = [line for line in lines if line.startswith(f"| `{variable.name}` |")]
        assert len(rows) == 1, f"{variable.name} has no row of its own in docs/operations.md"
        assert variable.allowed in rows[0], f"docs/operations.md does not say what {variable.name} may be"
        assert not variable.default or f"`{variable.default}`" in rows[0]


def test_every_documented_variable_exists() -> None:
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    documented = {line.split("`")[1] for line in text.splitlines() if line.startswith("| `BENCHSITE_")}
    assert documented == {variable.name for variable in VARIABLES.values()}


def test_every_management_command_is_documented() -> None:
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    for file in (ROOT / "benchsite" / "management" / "commands").glob("[a-z]*.py"):
        assert f"manage.py {file.stem}" in text


def test_the_local_key_is_made_once_and_kept(tmp_path: Path) -> None:
    first = run("print(s.SECRET_KEY)", tmp_path)
    second = run("print(s.SECRET_KEY)", tmp_path)
    assert first.returncode == 0, first.stderr
    assert len(first.stdout.strip()) >= 50
    assert first.stdout == second.stdout
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


def test_without_debug_a_key_is_demanded(tmp_path: Path) -> None:
    done = run("print(s.SECRET_KEY)", tmp_path, BENCHSITE_DEBUG="0")
    assert done.returncode != 0
    assert "BENCHSITE_SECRET_KEY" in done.stderr
    assert not (tmp_path / "secret_key").exists()


def test_without_debug_a_key_file_will_do(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("k" * 40)
    done = run("print(s.SECRET_KEY)", tmp_path, BENCHSITE_DEBUG="0", BENCHSITE_SECRET_KEY_FILE=str(tmp_path / "key"))
    assert done.stdout.strip() == "k" * 40


def test_an_https_address_makes_cookies_secure(tmp_path: Path) -> None:
    code = "print(s.SESSION_COOKIE_SECURE, s.SECURE_SSL_REDIRECT, s.CSRF_TRUSTED_ORIGINS)"
    done = run(code, tmp_path, BENCHSITE_URL="https://bench.example.org/")
    assert done.stdout.strip() == "True True ['https://bench.example.org']"


def test_the_default_database_is_sqlite_in_the_data_folder(tmp_path: Path) -> None:
    found = database("", tmp_path, 4)
    assert found["NAME"] == str(tmp_path / "benchsite.sqlite3")
    assert "journal_mode=WAL" in found["OPTIONS"]["init_command"]


def test_a_postgresql_url_is_read_with_socket_and_pool(tmp_path: Path) -> None:
    found = database("postgresql://ada:p%40ss@/bench?host=/run/pg&sslmode=require", tmp_path, 3)
    assert (found["USER"], found["PASSWORD"], found["HOST"], found["NAME"]) == ("ada", "p@ss", "/run/pg", "bench")
    assert found["OPTIONS"]["sslmode"] == "require"
    assert found["OPTIONS"]["pool"]["max_size"] == 3
