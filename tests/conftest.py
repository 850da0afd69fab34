"""Fixtures of all tests: private servers, a real browser, and guards around the machine's own folders."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest

from tests import choosing, measuring, servers
from tests.early import HOME, WORKER

NO_SKIPS = os.environ.get("BENCHSITE_NO_SKIPS") == "1"
_skipped: list[str] = []
_failed: list[str] = []

# A busy machine may stop a process for minutes; how long an example took, or to make it, proves nothing. Where tests
# decide what lands, each run tries the same examples: new ones are found on the machine of who writes the code.
hypothesis.settings.register_profile(
    "patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow], derandomize=NO_SKIPS
)
hypothesis.settings.load_profile("patient")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    chosen = choosing.choose(items)
    kept = set(chosen)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = chosen


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    with measuring.part_measured(item.nodeid):
        return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        _skipped.append(f"{report.nodeid}: {reason}")
    if report.failed:
        _failed.append(report.nodeid)
        if hasattr(report, "node"):  # it came from a worker: say it at once, the whole story comes at the end
            print(f"\nFAILED {report.nodeid} ({report.when})", flush=True)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Name what failed. Where nothing may be skipped (continuous integration), a skipped test fails the run."""
    if hasattr(session.config, "workerinput"):
        return
    told = os.environ.get("FAILED_TESTS")
    wrong = _failed + [line.partition(": ")[0] for line in _skipped if NO_SKIPS]
    if told and wrong:
        Path(told).write_text("".join(f"{test}\n" for test in dict.fromkeys(wrong)))
    if NO_SKIPS and _skipped:
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
