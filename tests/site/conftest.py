"""Fixtures of the site's tests: a store of blobs of its own for each test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import make
from tests.forgetting import forget


@pytest.fixture(autouse=True)
def blobs(tmp_path: Path, settings: Any) -> Path:
    settings.BLOBS = tmp_path / "blobs"
    settings.MEDIA_ROOT = tmp_path / "incoming"
    return tmp_path / "blobs"


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    """A test whose rows are rolled back may raise a revision that the next one raises again."""
    forget()


@pytest.fixture(autouse=True)
def quick_passwords(settings: Any) -> None:
    """Accounts are made by the dozen here, and hashing well takes half a second each."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def ingested(tmp_path: Path) -> Callable[..., Any]:
    """Make a run and take it in, accepted; gives its row."""

    def make_and_ingest(folder: str = "bench", **options: Any) -> Any:
        from benchsite.flows.ingest import ingest

        verdict = options.pop("verdict", "accepted")
        by = options.pop("by", None)
        return ingest(make.make_run(tmp_path / folder, **options), verdict=verdict, by=by)

    return make_and_ingest
