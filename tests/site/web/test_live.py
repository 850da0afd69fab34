"""A run that goes on: what its page says while one watches, who may cancel it, and when nobody drives it any more."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from benchsite.flows.launch import launch
from benchsite.runs.models import Run
from benchsite.runs.recount import recount
from tests.make import make_curator, make_user
from tests.site.test_workers import bench

Page = Callable[..., BeautifulSoup]


def until(what: Callable[[], Any], seconds: float = 300) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.1)
    raise AssertionError("it did not happen")


def drive(folder: Path, by: Any) -> None:
    try:
        launch(folder, by=by, workers=1)
    finally:
        connection.close()


@pytest.fixture
def going(made: Callable[..., Run]) -> Run:
    """A run whose last two trials run, and which will not fall silent, however long this machine stands still."""
    run = made("going", trials=10, state="running", fates=False)
    Run.objects.filter(pk=run.pk).update(seen_at=timezone.now() + timedelta(hours=1))
    return run


@pytest.mark.django_db(transaction=True)
def test_a_run_is_watched_and_cancelled_from_its_page(
    tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchsite.flows.cancelling.PATIENCE", 300)  # a busy machine may end the trial's process late
    monkeypatch.setattr("benchsite.readings.alive.PATIENCE", timedelta(hours=1))
    ada, other = make_curator("ada"), Client()
    client.force_login(ada)
    other.force_login(make_user("olga"))
    folder = bench(tmp_path / "bench", "slow")
    thread = threading.Thread(target=drive, args=(folder, ada))
    thread.start()
    try:
        run = until(lambda: Run.objects.filter(state="running").exclude(under_way=[]).first())
        address = reverse("run", args=[run.ulid])
        part = BeautifulSoup(client.get(address, {"part": "live"}).content, "html.parser")
        row = part.select_one("#progress")
        assert row and "of 2 trials done" in row.get_text(" ", strip=True)
        assert "trial " in part.select_one(".under-way").get_text()  # type: ignore[union-attr]
        assert part.select_one(f"form[action='{reverse('run_cancel', args=[run.ulid])}']")
        assert not BeautifulSoup(other.get(address).content, "html.parser").select_one("form[action$='cancel/']")
        refused = other.post(reverse("run_cancel", args=[run.ulid]), follow=True).content.decode()
        assert "Only whoever started a run, or a curator, cancels it." in refused
        said = client.post(reverse("run_cancel", args=[run.ulid]), follow=True).content.decode()
        assert "is cancelled; its page shows it in a few seconds." in said
    finally:
        thread.join(300)
    assert not thread.is_alive()
    ended = client.get(address, {"part": "live", "fixed": "1"}).content.decode()
    assert "The run has ended: cancelled" in ended
    assert "hx-get" not in ended


def test_a_part_is_what_the_page_holds_of_it(going: Run, page: Page) -> None:
    address = reverse("run", args=[going.ulid])
    for part in ("live", "tables", "rest"):
        before, alone, after = (page(address, **asked).select_one(f"#{part}") for asked in ({}, {"part": part}, {}))
        assert before and alone and after
        whole = {one.get_text(" ", strip=True) for one in (before, after)}  # the time between tells how long it runs
        assert alone.get_text(" ", strip=True) in whole
        assert str(alone["hx-get"]).endswith(f"part={part}")
    times = {tag["hx-trigger"] for tag in page(address).select("[hx-get*='part=']")}
    assert len(times) == 1, "parts that come at times of their own contradict each other in between"


def test_rows_of_a_run_that_goes_on_keep_their_places(going: Run, page: Page) -> None:
    def rows(**query: Any) -> list[str]:
        return [th.get_text(strip=True) for th in page(address, **query).select(".leaderboard tbody th")]

    address = reverse("run", args=[going.ulid])
    manifest = [cell.subject.axes["agent"] for cell in going.cells.order_by("ordinal").select_related("subject")]
    assert rows() == manifest
    heads = [th.get_text(" ", strip=True) for th in page(address).select(".leaderboard thead th, .leaderboard caption")]
    going.trials.filter(pk=going.trials.filter(outcome="solved").first().pk).update(state="run_error", outcome="")
    recount(going)
    Run.objects.filter(pk=going.pk).update(revision=going.revision + 1)
    soup = page(address)
    assert soup.select_one(".leaderboard .toned")
    assert [th.get_text(" ", strip=True) for th in soup.select(".leaderboard thead th, .leaderboard caption")] == heads
    Run.objects.filter(pk=going.pk).update(state="finished", revision=going.revision + 2)
    progress = page(address, fixed="1", part="live").select(".progress tbody th")
    assert [th.get_text(strip=True) for th in progress] == manifest, "nor do they when it ends"
    assert rows(fixed="1", part="tables") == manifest


def test_a_button_that_cancels_a_trial_never_becomes_anothers(going: Run, page: Page) -> None:
    """A morph keeps the element that has the focus: without an id of its own it would be the next trial's."""
    under_way = page(reverse("run", args=[going.ulid])).select(".under-way li")
    assert [li["id"] for li in under_way] == [f"under-way-{index}" for index, *_ in going.under_way]
    titles = {cell.pk: cell.subject.axes["agent"] for cell in going.cells.select_related("subject")}
    assert [li.span.get_text() for li in under_way if li.span] == [titles[cell] for _, _, cell, _ in going.under_way]


def test_each_number_of_the_progress_lists_its_trials(going: Run, page: Page) -> None:
    address = reverse("run", args=[going.ulid])
    numbers = [(str(a["href"]), a.get_text(strip=True)) for a in page(address).select("#live .num a:not([href^='#'])")]
    assert len(numbers) >= 7
    for link, number in numbers:
        assert page(link).h1.get_text(strip=True).split()[0] == number, link  # type: ignore[union-attr]


def test_a_run_whose_runner_was_killed_is_not_said_to_run_for_ever(going: Run, page: Page) -> None:
    address = reverse("run", args=[going.ulid])
    assert "No sign of life" not in page(address).get_text()
    Run.objects.filter(pk=going.pk).update(seen_at=timezone.now() - timedelta(minutes=5))
    soup = page(address)
    assert "No sign of life since" in soup.get_text()
    assert soup.select_one("#progress").get_text(strip=True) == "No sign of life"  # type: ignore[union-attr]
    hung = [int(td.get_text()) for td in soup.select(".progress tbody tr td:nth-of-type(5)")]
    assert sum(hung) == 2
    assert "no sign of life" in page(reverse("runs")).get_text(" ", strip=True).lower()


def test_a_running_page_asks_no_more_than_twelve_queries(going: Run, client: Client) -> None:
    client.force_login(make_curator())
    for query in ("", "?measure=collateral", "?part=live", "?part=tables", "?open=fix_bug&measure=score"):
        with CaptureQueriesContext(connection) as queries:
            client.get(reverse("run", args=[going.ulid]) + query)
        assert len(queries) <= 12, query
