"""What a balancer asks, and what every page carries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def test_a_living_process_says_so_without_a_database(client: Client, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert answer.headers["Cache-Control"] == "no-store"


def test_a_ready_site_says_so(client: Client) -> None:
    assert client.get("/readyz").json() == {"status": "ok"}


def test_a_site_whose_blobs_cannot_be_kept_is_not_ready(client: Client, settings: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    settings.BLOBS = tmp_path / "file" / "blobs"
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "blobs" in answer.json()


def test_a_site_behind_on_migrations_is_not_ready(client: Client) -> None:
    from django.db.migrations.recorder import MigrationRecorder

    MigrationRecorder.Migration.objects.filter(app="runs").delete()
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "migrate" in answer.json()["database"]


def test_every_answer_carries_the_policy(client: Client) -> None:
    for address in ("/", "/healthz", "/login/", "/api/v1/runs", "/nothing-here"):
        policy = client.get(address).headers["Content-Security-Policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
