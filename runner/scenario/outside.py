"""Loaded by every plain pytest: a bench is no test suite, and says so in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_configure(config: pytest.Config) -> None:
    for argument in config.invocation_params.args:
        path = Path(str(argument).split("::", 1)[0])
        if not path.is_absolute():
            path = config.invocation_params.dir / path
        bench = _bench_above(path)
        if bench is not None and not _has_plain_tests(path):
            raise pytest.UsageError(f"{bench} is a bench, not a test suite: use `benchsite run {bench}`.")


def _bench_above(path: Path) -> Path | None:
    """Find the bench whose tests/ folder, or a part of it, was named."""
    if not path.exists():
        return None
    for folder in (path, *path.parents):
        if folder.name == "tests" and (folder.parent / "bench.py").is_file():
            return folder.parent
    return None


def _has_plain_tests(path: Path) -> bool:
    if path.is_file():
        return not path.name.startswith("bench_")
    return any(path.rglob("test_*.py"))
