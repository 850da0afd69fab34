"""Every number is a link to the trials behind it, and the list's count equals the number."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from urllib.parse import urljoin

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse

from benchsite.flows.curate import withdraw_trial
from benchsite.readings import trials
from benchsite.readings.sheet import Sheet
from benchsite.runs.models import Observation, Run, Standing
from benchsite.web.twins import as_csv
from tests.make import make_curator

Page = Callable[..., BeautifulSoup]
Listed = Callable[[str], int]


def links(soup: BeautifulSoup, address: str) -> Iterator[tuple[str, int]]:
    """Give (address, number promised) of every link to a list of trials: of k/n, n is what is listed."""
    for link in soup.select("main a[href*='trials']"):
        found = re.fullmatch(r"(?:[\d.,]+/)?([\d,]+)(?:\s[!⊘–…])?", link.get_text(strip=True).replace("\xa0", " "))
        if found and "trials.csv" not in str(link["href"]):
            yield urljoin(address, str(link["href"])), int(found[1].replace(",", ""))
    for notice in soup.select(".notices li:not(:has(li)):has(a[href*='trials?'])"):
        counts, link = re.match(r"\s*([\d,]+) ", notice.get_text()), notice.a
        if counts and link:
            yield urljoin(address, str(link["href"])), int(counts[1].replace(",", ""))


def heading(soup: BeautifulSoup) -> int:
    head = soup.select_one("h1")
    assert head
    return int(head.get_text().split()[0].replace(",", ""))


def stated(client: Client, address: str) -> int:
    """Give the count a list of trials states: asked past its last row, as these tests open lists by the hundred."""
    past = f"{address}{'&' if '?' in address else '?'}after=999999"
    found = re.search(r"<h1>([\d,]+) trials?</h1>", client.get(past).content.decode())
    assert found, address
    return int(found[1].replace(",", ""))


@pytest.fixture
def listed(client: Client) -> Callable[[str], int]:
    return lambda address: stated(client, address)


@pytest.mark.parametrize("query", ["", "?policy=errors-fail/1", "?measure=collateral", "?measure=approach"])
def test_numbers_on_the_run_page_equal_their_lists(run: Run, page: Page, listed: Listed, query: str) -> None:
    address = reverse("run", args=[run.ulid]) + query
    numbers = dict(links(page(address), address))
    assert len(numbers) >= 4
    assert {link: listed(link) for link in numbers} == numbers


@pytest.mark.parametrize("few", [0, 1000])
def test_trials_listed_by_a_category_are_those_that_have_it(
    run: Run, page: Page, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(trials, "FEW", few)
    seen = Observation.objects.filter(measure__key="approach", trial__run=run, valid=True, trial__state="scored")
    told: dict[str, set[int]] = {}
    for value, index in seen.values_list("text", "trial__index"):
        told.setdefault(value, set()).add(index)
    assert len(told) == 3
    for value, indexes in told.items():
        soup = page(reverse("run_trials", args=[run.ulid]), measure="approach", seen="observed", value=value)
        assert heading(soup) == len(indexes)
        assert {int(link.get_text()) for link in soup.select("tbody th a")} == indexes


def test_numbers_on_the_other_pages_equal_their_lists(run: Run, page: Page, listed: Listed) -> None:
    cell = run.cells.first()
    for address in (
        "/",
        reverse("bench", args=["acme", "demo"]),
        reverse("bench_scenario", args=["acme", "demo", "fix_bug"]),
        reverse("run_scenario", args=[run.ulid, "fix_bug"]),
        reverse("run_scenario", args=[run.ulid, "fix_bug"]) + "?policy=errors-fail/1",
        reverse("run_cell", args=[run.ulid, cell.key10]),
    ):
        numbers = dict(links(page(address), address))
        assert numbers, address
        assert {link: listed(link) for link in numbers} == numbers, address


def test_what_is_counted_as_flaky_is_listed_pair_by_pair(run: Run, page: Page, listed: Listed) -> None:
    address = reverse("bench_scenario", args=["acme", "demo", "fix_bug"])
    counts = page(address).select("a[href*='tried=']")
    assert len(counts) >= 4
    for link in counts:
        soup = page(urljoin(address, str(link["href"])).partition("#")[0])
        rows = soup.select("section[aria-labelledby=pairs] tbody tr")
        if "%" in link.get_text():  # a share of them
            continue
        promised = re.match(r"[\d,]+", link.get_text())
        assert promised
        assert len(rows) == int(promised[0]), link
        numbers = {str(row.select("a")[-1]["href"]): int(row.select("a")[-1].get_text().split("/")[1]) for row in rows}
        assert {href: listed(href) for href in numbers} == numbers


def test_numbers_still_agree_after_a_trial_is_withdrawn(run: Run, page: Page, listed: Listed) -> None:
    solved = run.trials.filter(outcome="solved").first()
    address = reverse("run", args=[run.ulid])
    addresses = [address, f"{address}?measure=collateral"]
    before = [dict(links(page(one), one)) for one in addresses]
    withdraw_trial(run, solved.index, by=make_curator(), reason="the judge was down")
    numbers, of_measure = (dict(links(page(one), one)) for one in addresses)
    assert {link: listed(link) for link in numbers} == numbers
    for old, new in zip(before, (numbers, of_measure), strict=True):
        assert old != new, "what a process keeps of a run is not shown once the run has changed"
    assert listed(address + "trials?state=withdrawn") == 1


def test_the_list_shows_as_many_rows_as_it_counts_and_pages_by_cursor(made: Callable[..., Run], page: Page) -> None:
    run = made(cells=3, scenarios=8, trials=10, fates=False)
    address = reverse("run_trials", args=[run.ulid])
    seen: list[str] = []
    following: str | None = address
    while following:
        soup = page(following)
        assert heading(soup) == 240
        seen += [row.th.get_text(strip=True) for row in soup.select("tbody tr") if row.th]
        link = soup.select_one("a[rel=next]")
        following = urljoin(address, str(link["href"])) if link else None
    assert seen == [str(index) for index in range(240)]


def test_filters_combine_and_can_be_dropped_one_by_one(run: Run, page: Page) -> None:
    cell = run.cells.first()
    address = reverse("run_trials", args=[run.ulid])
    soup = page(address, state="scored", outcome="solved", cell=cell.key10, scenario="fix_bug")
    expected = run.trials.filter(outcome="solved", cell=cell, scenario__slug="fix_bug", withdrawn=False).count()
    assert heading(soup) == expected
    without = {str(tag["href"]) for tag in soup.select("a.tag[title='Drop this filter']")}
    assert f"?outcome=solved&cell={cell.key10}&scenario=fix_bug" in without
    assert len(without) == 4


def test_a_filter_that_matches_nothing_says_which(run: Run, page: Page) -> None:
    soup = page(reverse("run_trials", args=[run.ulid]), state="queued")
    assert "No trial matches state: queued" in soup.get_text(" ", strip=True)


def test_the_csv_of_trials_has_the_rows_of_the_list(run: Run, client: Client) -> None:
    text = client.get(reverse("run_trials_table", args=[run.ulid, "csv"]), {"state": "scored"}).content.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == run.trials.filter(state="scored").count()
    assert {row["state"] for row in rows} == {"scored"}


def test_the_csv_of_the_leaderboard_has_unrounded_figures(run: Run, client: Client) -> None:
    text = client.get(reverse("run_table", args=[run.ulid, "leaderboard", "csv"])).content.decode()
    rows = {row["cell"]: row for row in csv.DictReader(io.StringIO(text))}
    for standing in Standing.objects.filter(run=run, policy="scored/1", measure__headline=True).select_related("cell"):
        assert float(rows[standing.cell.name]["figure"]) == standing.macro
        assert int(rows[standing.cell.name]["n"]) == standing.n


def test_the_csv_of_the_matrix_has_a_row_for_each_square(run: Run, client: Client) -> None:
    text = client.get(reverse("run_table", args=[run.ulid, "matrix", "csv"])).content.decode()
    assert len(list(csv.DictReader(io.StringIO(text)))) == 9


def test_no_cell_of_a_csv_is_a_formula_be_it_a_value_or_the_name_of_a_column() -> None:
    text = as_csv(Sheet("board", ("=agent", "n"), [("+1", -1), ("\n=2", 2.5), ("plain", None)])).content.decode()
    assert list(csv.reader(io.StringIO(text))) == [["'=agent", "n"], ["'+1", "-1"], ["'\n=2", "2.5"], ["plain", ""]]
