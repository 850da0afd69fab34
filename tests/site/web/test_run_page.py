"""The run page's states: each is in the address, says what it shows, and has twins that hold the same figures."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urljoin

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from benchsite.flows.curate import decide
from benchsite.flows.ingest import ingest
from benchsite.readings import words
from benchsite.readings.leaderboard import MeasureFacts, ordering
from benchsite.readings.runsheets import SHEETS
from benchsite.runs.models import Cell, Observation, Run, Spread, Trial
from benchsite.runs.recount import recount
from tests.make import make_curator, make_run
from tests.site.web.test_numbers import heading, links, stated

Page = Callable[..., BeautifulSoup]


@pytest.fixture
def run(made: Callable[..., Run]) -> Run:
    """Four agents, two cases a scenario, every fate."""
    return made("whole", cells=4, scenarios=4, cases=2, trials=4)


def rows(client: Client, run: Run, table: str, **query: Any) -> list[dict[str, str]]:
    text = client.get(reverse("run_table", args=[run.ulid, table, "csv"]), query).content.decode()
    return list(csv.DictReader(io.StringIO(text)))


def texts(soup: BeautifulSoup, chosen: str) -> list[str]:
    return [tag.get_text(" ", strip=True) for tag in soup.select(chosen)]


def test_every_number_in_every_state_of_the_page_lists_its_trials(run: Run, page: Page, client: Client) -> None:
    address = reverse("run", args=[run.ulid])
    promised: dict[str, int] = {}
    for query in (
        "?open=fix_bug",
        "?turn=1&where=agent:careful&where=agent:lost",
        "?measure=approach&panels=all&turn=1",
    ):
        promised.update(links(page(address + query), address))
    for kind in ("known=", "why=", "flag=", "value=", "case="):
        assert any(kind in link for link in promised), kind
    assert len(promised) > 90
    assert {link: stated(client, link) for link in promised} == promised


def test_every_figure_in_a_square_a_panel_or_a_margin_leads_to_trials(run: Run, page: Page) -> None:
    for query in ("", "?policy=errors-fail/1&turn=1", "?measure=score", "?where=agent:careful"):
        soup = page(reverse("run", args=[run.ulid]) + query)
        shown = [
            tag
            for tag in soup.select("#grid td, .multiples:not(.boxes) td.num, .leaderboard td.kn")
            if re.search(r"\d", tag.get_text()) and not (tag.a and "trials?" in str(tag.a["href"]))
        ]
        assert not shown, query


def test_partial_data_outranks_nothing_that_is_complete(made: Callable[..., Run], page: Page) -> None:
    whole = made("a", trials=10, fates=False)
    cut = made("b", trials=10, fates=False, seed=2)
    cut.trials.filter(number=1).update(outcome="solved", headline=1.0)
    cut.trials.filter(number__gt=1).update(state="not_run", outcome="", headline=None)
    recount(cut)
    Run.objects.filter(pk=cut.pk).update(counts={"planned": 30, "scored": 3, "not_run": 27})
    bench = reverse("bench", args=["acme", "demo"])
    shown = [str(link["href"]) for link in page(bench).select(".leaderboard .kn a")]
    assert len(shown) == 3 and all(whole.ulid in href for href in shown)
    assert "partial: 3 of 30" in page("/").get_text(" ", strip=True), "the latest that ended, and it says what it is"
    Run.objects.filter(pk=cut.pk).update(state="running")
    assert "partial" not in page("/").select_one("tbody").get_text(), "what goes on is not the latest that ended"
    cut.trials.filter(cell__ordinal=0).update(state="scored", outcome="unsolved", headline=0.0)
    recount(cut)
    soup = page(reverse("run", args=[cut.ulid]), fixed="")
    rows = {row.th.get_text(): row.select_one(".of").get_text() for row in soup.select(".leaderboard tbody tr")}  # type: ignore[union-attr]
    assert [text.endswith("partial") for text in rows.values()] == [False, True, True]


def test_a_partial_row_is_placed_as_if_what_is_missing_had_the_worst_value() -> None:
    rate = MeasureFacts(1, "m", "bool", "", "", "maximize", True, None, "", "rate")
    number = MeasureFacts(1, "m", "int", "", "", "minimize", True, None, "", "mean")
    rows = [SimpleNamespace(macro=m, n=n, planned=30) for m, n in ((0.5, 30), (1.0, 3), (0.9, 20), (0.3, 30))]

    def placed(measure: MeasureFacts, of: list[Any]) -> list[float]:
        return [row.macro for row in sorted(of, key=ordering(measure, of))]

    assert placed(rate, rows) == [0.9, 0.5, 0.3, 1.0]
    assert placed(number, rows) == [0.3, 0.5, 0.9, 1.0]
    assert placed(rate, rows[1:3]) == [1.0, 0.9], "where all is partial the figures decide"
    nothing = SimpleNamespace(macro=None, n=0, planned=30)
    for measure in (rate, number):
        assert placed(measure, [nothing, *rows])[-1] is None, "what has no figure stands last"


def test_a_scenario_opens_into_its_cases(run: Run, page: Page) -> None:
    soup = page(reverse("run", args=[run.ulid]), open="fix_bug")
    assert texts(soup, "#grid tr.case th") == ["case-0", "case-1"]
    opener = soup.select_one("#row-fix_bug a.opener")
    assert opener and opener["aria-expanded"] == "true"
    assert str(opener["href"]) == "?#row-fix_bug"
    whole = texts(soup, "#row-fix_bug td:not(.margin) > a:first-child")
    cases = [texts(row, "td:not(.margin) > a:first-child") for row in soup.select("tr.case")]

    def k_n(text: str) -> tuple[int, int]:
        k, n = text.split("/")
        return int(k), int(n)

    for total, one, two in zip(whole, *cases, strict=True):
        added = [sum(pair) for pair in zip(k_n(one), k_n(two), strict=True)]
        assert added == list(k_n(total))


def test_the_matrix_turns_and_leaves_out_rows_that_do_not_differ(run: Run, page: Page) -> None:
    address = reverse("run", args=[run.ulid])
    turned = page(address, turn="1")
    assert texts(turned, "#grid tbody th") == ["careful", "hasty", "meddler", "lost"]
    assert texts(turned, "#grid thead th")[1:-1] == ["add_feature", "area/task_3", "fix_bug", "refactor"]
    alone = page(address, where="agent:careful", differ="1")
    assert "No scenario differs between these cells." in alone.get_text()


def test_chosen_cells_are_those_of_every_table(run: Run, page: Page, client: Client) -> None:
    query = {"where": ["agent:careful", "agent:lost"]}
    soup = page(reverse("run", args=[run.ulid]), **query)
    assert texts(soup, ".leaderboard tbody th") == ["careful", "lost"]
    assert texts(soup, "#grid thead .group") == ["careful", "lost"]
    assert "2 of 4 rows; ranks are over all of them" in soup.get_text(" ", strip=True)
    assert {row["agent"] for row in rows(client, run, "distributions", **query)} == {"careful", "lost"}
    base = reverse("run", args=[run.ulid])
    for odd in ("?where=agent:nobody", "?where=colour:red", "?open=nothing", "?split=x", "?x=luck", "?turn=yes"):
        assert client.get(base + odd).status_code == 404, odd


def test_twins_hold_what_the_page_shows(run: Run, page: Page, client: Client) -> None:
    soup = page(reverse("run", args=[run.ulid]), policy="errors-fail/1", sort="rate")
    query = {"policy": "errors-fail/1", "sort": "rate"}
    shown = [text.split(" [")[0] for text in texts(soup, ".leaderboard td .rate")]
    board = rows(client, run, "leaderboard", **query)
    assert [words.percent(float(row["figure"])) for row in board] == shown
    squares = texts(soup, "#grid tbody td:not(.margin) > a:first-child")
    assert [f"{row['k']}/{row['n']}" for row in rows(client, run, "matrix", **query)] == squares
    counts = texts(soup, "section[aria-labelledby=failures] td.num")
    assert [row["trials"] for row in rows(client, run, "failures", **query)] == counts
    medians = {(row["quantity"], row["agent"]): float(row["median"]) for row in rows(client, run, "distributions")}
    panel = next(box for box in soup.select(".boxes .panel") if box.h3 and box.h3.get_text(strip=True) == "score")
    for line in panel.select("tbody tr"):
        assert line.th and line.select_one("td.num")
        assert words.number(medians["score", line.th.get_text()]) == line.select_one("td.num").get_text()  # type: ignore[union-attr]


def test_every_table_has_both_twins_and_they_are_equal(run: Run, client: Client) -> None:
    for table in SHEETS:
        text = client.get(reverse("run_table", args=[run.ulid, table, "json"]), {"measure": "approach"}).content
        told = json.loads(text)
        same = rows(client, run, table, measure="approach")
        assert len(told["rows"]) == len(same), table
        for one, two in zip(told["rows"], same, strict=True):
            values = {k: "" if v is None else str(int(v)) if isinstance(v, bool) else str(v) for k, v in one.items()}
            assert values == two, table
    assert client.get(reverse("run_table", args=[run.ulid, "nothing", "csv"])).status_code == 404


def test_reasons_that_differ_in_numbers_alone_are_one_group(made: Callable[..., Run], page: Page) -> None:
    run = made("reasons", trials=8)
    failed = list(run.trials.filter(state="run_error").order_by("index")[:3])
    for place, trial in enumerate(failed):
        reason = f"KeyError in bench_fix.py:{place + 10} at 0x{place}ab"
        Trial.objects.filter(pk=trial.pk).update(fault="scenario", reason=reason)
    soup = page(reverse("run", args=[run.ulid]))
    row = next(
        row for row in soup.select("section[aria-labelledby=failures] tbody tr") if "KeyError in" in row.get_text()
    )
    assert "KeyError in bench_fix.py:# at #" in row.get_text()
    link = row.select_one("td.num a")
    assert link and link.get_text() == "3"
    listed = page(urljoin(reverse("run", args=[run.ulid]), str(link["href"])))
    assert heading(listed) == 3
    assert set(texts(listed, "tbody th")) == {str(trial.index) for trial in failed}


def test_an_outlier_is_counted_among_its_scenario_and_listed(made: Callable[..., Run], page: Page) -> None:
    run = made("slow", trials=10, fates=False)
    trial = run.trials.filter(scenario__slug="refactor").first()
    Trial.objects.filter(pk=trial.pk).update(seconds=9000.0)
    recount(run)
    assert sum(Spread.objects.filter(run=run, key="seconds").values_list("far", flat=True)) == 1
    soup = page(reverse("run", args=[run.ulid]))
    notice = next(
        one for one in soup.select(".notices li:not(:has(li))") if "Outlying durations: 1 trial" in one.get_text()
    )
    listed = page(urljoin(reverse("run", args=[run.ulid]), str(notice.a["href"])))  # type: ignore[index]
    assert texts(listed, "tbody th") == [str(trial.index)]
    assert "time far above the rest of its scenario" in listed.get_text()
    other = run.trials.filter(scenario__slug="refactor").last()
    Observation.objects.filter(trial=other, measure__key="score").update(number=900.0)
    assert not texts(page(f"{reverse('run_trials', args=[run.ulid])}?far=score"), "tbody th"), "none is counted yet"
    recount(run)
    assert texts(page(f"{reverse('run_trials', args=[run.ulid])}?far=score"), "tbody th") == [str(other.index)]


def test_warnings_lead_to_what_they_mean(made: Callable[..., Run], page: Page, tmp_path: Path) -> None:
    made("first", trials=3, seed=1)
    run = ingest(make_run(tmp_path / "b", trials=3, seed=2, definition="two"), verdict="accepted")
    Observation.objects.filter(trial__run=run, measure__key="score").delete()
    recount(run)
    soup = page(reverse("run", args=[run.ulid]))
    told = {" ".join(one.get_text().split()): one.a for one in soup.select(".notices li:not(:has(li))")}
    for words_, link in (
        ("The definition changed since run 1 (code, fixtures, suite and template)", "#provenance"),
        ("add_feature, fix_bug and refactor read otherwise than in run 1.", "#matrix"),
        ("1 late guard: a guard failed after the agent had acted", "trials?flag=late_guard"),
        ("Low coverage: ", "trials?state=excluded,"),
        ("missing: score was observed in 0 % of the", "trials?measure=score&seen=missing"),
        ("Few trials: 3 cells have under 10 counted trials", "#leaderboard"),
    ):
        found = [a for text, a in told.items() if words_ in text]
        assert found, (words_, list(told))
        assert found[0] and str(found[0]["href"]).startswith(link), words_


def test_a_rejected_run_says_why_and_asks_no_more_than_any_other(made: Callable[..., Run], client: Client) -> None:
    curator, run = make_curator(), made("whole", cells=4, scenarios=4, cases=2, trials=4)
    decide(run, "reject", by=curator, reason="The judge was down.")
    client.force_login(curator)
    for query in ("", "?measure=collateral", "?measure=approach&open=refactor"):
        with CaptureQueriesContext(connection) as queries:
            text = client.get(reverse("run", args=[run.ulid]) + query).content.decode()
        assert "Reason: The judge was down." in text
        assert len(queries) <= 12, query


def test_versions_are_shown_apart_when_asked(run: Run, page: Page) -> None:
    Cell.objects.filter(run=run, ordinal=1).update(agent_version="2.0.0")
    soup = page(reverse("run", args=[run.ulid]), split="version")
    assert (
        sorted(
            row.select("td")[1 if soup.select(".leaderboard td.tight") else 0].get_text()
            for row in soup.select(".leaderboard tbody tr")
        )[-1]
        == "2.0.0"
    )


def test_who_is_beaten_by_nobody_stands_in_words_beside_the_chart(run: Run, page: Page, client: Client) -> None:
    soup = page(reverse("run", args=[run.ulid]), x="tokens")
    spots = json.loads(client.get(reverse("run_table", args=[run.ulid, "frontier", "json"]), {"x": "tokens"}).content)
    best = {row["agent"] for row in spots["rows"] if row["status"] == "frontier"}
    assert best and set(texts(soup, "section[aria-labelledby=frontier] p b")) == best
    figure = soup.select_one("figure[data-plot]")
    assert figure and str(figure["data-plot"]) == "frontier.json?x=tokens"
    assert spots["x"] == "tokens" and spots["rate"] is True


def test_panels_in_which_the_leader_loses_come_first_and_say_so(made: Callable[..., Run], page: Page) -> None:
    run = made("loses", cells=3, scenarios=6, trials=8, fates=False)
    leader = Cell.objects.get(run=run, ordinal=0)
    lost = run.trials.filter(scenario__slug="refactor", cell=leader)
    Trial.objects.filter(pk__in=lost.values("pk")).update(outcome="unsolved", headline=0.0)
    recount(run)
    soup = page(reverse("run", args=[run.ulid]))
    lost = ["lost" in panel["class"] for panel in soup.select("section[aria-labelledby=scenarios] .panel")]
    assert lost == sorted(lost, reverse=True)
    assert texts(soup, ".panel.sure h3") == texts(soup, ".panel h3")[:1] == ["refactor"]
    assert all("the leader is behind here" in text or "loses here" in text for text in texts(soup, ".panel.lost"))
    assert all("the leader loses here" in text for text in texts(soup, ".panel.sure"))
    section = soup.select_one("section[aria-labelledby=scenarios]")
    assert section and "overall, but loses on refactor to" in section.get_text()


def test_where_trials_erred_three_figures_stand_side_by_side(
    run: Run, page: Page, client: Client, made: Callable[..., Run]
) -> None:
    cells = client.get(f"/api/v1/runs/{run.ulid}/result").json()["cells"]
    three = {cell["key"]: cell["measures"]["resolved"]["three"] for cell in cells}
    assert any(one["scored"] != one["errors_fail"] for one in three.values())
    for policy, names in {"scored/1": ("scored", "errors_fail"), "errors-fail/1": ("errors_fail", "scored")}.items():
        for row in page(f"/runs/{run.ulid}/", policy=policy).select(".leaderboard tbody tr"):
            one = three[str(row.select_one(".subject a")["href"]).split("/")[-2]]
            shown = [cell.get_text(strip=True) for cell in row.select(".rate, td.other")]
            assert shown == [words.figure(one[name], "bool") for name in names]
            assert row.select_one(".of").get_text(strip=True).startswith(f"{one['n']}/{one['planned']}")
    assert not page(f"/runs/{run.ulid}/", measure="score").select(".other"), "it declares no worst value"
    whole = made("none", fates=False, seed=9)
    assert b'class="num other"' not in client.get(f"/runs/{whole.ulid}/").content


def test_an_unknown_cost_is_not_nothing(run: Run, client: Client) -> None:
    cell = Cell.objects.filter(run=run).order_by("ordinal")[0]
    trials = list(run.trials.filter(cell=cell, state="scored").order_by("index"))
    run.trials.filter(cell=cell).update(cost=None)
    Trial.objects.filter(pk__in=[trials[0].pk, trials[1].pk]).update(cost=0.5)
    recount(run)
    page = BeautifulSoup(client.get(f"/runs/{run.ulid}/").content, "html.parser")
    link = page.select_one(f".leaderboard a[href*='cell={cell.key10}'][href*='known=cost']")
    assert link is not None
    assert link.text == "n=2"
    assert link.parent is not None
    assert link.parent.get_text(" ", strip=True) == "$0.50 n=2"
    (total,) = [dd for dt in page.select("dt") if dt.text == "cost" and (dd := dt.find_next("dd"))][:1]
    assert total.text.startswith("≥")
    table = json.loads(client.get(f"/runs/{run.ulid}/leaderboard.json").content)
    (row,) = [row for row in table["rows"] if row["cell"] == cell.name]
    assert (row["cost"], row["cost_n"]) == (1.0, 2)
    detail = BeautifulSoup(client.get(f"/runs/{run.ulid}/c/{cell.key10}/").content, "html.parser").get_text(" ")
    assert "of unknown cost left out" in detail
