"""The pages of runs, scenarios, cells and benches in a real browser: charts under the policy, keys, live rows, axe."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from benchsite.flows.ingest import ingest
from benchsite.runs.models import Run, Trial
from benchsite.runs.recount import recount
from tests.browser.axe import faults
from tests.make import make_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(scope="module")
def run_dirs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    base = tmp_path_factory.mktemp("explorer")
    how: dict[str, Any] = {"cells": 3, "scenarios": 3, "cases": 2, "trials": 3}
    return [make_run(base / str(seed), seed=seed, definition=name, **how) for seed, name in ((1, "one"), (2, "two"))]


@pytest.fixture
def runs(run_dirs: list[Path]) -> list[Run]:
    return [ingest(folder, verdict="accepted") for folder in run_dirs]


def pages(run: Run) -> list[str]:
    here = f"/runs/{run.ulid}/"
    bench = f"/b/{run.bench.owner}/{run.bench.name}/"
    cell = run.cells.order_by("ordinal").first().key10
    states = [f"{here}?open=fix_bug&split=version", f"{here}?measure=approach&turn=1&where=agent:careful"]
    subjects = [one.subject.hash[:10] for one in run.cells.select_related("subject")]
    compared = "&".join(f"of=subject:{run.bench}/{hash}" for hash in subjects)
    told = [f"/compare/?{compared}&show=all", f"/compare/trials?{compared}&side=2", "/runs/?tag=none"]
    version = f"{bench}v/{run.version.definition}/"
    return [*states, f"{here}c/{cell}/", f"{here}s/fix_bug/", bench, version, f"{bench}s/fix_bug/", *told]


@pytest.mark.one_database
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_no_page_is_wider_than_a_telephone(
    chromium: Browser, live_server: Any, runs: list[Run], scheme: Any
) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    page = context.new_page()
    found = []
    for path in pages(runs[1]):
        page.goto(live_server.url + path)
        if page.evaluate("document.documentElement.scrollWidth") > 390:
            found.append(f"{path} is wider than 390 px")
        rules = ["color-contrast"] if scheme == "dark" else []  # all else was seen in the light
        found += [f"{path} {fault}" for fault in faults(page, *rules)]
    context.close()
    assert not found, "\n".join(found)


@pytest.mark.one_database
def test_a_reader_draws_the_frontier_turns_the_matrix_and_walks_it_by_keys(
    page: Page, live_server: Any, runs: list[Run]
) -> None:
    page.goto(f"{live_server.url}/runs/{runs[1].ulid}/")
    assert page.evaluate("typeof window.Plotly") == "undefined"
    figure = page.locator("figure[data-plot]")
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".scatterlayer .point")).to_have_count(3)
    names = page.locator("section[aria-labelledby=frontier] tbody th").all_inner_texts()
    drawn = figure.locator(".textpoint text").all_text_contents()
    assert sorted(drawn) == sorted(names)
    page.get_by_role("button", name="Change theme").click()
    expect(figure.locator(".scatterlayer .point")).to_have_count(3)

    page.get_by_role("link", name="Open the 2 cases of fix_bug").click()
    expect(page.locator("#grid tr.case")).to_have_count(2)
    page.locator("#row-fix_bug td a").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    focused = page.evaluate("document.activeElement.getAttribute('href')")
    assert "case=case-0" in focused
    page.get_by_text("Choose cells").click()
    page.locator("input[name=where][value='agent:careful']").check()
    page.wait_for_url(re.compile("where=agent(:|%3A)careful"))
    expect(page.locator("#grid thead .group")).to_have_text(["careful"])
    expect(page.locator(".leaderboard tbody th")).to_have_text(["careful"])
    page.get_by_role("link", name="Transpose").click()
    expect(page.locator("#grid tbody th")).to_have_text(["careful"])


ROWS = ".progress tbody tr, .leaderboard tbody tr, #grid tbody tr"


def places(page: Page) -> list[float]:
    """How far from the top of the window each row of a running run stands."""
    tops: list[float] = page.locator(ROWS).evaluate_all("rows => rows.map(row => row.getBoundingClientRect().top)")
    return tops


def test_a_run_that_goes_on_changes_under_the_readers_eyes(page: Page, live_server: Any, run_dirs: list[Path]) -> None:
    run = ingest(run_dirs[0], verdict="accepted")
    waiting = run.trials.filter(outcome="solved").first()
    Trial.objects.filter(pk=waiting.pk).update(state="running", outcome="")
    recount(run)
    heard = timezone.now() + timedelta(hours=9)  # it falls silent when it is to, not when this machine stands still
    Run.objects.filter(pk=run.pk).update(state="running", seen_at=heard, revision=10)
    page.set_viewport_size({"width": 1440, "height": 1300})
    page.goto(f"{live_server.url}/runs/{run.ulid}/")
    progress = page.locator("#progress")
    expect(progress).to_contain_text("53 of 54 trials done")
    stood = places(page)
    assert len(stood) == 9 and stood[-1] < 1300, "all are in sight, so that a jump would be seen"
    Run.objects.filter(pk=run.pk).update(seen_at=timezone.now() - timedelta(hours=1.2), revision=11)
    expect(progress).to_have_text("No sign of life")
    expect(page.locator(".progress time")).to_have_text("1 hour ago")
    expect(page.locator(".notices")).to_contain_text("No sign of life since")
    assert places(page) == stood
    order = page.locator(".leaderboard tbody th").all_inner_texts()
    page.locator("#grid td a").first.focus()
    Trial.objects.filter(pk=waiting.pk).update(state="scored", outcome="solved")
    recount(run)
    Run.objects.filter(pk=run.pk).update(seen_at=heard, revision=12)
    expect(progress).to_contain_text("54 of 54 trials done")
    assert page.locator(".leaderboard tbody th").all_inner_texts() == order
    Run.objects.filter(pk=run.pk).update(state="finished", revision=13)
    expect(progress).to_contain_text("The run has ended: finished")
    expect(page.locator("#tables[hx-get]")).to_have_count(0)
    assert places(page) == stood
    assert page.locator(".leaderboard tbody th").all_inner_texts() == order
    assert page.evaluate("document.activeElement.closest('#grid') !== null")


@pytest.mark.one_database
def test_charts_and_choices_do_without_scripts_and_on_paper(
    chromium: Browser, live_server: Any, runs: list[Run]
) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    for path in pages(runs[1]):
        answer = page.goto(live_server.url + path)
        assert answer is not None and answer.status == 200, path
    page.goto(live_server.url + pages(runs[1])[0])
    expect(page.locator("figure[data-plot]")).to_be_hidden()
    expect(page.locator("section[aria-labelledby=frontier] table")).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator(".permalink")).to_be_visible()
    expect(page.locator(".permalink")).to_contain_text(f"/runs/{runs[1].ulid}/")
    expect(page.locator("header.top")).to_be_hidden()
    expect(page.locator(".twins").first).to_be_hidden()
    context.close()


@pytest.mark.one_database
def test_what_changed_in_each_case_is_seen_on_a_telephone_without_a_way_sideways(
    chromium: Browser, live_server: Any, runs: list[Run]
) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    cells = "&".join(f"of=cell:{runs[1].ulid}/{cell.key10}" for cell in runs[1].cells.order_by("ordinal"))
    page.goto(f"{live_server.url}/compare/?{cells}&show=all")
    frame = page.get_by_role("group", name="Cases", exact=True)
    assert frame.evaluate("frame => frame.scrollWidth <= frame.clientWidth")
    rights = page.locator(".cases td.change").evaluate_all("all => all.map(one => one.getBoundingClientRect().right)")
    assert len(rights) == 2 * 6 and max(rights) <= 390 and min(rights) > 0
    named = (
        page.locator(".cases tbody tr")
        .first.locator("td.num")
        .evaluate_all("all => all.map(one => getComputedStyle(one, '::before').content)")
    )
    assert len(named) == 3 and "careful" in named[0]
    context.close()


@pytest.mark.one_database
def test_what_was_observed_has_a_column_of_reasons_only_where_there_is_one(
    page: Page, live_server: Any, runs: list[Run]
) -> None:
    reasons = page.locator(".observed thead th", has_text="Reason")
    for state, shown in (("scored", False), ("run_error", True)):
        trial = Trial.objects.filter(run=runs[0], state=state).earliest("index")
        page.goto(f"{live_server.url}/runs/{runs[0].ulid}/t/{trial.index}/")
        expect(reasons).to_be_visible(visible=shown)
