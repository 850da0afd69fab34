"""Runs, cells and subjects against a baseline."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from scipy import stats

from benchsite.readings.compare.observed import step
from benchsite.runs.models import Run, Tally

Page = Callable[..., BeautifulSoup]


def of(*named: str, **asked: Any) -> dict[str, Any]:
    return {"of": list(named), **asked}


def runs_of(two: tuple[Run, Run], **asked: Any) -> dict[str, Any]:
    return of(*(f"run:{run.ulid}" for run in two), **asked)


def cells_of(run: Run, *agents: str) -> list[str]:
    keys = {cell.subject.axes["agent"]: cell.key10 for cell in run.cells.select_related("subject")}
    return [f"cell:{run.ulid}/{keys[agent]}" for agent in agents]


def subjects_of(run: Run, *agents: str) -> list[str]:
    hashes = {cell.subject.axes["agent"]: cell.subject.hash for cell in run.cells.select_related("subject")}
    return [f"subject:acme/demo/{hashes[agent][:10]}" for agent in agents]


def rates(run: Run, agent: str) -> dict[str, float]:
    rows = Tally.objects.filter(run=run, cell__subject__axes__agent=agent, measure__key="resolved", n__gt=0)
    return {slug: total / n for slug, total, n in rows.values_list("case__scenario__slug", "sum", "n")}


def sheet(client: Client, table: str, asked: dict[str, Any]) -> list[dict[str, str]]:
    response = client.get(f"/compare/{table}.csv", asked)
    assert response.status_code == 200
    return list(csv.DictReader(io.StringIO(response.content.decode())))


def test_two_cells_are_paired_as_scipy_pairs_them(two: tuple[Run, Run], client: Client) -> None:
    careful, lost = rates(two[0], "careful"), rates(two[0], "meddler")
    shared = sorted(set(careful) & set(lost))
    theirs = stats.ttest_rel([lost[s] for s in shared], [careful[s] for s in shared]).confidence_interval()
    row = sheet(client, "sides", of(*cells_of(two[0], "careful", "meddler")))[1]
    assert (float(row["lo"]), float(row["hi"])) == pytest.approx((theirs.low, theirs.high))
    assert int(row["clusters"]) == len(shared)
    ups = sum(lost[s] > careful[s] for s in shared)
    assert (int(row["wins"]), int(row["apart"])) == (ups, 8 - len(shared))


def test_the_page_says_it_in_words_with_what_could_have_been_seen(
    two: tuple[Run, Run], page: Page, client: Client
) -> None:
    text = page("/compare/", **runs_of(two)).get_text(" ", strip=True)
    assert re.search(
        r"Not enough trials to tell Run 2 from Run 1: resolved [+−]\d+\.\d points \[.+?\] over 8 scenarios", text
    )
    assert "would likely be missed" in text
    assert "To see 5.0 points with 80 % chance takes" in text
    assert "To see 20.0 points" in page("/compare/", **runs_of(two, want=20)).get_text()
    for odd in ("much", "nan", "-1"):
        assert client.get("/compare/", runs_of(two, want=odd)).status_code == 404


def test_runs_are_paired_cell_by_cell(two: tuple[Run, Run], client: Client) -> None:
    row = sheet(client, "sides", runs_of(two))[1]
    differences = []
    for slug in rates(two[0], "careful"):
        pairs = [(rates(two[0], a).get(slug), rates(two[1], a).get(slug)) for a in ("careful", "hasty", "meddler")]
        both = [(one, other) for one, other in pairs if one is not None and other is not None]
        differences.append(sum(other - one for one, other in both) / len(both))
    assert float(row["difference"]) == pytest.approx(sum(differences) / len(differences))


def test_turning_the_baseline_round_mirrors_the_figures(two: tuple[Run, Run], page: Page, client: Client) -> None:
    one, other = cells_of(two[0], "careful", "hasty")
    there, back = (sheet(client, "sides", of(*pair))[1] for pair in ((one, other), (other, one)))
    assert float(there["difference"]) == -float(back["difference"])
    soup = page("/compare/", **of(one, other))
    turned = [str(a["href"]) for a in soup.select("a") if a.get_text() == "make baseline"]
    assert turned == [f"?of={other}&of={one}"]


def test_up_to_six_sides_and_no_more(two: tuple[Run, Run], page: Page, client: Client) -> None:
    named = [*cells_of(two[0], "careful", "hasty", "meddler"), *cells_of(two[1], "careful", "hasty", "meddler")]
    soup = page("/compare/", **of(*named))
    assert len(soup.select("main thead tr:first-child th")) >= 10
    assert len(sheet(client, "sides", of(*named))) == 6
    assert "5 comparisons, each at 95 %" in soup.get_text()
    refused = client.get("/compare/", of(*named, f"cell:{two[0].ulid}/0000000000"))
    assert (refused.status_code, "At most 6" in refused.content.decode()) == (400, True)


def test_cases_that_differ_link_to_two_trials_that_show_it(two: tuple[Run, Run], page: Page, client: Client) -> None:
    soup = page("/compare/", **of(*cells_of(two[0], "careful", "meddler")))
    links = [str(a["href"]) for a in soup.select(".change.worse a")]
    assert links
    for link in links:
        found = re.findall(r"trial:([0-9A-Z]{26})/(\d+)", link)
        outcomes = [Run.objects.get(ulid=u).trials.get(index=int(i)).outcome for u, i in found]
        assert outcomes == ["solved", "unsolved"]
    assert client.get(links[0]).status_code == 200


def test_numbers_equal_the_lists_they_link_to(two: tuple[Run, Run], page: Page, client: Client) -> None:
    cells, failing = cells_of(two[0], "careful", "hasty"), {"show": "all", "policy": "errors-fail/1"}
    for asked in (
        runs_of(two, show="all"),
        of(*cells, **failing),
        of(*cells, measure="score"),
        of(*subjects_of(two[0], "careful", "meddler"), show="all", measure="collateral"),
        of(*subjects_of(two[0], "hasty", "meddler"), **failing),
    ):
        soup = page("/compare/", **asked)
        found = soup.select("td a[href*='/trials']")
        assert len(found) > 10
        assert not [cell for cell in soup.select(".sides .kn, .cases td.num") if _unlinked(cell)]
        for link in [*found[:4], *found[4::9]]:
            listed = re.search(r"<h1>([\d,]+) trials?</h1>", client.get(str(link["href"])).content.decode())
            assert listed and listed[1] == link.get_text(), link


def _unlinked(cell: Any) -> bool:
    """Whether a count other than 0 stands there without a link."""
    text = "".join(part for part in cell.find_all(string=True) if part.find_parent("a") is None)
    return bool(re.search(r"n=[1-9]|^\s*[1-9]\d*\s*/|/\s*[1-9]", text))


def test_runs_of_which_some_cells_are_compared_list_the_trials_of_these(
    made: Callable[..., Run], page: Page, client: Client
) -> None:
    wide, narrow = made("wide", cells=4, trials=3), made("narrow", cells=2, trials=3, seed=2)
    soup = page("/compare/", **runs_of((wide, narrow), show="all"))
    found = soup.select(".sides a[href*='compare/trials'], .cases a[href*='compare/trials']")
    assert len(found) > 4
    for link in found:
        assert f"<h1>{link.get_text()} trial" in client.get(str(link["href"])).content.decode()
        twin = client.get(str(link["href"]).replace("/trials?", "/trials.json?")).json()
        assert len(twin["rows"]) == int(link.get_text())
        assert {row["run"] for row in twin["rows"]} == {wide.ulid}


def test_a_list_over_several_runs_goes_on_page_by_page(
    made: Callable[..., Run], page: Page, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchsite.readings.compare.pooled.LIMIT", 5)
    one, _ = made("one", scenarios=8, trials=3), made("two", scenarios=8, trials=3, seed=2)
    asked = of(*subjects_of(one, "careful", "hasty"), side=2, seen="planned")
    soup, seen = page("/compare/trials", **asked), []
    while True:
        seen += [str(a["href"]) for a in soup.select("tbody th a")]
        following = soup.select_one("a[rel=next]")
        if following is None:
            break
        soup = page("/compare/trials" + str(following["href"]))
    assert len(seen) == len(set(seen)) == 48
    for odd in ({"side": 3}, {"side": 0}, {"seen": "luck"}, {"after": "x/y"}, {"scenario": "nothing"}):
        assert client.get("/compare/trials", {**asked, **odd}).status_code == 404, odd


def test_each_count_of_cases_leads_to_these_cases(two: tuple[Run, Run], page: Page, client: Client) -> None:
    six = [*cells_of(two[0], "careful", "hasty", "meddler"), *cells_of(two[1], "careful", "hasty", "meddler")]
    for asked in (of(*six), runs_of(two, measure="collateral", policy="errors-fail/1")):
        soup = page("/compare/", **asked)
        links = soup.select(".sides a[href*='show=']")
        assert len(links) > 2
        for link in links[:8]:
            rows = page("/compare/" + str(link["href"])).select(".cases tbody tr")
            assert len(rows) == int(link.get_text()), link
        for link in soup.select("[aria-label='Which cases'] a")[::2]:
            shown = len(page("/compare/" + str(link["href"])).select(".cases tbody tr"))
            assert link.get_text().endswith(f" {shown}"), link
    for odd in ({"side": 1}, {"side": 3}, {"side": "x"}, {"show": "luck"}):
        assert client.get("/compare/", {**runs_of(two), **odd}).status_code == 404, odd


def test_the_policy_in_the_address_changes_the_difference(two: tuple[Run, Run], client: Client) -> None:
    named = [f"run:{run.ulid}" for run in two]
    scored, failing = (sheet(client, "sides", of(*named, policy=p)) for p in ("scored/1", "errors-fail/1"))
    assert scored[1]["difference"] != failing[1]["difference"]
    assert [row["scored"] for row in scored] == [row["scored"] for row in failing] != [r["errors_fail"] for r in scored]
    assert int(scored[0]["n"]) < int(scored[0]["planned"])


def test_numbers_are_compared_in_their_unit_and_direction(two: tuple[Run, Run], page: Page) -> None:
    for measure in ("collateral", "score"):
        text = page("/compare/", **runs_of(two, measure=measure)).get_text(" ", strip=True)
        assert f"Run 2 from Run 1: {measure}" in text or f"than Run 1: {measure}" in text


def test_a_changed_start_world_parts_everything_and_is_named(
    made: Callable[..., Run], page: Page, client: Client
) -> None:
    old, new = made("one", scenarios=6), made("new", scenarios=6, definition="two", seed=3)
    soup = page("/compare/", **runs_of((old, new)))
    text = soup.get_text(" ", strip=True)
    assert re.search(r"the start world.* differ between Run 1 and Run 2: no case measures the same on both", text)
    assert "have no case in common" in text
    apart = sheet(client, "cases", runs_of((old, new), show="apart"))
    assert {row["why"] for row in apart if row["mark"] == "apart"} == {"the scenario is another one"}
    assert {row["name"] for row in sheet(client, "differences", runs_of((old, new)))} >= {
        "the start world",
        "the fixtures",
    }


def test_subjects_are_pooled_over_their_accepted_runs(two: tuple[Run, Run], page: Page, client: Client) -> None:
    named = of(*subjects_of(two[0], "careful", "meddler"))
    rows = sheet(client, "sides", named)
    both = sum(
        Tally.objects.filter(cell__subject__axes__agent="careful", measure__key="resolved").values_list("n", flat=True)
    )
    assert int(rows[0]["n"]) == both
    soup = page("/compare/", **named)
    assert "meddler" in soup.h1.find_next("p").get_text()
    assert [[a.get_text() for a in ran.select("a")] for ran in soup.select(".sides .ran")] == [["2", "1"]] * 2


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [(20_009, 4, "−99.98 %"), (20_009, 0, "−100 %"), (100, 73, "−27 %"), (4, 20_009, "5,002 times"), (-2, -1, "+50 %")],
)
def test_a_step_says_no_more_than_is_so(old: float, new: float, told: str) -> None:
    assert step(old, new) == told


def test_each_page_leads_to_its_comparison(two: tuple[Run, Run], page: Page, client: Client) -> None:
    cell = two[1].cells.all()[0].key10
    for address in ("/b/acme/demo/", f"/runs/{two[1].ulid}/", f"/runs/{two[1].ulid}/c/{cell}/"):
        (link,) = (a for a in page(address).select("main a.btn") if a.get_text(strip=True) == "Compare")
        assert client.get(str(link["href"])).status_code == 200


def test_one_alone_is_offered_what_it_can_be_compared_with(
    two: tuple[Run, Run], page: Page, client: Client, made: Callable[..., Run]
) -> None:
    soup = page("/compare/", of=[f"run:{two[1].ulid}"])
    (link,) = soup.select("tbody a")
    assert link["href"] == f"?of=run:{two[1].ulid}&of=run:{two[0].ulid}"
    assert "ETag" not in client.get("/compare/", {"of": [f"run:{two[1].ulid}"]}).headers
    later = made("later", scenarios=3, seed=9)
    offered = page("/compare/", of=[f"run:{two[1].ulid}"]).select("tbody input[name=of]")
    assert [str(box["value"]) for box in offered] == [f"run:{two[0].ulid}", f"run:{later.ulid}"]
    cell = page("/compare/", of=cells_of(two[0], "careful"))
    assert [a.get_text() for a in cell.select("tbody a")][:2] == ["hasty · m/small", "meddler · m/small"]


def test_things_of_two_benches_are_refused_in_words(made: Callable[..., Run], client: Client) -> None:
    one, other = made("one"), made("far", bench="acme/other", seed=4)
    response = client.get("/compare/", runs_of((one, other)))
    assert response.status_code == 400
    assert "Different benches measure different things: acme/demo, acme/other." in response.content.decode()


def test_hidden_and_absent_things_cannot_be_told_apart(made: Callable[..., Run], client: Client) -> None:
    seen, hidden = made("one"), made("two", seed=2, verdict="submitted")
    secret = made("far", bench="acme/secret", seed=5, visibility="private")
    absent, key10 = "01KE6SJT80MDVJ7W9JR3Y3JWD9", hidden.cells.all()[0].key10
    subject = secret.cells.all()[0].subject.hash[:10]

    def answer(*named: str) -> tuple[Any, ...]:
        with CaptureQueriesContext(connection) as queries:
            response = client.get("/compare/", of(*named))
        assert client.get("/compare/sides.csv", of(*named)).status_code == 404
        return response.status_code, response.content, len(queries)

    run = f"run:{seen.ulid}"
    assert answer(run, f"run:{hidden.ulid}") == answer(run, f"run:{absent}")
    assert answer(f"cell:{hidden.ulid}/{key10}") == answer(f"cell:{absent}/{key10}")
    assert answer(f"subject:acme/secret/{subject}") == answer(f"subject:acme/nothing/{subject}")
    assert answer("subject:acme/demo/0")[0] == 404
