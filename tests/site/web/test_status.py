"""What an operator is told: how the site is, what is wrong in a sentence, what to do; counting no large table."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from celery import current_app
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchsite.artifacts.models import Blob
from benchsite.flows import queue
from benchsite.jobs.models import Job, Lease
from benchsite.logs import KeptErrors, last_errors
from benchsite.readings.status import stored
from benchsite.runs.models import Run
from tests import make

pytestmark = pytest.mark.django_db
MOST = 12


@pytest.fixture
def operator(client: Client, settings: Any, tmp_path: Path) -> Client:
    settings.ERRORS = tmp_path / "errors.jsonl"
    client.force_login(make.make_user("olga", is_staff=True))
    return client


def told(client: Client, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/status/status.json{query}").json()
    return found


def test_a_site_that_is_well_says_so_and_counts_no_large_table(
    operator: Client, made: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "LITTLE", 0)  # this machine's disk may be nearly full
    monkeypatch.setattr(stored, "SMALL", 0)
    made(trials=4)
    call_command("sweep", verbosity=0)
    with CaptureQueriesContext(connection) as queries:
        text = BeautifulSoup(operator.get("/status/").content, "html.parser").get_text(" ", strip=True)
    assert "All is well." in text
    assert "Last errors" in text
    assert len(queries) <= MOST
    counted = [row["sql"] for row in queries if re.search(r"COUNT.*FROM \"(runs_trial|runs_observation)", row["sql"])]
    assert counted == []
    data = told(operator)
    assert (data["status"], data["wrong"]) == ("ok", {})
    assert data["database"]["database"] == connection.vendor
    assert data["database"]["database_bytes"] > 0
    if connection.vendor == "sqlite":  # PostgreSQL knows after its next ANALYZE; numbers of rows that went count here
        assert data["database"]["about_trials"] >= Run.objects.get().trials.count() > 0


def test_everything_that_is_wrong_is_a_sentence_with_what_to_do(
    operator: Client, made: Callable[..., Run], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(trials=4, state="running")
    long_ago = timezone.now() - timedelta(hours=1)
    Run.objects.update(seen_at=long_ago)
    Blob.objects.filter(pk=Blob.objects.first().pk).update(state="held")  # type: ignore[union-attr]
    Job.objects.create(kind="upload", state="failed", finished_at=timezone.now(), message="No bundle.")
    Lease.objects.create(run="R", index=1, until=long_ago)
    settings.BROKER_URL = "redis://127.0.0.1:9/0"  # nobody listens there
    monkeypatch.setattr(stored, "LITTLE", 1 << 62)
    monkeypatch.setattr(stored, "pending", lambda: 2)
    wrong = told(operator)["wrong"]
    assert set(wrong) == {
        *("queue", "leases_expired", "jobs_failed", "last_sweep", "runs_silent"),
        *("migrations_pending", "disk_data", "disk_blobs", "disk_worlds", "blobs_held"),
    }
    assert "does not answer" in wrong["queue"]
    assert "manage.py migrate" in wrong["migrations_pending"]
    soup = BeautifulSoup(operator.get("/status/").content, "html.parser")
    notices = soup.select(".notices li")
    assert len(notices) == len(wrong)
    docs = BeautifulSoup(operator.get("/docs/operations/").content, "html.parser")
    for link in soup.select(".notices a[href*='/docs/']"):
        assert docs.select_one(f"#{str(link['href']).partition('#')[2]}"), link
    assert "No bundle." in soup.get_text()


def test_a_sweep_is_remembered(operator: Client) -> None:
    assert told(operator)["work"]["last_sweep"] is None
    call_command("sweep", verbosity=0)
    call_command("sweep", verbosity=0)
    assert told(operator)["work"]["last_sweep"] >= (timezone.now() - timedelta(minutes=5)).isoformat()
    assert Job.objects.count() == 1


def test_the_last_errors_are_kept_without_what_they_might_give_away(operator: Client, settings: Any) -> None:
    handler = KeptErrors(settings.ERRORS)
    try:
        raise ValueError("password=hunter2")
    except ValueError as error:
        info = (ValueError, error, error.__traceback__)
    record = logging.LogRecord("benchsite.web", logging.ERROR, "x", 1, "The page broke", None, info)
    handler.handle(record)
    marked = {"event": "this error was shown to a reader", "mark": "ab12cd34", "path": "/runs/"}
    handler.handle(logging.LogRecord("benchsite", logging.ERROR, "x", 1, marked, None, None))
    with settings.ERRORS.open("a") as file:
        file.write('{"cut off')
    text = operator.get("/status/").content.decode()
    assert "ValueError: The page broke" in text
    assert "test_status.py:" in text
    assert "ab12cd34" in text
    assert "hunter2" not in settings.ERRORS.read_text()
    settings.ERRORS.write_text("{}\n" * 200_000)
    handler.handle(record)
    assert len(settings.ERRORS.read_text().splitlines()) == 1, "a large file is put aside"
    assert last_errors(settings.ERRORS)[-1]["what"] == "ValueError: The page broke"


def test_workers_are_asked_only_where_somebody_wants_to_know(
    operator: Client, settings: Any, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.BROKER_URL = redis_url
    monkeypatch.setitem(current_app.conf, "broker_url", redis_url)  # what a process reads when it starts
    monkeypatch.setattr(queue, "CONNECT", 60.0)
    monkeypatch.setattr(queue, "ANSWER", 0.2)
    assert "workers" not in told(operator)["work"]
    assert told(operator)["work"]["queue_depth"] == 0
    assert "start one with celery" in told(operator, "?ask=workers")["wrong"]["workers"]
    assert "start one with celery" in operator.get("/status/?part=workers").content.decode()
