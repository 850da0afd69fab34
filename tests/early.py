"""Loaded before anything else (`-p tests.early`): everything a test leaves goes to a folder of its own.

Django reads its settings once, before any conftest is imported, so the environment has to be set here."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

HOME = Path(os.environ.get("BENCHSITE_TEST_HOME") or tempfile.mkdtemp(prefix="benchsite-tests-"))
"""One folder for a whole test run: workers of pytest-xdist are given their parent's."""
_MAKER = "BENCHSITE_TEST_HOME" not in os.environ

WORKER = os.environ.get("PYTEST_XDIST_WORKER", "main")
os.environ["BENCHSITE_TEST_HOME"] = str(HOME)
os.environ["BENCHSITE_DATA"] = str(HOME / f"data-{WORKER}")
os.environ["BENCHSITE_WORLDS"] = str(HOME / "worlds")
# Playwright's own event loop runs in the test's thread, where Django would refuse the database.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"


def pytest_unconfigure() -> None:
    if _MAKER:
        shutil.rmtree(HOME, ignore_errors=True)
