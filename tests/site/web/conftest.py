"""A site with one accepted run in it, made by the runner's own modules and ingested by the one road."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from benchsite.flows.ingest import ingest
from benchsite.runs.models import Run
from tests.make import make_run


@pytest.fixture(scope="session")
def run_dirs(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Make each run directory once: ingest only reads it."""

    @cache
    def make(name: str, **how: Any) -> Path:
        return make_run(tmp_path_factory.mktemp(name), **how)

    return make


@pytest.fixture
def made(db: None, run_dirs: Callable[..., Path]) -> Callable[..., Run]:
    """Make and ingest a run; `verdict` and `visibility` go to ingest, all else to the maker."""

    def make(
        name: str = "a", *, verdict: str = "accepted", visibility: str = "public", by: Any = None, **how: Any
    ) -> Run:
        return ingest(run_dirs(name, **how), verdict=verdict, visibility=visibility, by=by)

    return make


@pytest.fixture
def run(made: Callable[..., Run]) -> Run:
    """Three cells, three scenarios, ten trials each: every fate once, the rest scored."""
    return made(trials=10)


@pytest.fixture
def page(client: Client) -> Callable[..., BeautifulSoup]:
    """Read a page that must be there."""

    def read(address: str, **query: Any) -> BeautifulSoup:
        response = client.get(address, query)
        assert response.status_code == 200, f"{address}: {response.status_code}"
        return BeautifulSoup(response.content, "html.parser")

    return read


@pytest.fixture
def two(made: Callable[..., Run]) -> tuple[Run, Run]:
    """The same bench run twice: 3 cells, 8 scenarios, 3 trials; other luck, and every fate once."""
    return made("one", scenarios=8, trials=3), made("two", scenarios=8, trials=3, seed=2)
