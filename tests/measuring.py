"""Coverage is measured in the tests of single parts, not in long walks through the whole program.

Tracing doubles what a test costs. A walk runs lines that nearer tests run as well, so that going without it can only
make the measured share too small, never too large.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

WALKS = (
    "tests/browser/",
    "tests/runner/agents/test_real_",
    "tests/runner/environments/test_real_agents.py",
    "tests/runner/environments/test_isolation.py",
    "tests/runner/test_evaluation_guide.py",
    "tests/runner/test_examples.py",
    "tests/runner/test_guides.py",
    "tests/runner/test_hidden_tests_bench.py",
    "tests/runner/test_random_kills.py",
    "tests/runner/test_real_agents_bench.py",
    "tests/runner/test_world_backends.py",
    "tests/site/test_figures.py",
    "tests/site/web/test_rebuilt_pages.py",
    "tests/test_floors.py",
)
PROCESSES = "COVERAGE_PROCESS_CONFIG"
"""By this variable coverage starts itself in the processes of a test."""


def is_walk(nodeid: str) -> bool:
    return nodeid.startswith(WALKS)


@contextmanager
def unmeasured() -> Iterator[None]:
    """Trace neither this process nor those it starts; where nothing is traced, change nothing."""
    tracing, of_threads, config = sys.gettrace(), threading.gettrace(), os.environ.pop(PROCESSES, None)
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type]  # None ends it
    try:
        yield
    finally:
        if config is not None:
            os.environ[PROCESSES] = config
        threading.settrace(of_threads)  # type: ignore[arg-type]
        sys.settrace(tracing)
