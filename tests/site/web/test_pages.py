"""What the pages say, and that they say it in few queries."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from benchsite.runs.models import Cell, Run
from tests.make import make_user

Page = Callable[..., BeautifulSoup]
MOST = 12


def addresses(run: Run) -> dict[str, str]:
    cell = Cell.objects.filter(run=run).first()
    assert cell
    bench = [run.bench.owner, run.bench.name]
    return {
        "home": reverse("home"),
        "benches": reverse("benches"),
        "bench": reverse("bench", args=bench),
        "bench_version": reverse("bench_version", args=[*bench, run.version.definition]),
        "bench_scenario": reverse("bench_scenario", args=[*bench, "fix_bug"]),
        "runs": reverse("runs"),
        "run": reverse("run", args=[run.ulid]),
        "run_measure": reverse("run", args=[run.ulid]) + "?measure=collateral&policy=errors-fail/1",
        "run_category": reverse("run", args=[run.ulid]) + "?measure=approach",
        "trials": reverse("run_trials", args=[run.ulid]),
        "scenario": reverse("run_scenario", args=[run.ulid, "fix_bug"]),
        "cell": reverse("run_cell", args=[run.ulid, cell.key10]),
        "upload": reverse("upload"),
        "tokens": reverse("tokens"),
    }


@pytest.mark.parametrize("login", [False, True])
def test_no_page_asks_more_than_twelve_queries(run: Run, client: Client, login: bool) -> None:
    if login:
        client.force_login(make_user(groups=("acme", "curators")))
    asked = {}
    for name, address in addresses(run).items():
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        asked[name] = len(queries)
    assert {name: many for name, many in asked.items() if many > MOST} == {}


def test_queries_do_not_grow_with_benches_and_runs(made: Callable[..., Run], client: Client) -> None:
    made("one")
    with CaptureQueriesContext(connection) as few:
        client.get("/")
    for seed in (2, 3, 4):
        made(str(seed), bench=f"acme/b{seed}", seed=seed)
    with CaptureQueriesContext(connection) as many:
        client.get("/")
    assert len(many) == len(few)


def test_an_empty_home_says_how_to_begin(db: None, page: Page) -> None:
    text = page("/").get_text(" ", strip=True)
    assert "Nothing has been uploaded yet" in text
    assert "benchsite push RUN --to http://testserver" in text


def test_home_shows_each_bench_with_its_best_subject(run: Run, page: Page) -> None:
    row = page("/").select_one("table tbody tr")
    assert row
    words = row.get_text(" ", strip=True)
    assert "demo" in words
    assert "resolved" in words
    assert f"{run.counts['scored']} / {run.counts['planned']}" in words


def test_the_run_page_names_the_leader_and_where_it_loses(made: Callable[..., Run], page: Page) -> None:
    run = made(cells=3, scenarios=6, trials=10, fates=False)
    said = page(reverse("run", args=[run.ulid])).select_one(".verdict")
    assert said
    assert re.search(
        r"careful leads: resolved \d+ % \[\d+–\d+\] over 60 counted trials", said.get_text(" ", strip=True)
    )


def test_the_matrix_has_a_square_for_each_scenario_and_cell(run: Run, page: Page) -> None:
    table = page(reverse("run", args=[run.ulid])).select_one("#grid")
    assert table
    assert len(table.select("tbody tr")) == 3
    assert all(len(row.select("td[class^=q], td.g0")) == 3 for row in table.select("tbody tr"))


def test_nothing_counted_is_a_hatched_dash_and_never_a_zero(made: Callable[..., Run], page: Page) -> None:
    run = made(cells=3, scenarios=3, trials=1)  # fewer trials than fates: none is left to be merely scored
    table = page(reverse("run", args=[run.ulid])).select_one("#grid")
    assert table
    hatched = table.select("tbody td.g0")
    assert hatched
    assert {square.a.get_text() for square in hatched if square.a} == {"–"}


def test_an_error_is_marked_as_an_error_and_left_out_of_the_figure(run: Run, page: Page) -> None:
    soup = page(reverse("run", args=[run.ulid]))
    notices = soup.select_one(".notices")
    assert notices
    assert "Errors are not failures of the subject" in notices.get_text()
    assert "left out" in soup.select_one("#leaderboard").find_parent("section").get_text()  # type: ignore[union-attr]


def test_the_policy_stands_in_the_address_and_changes_the_figure(run: Run, page: Page) -> None:
    def board(**query: Any) -> str:
        table = page(reverse("run", args=[run.ulid]), **query).select_one(".leaderboard")
        assert table
        return table.get_text(" ", strip=True)

    scored, failing = board(), board(policy="errors-fail/1")
    assert "Policy scored/1" in scored
    assert "Policy errors-fail/1" in failing
    assert scored.split("Mean over")[0] != failing.split("Mean over")[0]


def test_few_trials_and_too_few_scenarios_are_said_in_words(made: Callable[..., Run], page: Page) -> None:
    run = made(trials=3)
    text = page(reverse("run", args=[run.ulid])).get_text(" ", strip=True)
    assert "Few trials" in text
    assert "Too few scenarios (3)" in text


def test_an_isolation_of_none_is_said_on_the_run(run: Run, page: Page) -> None:
    assert "Isolation: none." in page(reverse("run", args=[run.ulid])).get_text()


def test_a_submitted_run_says_that_it_does_not_count(made: Callable[..., Run], client: Client) -> None:
    member = make_user(groups=("acme",))
    run = made(verdict="submitted", by=member)
    client.force_login(member)
    text = client.get(reverse("run", args=[run.ulid])).content.decode()
    assert "until it is accepted, it counts on no leaderboard" in text
    bench = client.get(reverse("bench", args=["acme", "demo"])).content.decode()
    assert "No accepted run yet" in bench


def test_the_bench_page_shows_readme_measures_and_leaders(run: Run, page: Page) -> None:
    soup = page(reverse("bench", args=["acme", "demo"]))
    assert soup.select_one(".prose em")
    assert not soup.select_one(".prose script")
    assert "Has the agent resolved the bug?" in soup.get_text()
    assert len(soup.select(".leaderboard tbody tr")) == 3


def test_the_scenario_page_has_the_source_and_a_mark_for_each_trial(run: Run, page: Page) -> None:
    soup = page(reverse("run_scenario", args=[run.ulid, "fix_bug"]))
    assert "agent.request" in soup.select_one("table.code").get_text()  # type: ignore[union-attr]
    assert len(soup.select(".strip a[href*='/t/']")) == 30


def test_the_cell_page_shows_what_was_really_applied(run: Run, page: Page) -> None:
    cell = run.cells.first()
    text = page(reverse("run_cell", args=[run.ulid, cell.key10])).get_text(" ", strip=True)
    assert "1.4.0" in text
    assert "scripted" in text


def test_the_bars_of_a_cells_values_count_every_trial_that_has_one(run: Run, page: Page, client: Client) -> None:
    address = reverse("run_cell", args=[run.ulid, run.cells.first().key10])
    bars: dict[str, int] = {}
    for row in client.get(f"{address}shapes.json").json()["rows"]:
        bars[row["quantity"]] = bars.get(row["quantity"], 0) + row["trials"]
    lines = page(address).select("section[aria-labelledby=distributions] tbody tr")
    assert [int(line.select("td")[-1].get_text()) for line in lines] == list(bars.values())
    assert all(line.select("svg.shape rect title") for line in lines)


def test_what_several_tries_say_has_a_twin_with_what_a_success_costs(run: Run, page: Page, client: Client) -> None:
    address = reverse("run_cell", args=[run.ulid, run.cells.first().key10])
    twin = client.get(f"{address}tries.json").json()
    section = page(address).select_one("section[aria-labelledby=tries]")
    assert section.select_one("a[href='tries.csv']")
    assert len(twin["rows"]) == len(section.select("tbody tr")) >= 2
    assert twin["rows"][0]["pass_at_k"] == twin["rows"][0]["pass_hat_k"], "one try: one of it is all of it"
    assert twin["cost_per_success"]["successes"] == twin["rows"][0]["c"]


def test_odd_questions_are_not_answered_silently(run: Run, client: Client) -> None:
    base = reverse("run", args=[run.ulid])
    odd_ones = ("?policy=all", "?sort=luck", "?measure=luck", "trials?state=failed", "trials?cell=0123456789")
    for odd in (*odd_ones, "trials?after=x"):
        assert client.get(base + odd).status_code == 404, odd


def test_every_page_has_one_h1_a_title_and_a_skip_link(run: Run, page: Page) -> None:
    for name, address in addresses(run).items():
        if name == "tokens":
            continue
        soup = page(address)
        assert len(soup.select("h1")) == 1, name
        assert soup.title, name
        assert soup.select_one("a.skip[href='#main']"), name


def test_nothing_on_a_page_breaks_the_content_policy(run: Run, page: Page) -> None:
    for name, address in addresses(run).items():
        if name == "tokens":
            continue
        soup = page(address)
        assert not soup.select("[style], style, script:not([src])"), name
        handlers = [tag for tag in soup.find_all(True) if any(key.startswith("on") for key in tag.attrs)]
        assert not handlers, name


def test_a_table_scrolls_in_its_own_frame_that_keys_can_reach(run: Run, page: Page) -> None:
    frames = ["scroll", "code-box", "panel", "prose"]
    for name, address in addresses(run).items():
        tables = page(address).select("table") if name != "tokens" else []
        assert all(table.find_parent(class_=frames) for table in tables), name
        reached = [frame.get("tabindex") for table in tables if (frame := table.find_parent(class_="scroll"))]
        assert set(reached) <= {"0"}, name


@pytest.mark.django_db
def test_every_page_of_the_docs_leads_only_where_something_is(client: Client) -> None:
    linked: set[str] = set()
    for page in BeautifulSoup(client.get(reverse("docs")).content, "html.parser").select(".docs-nav a"):
        read = BeautifulSoup(client.get(str(page["href"])).content, "html.parser")
        linked |= {str(a["href"]) for a in read.select(".doc a") if "://" not in str(a["href"])}
    assert reverse("docs_page", args=["statistics"]) in linked, "the pages name one another"
    assert {address: client.get(address).status_code for address in linked} == dict.fromkeys(linked, 200)


def test_every_run_of_a_bench_can_be_reached_from_it_and_from_its_scenarios(
    made: Callable[..., Run], page: Callable[..., BeautifulSoup], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchsite.readings.history.RUNS", 1)
    monkeypatch.setattr("benchsite.readings.bench.RUNS", 1)
    shape = {"trials": 1, "cells": 1, "scenarios": 1}
    first, second = made("first", **shape), made("second", seed=2, **shape)
    made("other", seed=3, bench="acme/other", **shape)

    def runs_in(address: str) -> list[str]:
        return [a.text.split()[1] for a in page(address).select("tbody th[scope=row] a") if a.text.startswith("Run ")]

    past = reverse("bench_scenario", args=["acme", "demo", "fix_bug"])
    older = page(past).select_one("a[rel=next]")
    assert older
    assert runs_in(past) == ["2"]
    assert runs_in(past + str(older["href"]).partition("#")[0]) == ["1"]
    assert client.get(f"{past}history.json{older['href']}").json()["rows"][0]["run"] == first.ulid
    everything = page(reverse("bench", args=["acme", "demo"])).select_one(".pager a")
    assert everything
    assert runs_in(str(everything["href"])) == [str(second.label), str(first.label)]
    assert "the bench “acme/none”" in page(reverse("runs"), bench="acme/none").text


def test_a_version_shows_what_it_measures_its_scenarios_and_the_start_world(
    run: Run, page: Callable[..., BeautifulSoup], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchsite.readings.definition.ROWS", 2)
    link = page(reverse("bench", args=["acme", "demo"])).select_one("a[href*='/v/']")
    assert link
    assert page(reverse("run", args=[run.ulid])).select_one(f"a[href='{link['href']}']"), "the run leads to it too"
    made = page(str(link["href"]))
    named = {measure.label or measure.key.replace("_", " ") for measure in run.version.measures.all()}
    assert {b.text for b in made.select(".measures b")} == named
    assert [a.text for a in made.select("section[aria-labelledby=scenarios] th a")] == [
        row.scenario.name for row in run.version.scenario_versions.order_by("scenario__slug")
    ]
    files = made.select("section[aria-labelledby=start] tbody th a")
    assert len(files) == 2
    assert "more files are not listed here" in made.text
    for source in (*files, *made.select("section[aria-labelledby=scenarios] td a")):
        assert client.get(str(source["href"])).status_code == 200
    assert made.select_one(f"a[href='/runs/{run.ulid}/']")


def test_a_version_without_a_world_says_so_and_a_lost_record_is_told(run: Run, page: Page) -> None:
    where = reverse("bench_version", args=["acme", "demo", run.version.definition])
    version, parts = run.version, run.version.hashes
    type(version).objects.filter(pk=version.pk).update(template="")
    Run.objects.filter(pk=run.pk).update(revision=run.revision + 1)
    assert "The run carries no record of the start world." in page(where).text
    type(version).objects.filter(pk=version.pk).update(hashes={**parts, "template": ""})
    Run.objects.filter(pk=run.pk).update(revision=run.revision + 2)
    assert "This bench has no world" in page(where).text
