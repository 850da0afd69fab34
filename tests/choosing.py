"""Which tests run on which database, and which modules the workers are given first."""

from __future__ import annotations

import pytest
from django.conf import settings

DATABASE = frozenset({"db", "transactional_db", "live_server"})
LONG = (
    "tests/runner/environments/test_container.py",
    "tests/runner/test_guides.py",
    "tests/runner/test_engine.py",
    "tests/browser/test_journeys.py",
    "tests/site/test_workers.py",
    "tests/runner/agents/test_real_opencode.py",
    "tests/runner/test_examples.py",
    "tests/runner/test_resume.py",
    "tests/runner/test_full_disk.py",
    "tests/runner/test_real_agents_bench.py",
    "tests/runner/agents/test_real_mini_swe_agent.py",
    "tests/browser/test_diff_lines.py",
    "tests/browser/test_explorer_pages.py",
    "tests/browser/test_compare_and_explore.py",
    "tests/browser/test_diff_page.py",
    "tests/runner/test_world_backends.py",
    "tests/runner/test_regrade.py",
    "tests/runner/test_prepare.py",
    "tests/runner/environments/test_isolation.py",
    "tests/runner/environments/test_real_agents.py",
    "tests/runner/test_random_kills.py",
    "tests/site/test_figures.py",
)
"""Few tests and much time: begun last, one of them would keep one worker busy and leave the others idle."""


def choose(items: list[pytest.Item]) -> list[pytest.Item]:
    """On another database than SQLite, leave out what would prove the same again."""
    again = not settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
    return sorted((item for item in items if not again or _asks_it(item)), key=_place)


def _asks_it(item: pytest.Item) -> bool:
    if item.get_closest_marker("one_database"):
        return False
    return bool(item.get_closest_marker("django_db") or DATABASE.intersection(getattr(item, "fixturenames", ())))


def _place(item: pytest.Item) -> int:
    module = item.nodeid.partition("::")[0]
    return LONG.index(module) if module in LONG else len(LONG)
