"""Comparisons again and again: what is kept of them, subjects of several runs, and how much is asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from benchsite.flows.curate import withdraw_trial
from benchsite.readings.compare import pieces, sides
from benchsite.runs.models import Run
from tests.forgetting import forget
from tests.make import make_curator
from tests.site.web.test_compare_numbers import cells_of, of, runs_of, subjects_of

Page = Callable[..., BeautifulSoup]


def test_what_a_process_keeps_of_a_comparison_is_not_shown_once_a_run_has_changed(
    two: tuple[Run, Run], client: Client
) -> None:
    addresses = [runs_of(two, sort="name"), runs_of(two, policy="errors-fail/1", show="all"), of(*subjects_of(
        two[0], "careful", "meddler"), show="all"), of(*cells_of(two[0], "careful", "meddler"))]  # fmt: skip

    def pages() -> list[str]:
        return [client.get("/compare/", asked).content.decode() for asked in addresses]

    new = pages()
    assert pieces._kept
    assert pages() == new
    found = re.search(rf"of=trial:{two[0].ulid}/(\d+)&amp;of=trial", new[0])
    assert found
    withdraw_trial(two[0], int(found[1]), by=make_curator(), reason="the judge was down")
    seen = pages()
    pieces._kept.clear()
    assert pages() == seen
    assert all(now != before for now, before in zip(seen[:2], new[:2], strict=True))
    assert f"of=trial:{two[0].ulid}/{found[1]}&amp;" not in seen[0]


def test_a_subject_that_ran_long_ago_is_set_beside_one_that_ran_often_since(
    two: tuple[Run, Run], page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sides, "RUNS", 1)
    for number in range(2):
        cell = two[1].cells.get(subject__axes__agent="meddler")
        since = Run.objects.get(pk=two[1].pk)
        since.pk, since.ulid = None, f"01M8{number:022}"
        since.save()
        cell.pk, cell.run = None, since
        cell.save()
    shown = page("/compare/", **of(*subjects_of(two[0], "careful", "meddler")))
    assert [name in shown.get_text() for name in ("careful", "meddler")] == [True, True]


def test_a_change_is_shown_by_an_older_run_where_the_newest_has_no_such_trial(
    two: tuple[Run, Run], client: Client
) -> None:
    newest, older = sorted(two, key=lambda run: -run.pk)

    def shown() -> set[tuple[str, str]]:
        forget()
        page = client.get("/compare/", of(*subjects_of(two[0], "careful", "hasty"))).content.decode()
        return set(re.findall(r"compare/\?of=trial:(\w+)/(\d+)&amp;of=trial", page))

    def as_it(trial: Any) -> Any:
        same = older.trials.filter(case=trial.case_id, cell__key10=trial.cell.key10, outcome=trial.outcome)
        return same.filter(state="scored").order_by("index").first()

    named = [newest.trials.get(index=index) for ulid, index in shown() if ulid == newest.ulid]
    gone, instead = next((trial, found) for trial in named if (found := as_it(trial)))
    newest.trials.filter(cell=gone.cell_id, case=gone.case_id).update(state="run_error")
    now = shown()
    assert (newest.ulid, str(gone.index)) not in now
    assert (older.ulid, str(instead.index)) in now


def test_a_subject_more_costs_no_query_more(two: tuple[Run, Run], client: Client) -> None:
    many = []
    for agents in (("careful", "hasty"), ("careful", "hasty", "meddler")):
        with CaptureQueriesContext(connection) as queries:
            assert client.get("/compare/", of(*subjects_of(two[0], *agents))).status_code == 200
        many.append(len(queries))
    assert max(many) <= 12
    assert abs(many[0] - many[1]) <= 1  # older runs are asked where the newest one lacks a trial


def test_six_sides_cost_no_more_than_twelve_queries(two: tuple[Run, Run], client: Client) -> None:
    named = [*cells_of(two[0], "careful", "hasty", "meddler"), *cells_of(two[1], "careful", "hasty", "meddler")]
    for asked in (of(*named), runs_of(two), runs_of(two, policy="errors-fail/1", measure="collateral", show="all")):
        with CaptureQueriesContext(connection) as queries:
            assert client.get("/compare/", asked).status_code == 200
        assert len(queries) <= 12
        with CaptureQueriesContext(connection) as queries:
            assert client.get("/compare/trials", {**asked, "side": 2, "seen": "counted"}).status_code == 200
        assert len(queries) <= 12
