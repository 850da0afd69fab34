"""The admin: curators decide there with a reason; nothing on its pages needs an exception from the policy."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from benchsite.benches.models import Bench
from benchsite.curation.models import Decision
from benchsite.runs.models import Run
from tests import make

pytestmark = pytest.mark.django_db
RUNS = "/admin/runs/run/"


@pytest.fixture
def curator(client: Client) -> Client:
    client.force_login(make.make_curator())
    return client


def ask(client: Client, action: str, run: Run, **more: str) -> Any:
    return client.post(RUNS, {"action": action, "_selected_action": [run.pk], **more}, follow=True)


def test_a_curator_accepts_a_run_and_says_why(curator: Client, ingested: Callable[..., Run]) -> None:
    run = ingested(verdict="submitted")
    page = ask(curator, "accept", run)
    assert b"It is shown beside the run" in page.content
    assert not Decision.objects.exists()
    ask(curator, "accept", run, decide="1", reason="Reproduced it here.")
    run.refresh_from_db()
    decision = Decision.objects.get()
    assert (run.verdict, decision.reason, decision.by.username) == ("accepted", "Reproduced it here.", "curie")


def test_runs_that_wait_for_a_verdict_stand_first(curator: Client, ingested: Callable[..., Run]) -> None:
    waiting, accepted = ingested(verdict="submitted"), ingested("another", seed=2)
    text = curator.get(RUNS).content.decode()
    assert 0 < text.index(f"…{waiting.ulid[-6:]}") < text.index(f"…{accepted.ulid[-6:]}")


def test_without_a_reason_nothing_is_decided(curator: Client, ingested: Callable[..., Run]) -> None:
    run = ingested(verdict="submitted")
    page = ask(curator, "reject", run, decide="1", reason="   ")
    assert b"This field is required" in page.content
    assert not Decision.objects.exists()


def test_a_decision_that_cannot_be_taken_is_told(curator: Client, ingested: Callable[..., Run]) -> None:
    run = ingested(verdict="submitted")
    page = ask(curator, "withdraw", run, decide="1", reason="So.")
    assert b"is submitted; it cannot be taken by" in page.content


def test_the_reason_is_shown_on_the_run(curator: Client, ingested: Callable[..., Run]) -> None:
    run = ingested(verdict="submitted")
    ask(curator, "reject", run, decide="1", reason="Leaked <b>answers</b>.")
    page = curator.get(f"{RUNS}{run.pk}/change/").content.decode()
    assert "Leaked &lt;b&gt;answers&lt;/b&gt;." in page


def test_staff_who_are_no_curators_see_nothing(client: Client, ingested: Callable[..., Run]) -> None:
    run = ingested(verdict="submitted")
    client.force_login(make.make_user("staff", is_staff=True))
    assert client.get(RUNS).status_code == 403
    assert client.post(RUNS, {"action": "accept", "_selected_action": [run.pk]}).status_code == 403


def test_a_curator_makes_a_bench_private(curator: Client, ingested: Callable[..., Run]) -> None:
    bench = ingested().bench
    curator.post("/admin/benches/bench/", {"action": "make_private", "_selected_action": [bench.pk]})
    assert Bench.objects.get().visibility == "private"
    assert Bench.objects.get().revision > bench.revision


@pytest.mark.parametrize("model", admin.site._registry, ids=lambda model: model.__name__)
def test_no_admin_page_has_anything_inline(
    client: Client, ingested: Callable[..., Run], model: Any, settings: Any
) -> None:
    run = ingested(verdict="submitted")
    user = make.make_user("root", is_staff=True, is_superuser=True)
    make.make_token(user)
    client.force_login(user)
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    pages = [reverse(f"{name}_changelist"), "/admin/", "/admin/password_change/"]
    if row := model._default_manager.first():
        pages.append(reverse(f"{name}_change", args=[row.pk]))
    for address in pages:
        answer = client.get(address)
        assert answer.status_code == 200, address
        assert_nothing_inline(answer.content.decode(), address)
    assert_nothing_inline(ask(client, "accept", run).content.decode(), "decide")


def assert_nothing_inline(html: str, address: str) -> None:
    page = BeautifulSoup(html, "html.parser")
    for script in page.find_all("script"):
        assert script.get("src") or script.get("type") == "application/json", f"{address}: {script}"
    assert page.find_all("style") == [], address
    odd = [tag for tag in page.find_all(True) for name in tag.attrs if name == "style" or re.match(r"on[a-z]+$", name)]
    assert odd == [], f"{address}: {odd[:2]}"


def test_projections_cannot_be_edited_by_hand(curator: Client, ingested: Callable[..., Run]) -> None:
    run = ingested(verdict="submitted")
    assert curator.get(f"{RUNS}add/").status_code == 403
    assert curator.post(f"{RUNS}{run.pk}/change/", {"verdict": "accepted"}).status_code == 403
    assert curator.post(f"{RUNS}{run.pk}/delete/", {"post": "yes"}).status_code == 403
    run.refresh_from_db()
    assert run.verdict == "submitted"
