"""Coverage is measured in the tests of single parts, not in long walks through the whole program.

Tracing doubles what a test costs, and a process that measures itself costs half a second more. So walks go without,
processes are measured only by the tests whose subject they are, and of a test with many parameters the first case is
measured. Leaving something out can only make the measured share too small, never too large.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

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
OF_PROCESSES = (
    "tests/runner/agents/test_command.py",
    "tests/runner/cli/",
    "tests/runner/environments/test_sessions.py",
    "tests/runner/scenario/",
    "tests/runner/test_cleaning.py",
    "tests/runner/test_mock_model.py",
    "tests/runner/worlds/",
    "tests/site/test_workers.py",
)
"""What runs only in processes of its own is measured here."""
PROCESSES = "COVERAGE_PROCESS_CONFIG"
"""By this variable coverage starts itself in the processes of a test."""


_seen: set[str] = set()


def part_measured(nodeid: str) -> AbstractContextManager[None]:
    """Give what a test runs in: measured whole, without the processes that it starts, or not at all."""
    test = nodeid.partition("[")[0]
    if test.startswith(WALKS) or test in _seen:
        return unmeasured()
    _seen.add(test)
    return nullcontext() if test.startswith(OF_PROCESSES) else _without_processes()


@contextmanager
def _without_processes() -> Iterator[None]:
    config = os.environ.pop(PROCESSES, None)
    try:
        yield
    finally:
        if config is not None:
            os.environ[PROCESSES] = config


@contextmanager
def unmeasured() -> Iterator[None]:
    """Trace neither this process nor those it starts; where nothing is traced, change nothing."""
    tracing, of_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type]  # None ends it
    try:
        with _without_processes():
            yield
    finally:
        threading.settrace(of_threads)  # type: ignore[arg-type]
        sys.settrace(tracing)
