"""Fixtures of all tests: private servers, a real browser, and guards around the machine's own folders."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from tests import servers
from tests.early import HOME, WORKER

NO_SKIPS = os.environ.get("BENCHSITE_NO_SKIPS") == "1"
_skipped: list[str] = []

# A busy machine may stop a process for minutes; how long an example took proves nothing.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        _skipped.append(f"{report.nodeid}: {reason}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where nothing may be skipped (continuous integration), a skipped test fails the run."""
    if NO_SKIPS and _skipped and not hasattr(session.config, "workerinput"):
        print("\nNothing may be skipped here, and these tests were:\n  " + "\n  ".join(_skipped))
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def django_db_modify_db_settings(request: pytest.FixtureRequest) -> None:
    """Put SQLite's test database into a file, as in real life: one in memory locks whole tables between threads."""
    from django.conf import settings

    database = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        database.setdefault("TEST", {})["NAME"] = str(HOME / f"test-{WORKER}.sqlite3")
    else:
        request.getfixturevalue("django_db_modify_db_settings_parallel_suffix")


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    if not servers.find_program("redis-server"):
        pytest.skip("redis-server is not installed; on Debian: apt install redis-server")
    with servers.redis() as url:
        yield url


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    if not servers.find_program("initdb"):
        pytest.skip("PostgreSQL is not installed; on Debian: apt install postgresql")
    with servers.postgres() as url:
        yield url


@pytest.fixture(scope="session")
def clis() -> Path:
    """Give the folder of the real agent command lines (claude, codex)."""
    for folder in filter(None, [os.environ.get("BENCHSITE_CLIS"), "var/npm"]):
        found = Path(folder).resolve() / "node_modules" / ".bin"
        if (found / "claude").exists() and (found / "codex").exists():
            return found
    program = shutil.which("claude")
    if program and shutil.which("codex"):
        return Path(program).parent
    pytest.skip("claude and codex are not installed; npm is needed: apt install npm, then make test installs them")


@pytest.fixture(scope="session")
def mini() -> Path:
    """Give the folder of the real `mini`, mini-swe-agent's program."""
    for folder in filter(None, [os.environ.get("BENCHSITE_AGENTS"), "var/agents"]):
        found = Path(folder).resolve() / "bin"
        if (found / "mini").exists():
            return found
    pytest.skip("mini-swe-agent is not installed; make test installs it into var/agents")
