"""The curators' page: what waits, what to know before deciding, and decisions taken there and taken back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib.messages import get_messages
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from benchsite.artifacts.models import Blob
from benchsite.curation.models import BlobDecision, Decision
from benchsite.readings.curate import asked, runs
from benchsite.runs.models import Planned, Run
from runner.digests import sha256
from tests import make

from .one_trial import Story, take_in

HERE = "/curate/"
MOST = 12
SECRET = b"token = 'ghp_Zq7Xw2Lk9Rt4Vb8Nm3Hs6Jd1Fg5Cp0Ya7Te2'\n"
STORY = Story(before={"a.py": b"x = 1\n"}, after={"a.py": b"x = 2\n", "conf.py": SECRET})


@pytest.fixture
def curator(client: Client, db: None) -> Client:
    client.force_login(make.make_curator())
    return client


@pytest.fixture
def waiting(made: Callable[..., Run]) -> list[Run]:
    """Two runs that wait, the second of another definition, beside one that was accepted."""
    made(trials=4)
    first = made("b", trials=4, seed=2, verdict="submitted", by=make.make_user("mia"))
    return [first, made("c", trials=1, scenarios=1, seed=3, definition="two", verdict="submitted")]


def shown(client: Client, query: str = "") -> BeautifulSoup:
    response = client.get(HERE + query)
    assert response.status_code == 200
    return BeautifulSoup(response.content, "html.parser")


def runs_in(soup: BeautifulSoup) -> list[str]:
    return [str(box["value"]) for box in soup.select("tbody input[name=of]")]


def post(client: Client, do: str, reason: str = "Reproduced it here.", query: str = "", **more: Any) -> Any:
    return client.post(HERE + query, {"do": do, "reason": reason, **more})


def said(response: Any) -> str:
    return " ".join(str(message) for message in get_messages(response.wsgi_request))


def test_the_queue_says_of_each_run_what_to_know_before(curator: Client, waiting: list[Run]) -> None:
    soup = shown(curator)
    assert runs_in(soup) == [run.ulid for run in waiting]
    first, second = soup.select("tbody tr")
    words = first.get_text(" ", strip=True)
    assert "mia" in words
    assert "careful, hasty, meddler" in words
    assert "pooled with run 1" in words
    assert "not comparable" in second.get_text(" ", strip=True)
    assert "2 of 2" in soup.get_text()


def test_lists_are_narrowed_by_a_part_of_a_name_unless_it_is_a_whole_one(
    curator: Client, waiting: list[Run], made: Callable[..., Run]
) -> None:
    other = made("d", bench="acme/demo-2", trials=1, scenarios=1, seed=4, verdict="submitted")
    first, second = waiting
    for query, wanted in {
        "bench=demo": [first, second, other],
        "bench=acme/demo": [first, second],
        "bench=acme/demo-": [other],
        "bench=/demo-2": [other],
        "bench=nothing": [],
        "by=mi": [first],
        "by=operator": [second, other],
        f"run={second.ulid[-6:].lower()}": [second],
        f"run=…{second.ulid[-6:]}": [second],
        f"run={second.ulid}": [second],
    }.items():
        assert runs_in(shown(curator, f"?sort=oldest&{query}")) == [run.ulid for run in wanted], query
    in_all = [row["run"] for row in curator.get("/runs/runs.json?bench=demo-&verdict=submitted").json()["rows"]]
    assert in_all == [other.ulid]
    assert post(curator, "accept", of=first.ulid).status_code == 302
    assert shown(curator, f"?show=decisions&by=cur&run={first.ulid[-6:]}").select("tbody tr")
    assert not shown(curator, f"?show=decisions&by=cur&run={second.ulid[-6:]}").select("tbody tr")


def test_all_of_a_page_are_ticked_by_an_address_and_not_again_after_the_decision(
    curator: Client, waiting: list[Run]
) -> None:
    link = next(str(a["href"]) for a in shown(curator, "?sort=newest").select(".pager a") if "Tick" in a.get_text())
    soup = shown(curator, link)
    assert len(soup.select("tbody input[checked]")) == len(waiting)
    done = post(curator, "accept", query=link, of=runs_in(soup))
    assert done.url == f"{HERE}?sort=newest"
    assert Run.objects.filter(verdict="submitted").count() == 0


def test_a_hidden_bench_changes_nothing_for_whoever_does_not_see_it(made: Callable[..., Run], client: Client) -> None:
    run = made(bench="acme/demo-2", trials=1, scenarios=1)
    asked = "/runs/runs.json?bench=acme/demo"
    before = client.get(asked).json()["rows"]
    assert [row["run"] for row in before] == [run.ulid]
    made("hidden", bench="acme/demo", trials=1, scenarios=1, seed=2, visibility="private")
    assert client.get(asked).json()["rows"] == before


def test_each_remark_leads_to_as_many_trials_as_it_counts(curator: Client, waiting: list[Run]) -> None:
    links = [link for link in shown(curator).select("tbody td a[href*='trials?']") if link.get_text()[0].isdigit()]
    assert len(links) > 6
    for link in links:
        listed = BeautifulSoup(curator.get(str(link["href"])).content, "html.parser").h1
        assert listed
        assert listed.get_text().split()[0] == link.get_text().split()[0], link


def test_several_are_decided_at_once_with_one_reason(curator: Client, waiting: list[Run]) -> None:
    done = post(curator, "accept", of=[run.ulid for run in waiting])
    assert (done.status_code, done.url) == (302, HERE)
    assert said(done) == "2 runs accepted: Reproduced it here."
    assert set(Run.objects.values_list("verdict", flat=True)) == {"accepted"}
    assert (
        list(Decision.objects.filter(by__username="curie").values_list("reason", flat=True))
        == ["Reproduced it here."] * 2
    )
    assert "No run waits" in shown(curator).get_text()


PROBLEMS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"do": "accept", "reason": " "}, "A decision needs a reason"),
    ({"do": "accept", "of": []}, "Nothing was ticked"),
    ({"do": "burn"}, "no such decision"),
    ({"do": "withdraw-trials", "run": "01X", "trials": "1"}, "no run “01X”"),
    ({"do": "withdraw-trials", "trials": "1, x"}, "“x” is no trial"),
    ({"do": "withdraw-trials", "trials": ""}, "No trial was named"),
    ({"do": "withdraw-trials", "trials": "1-9999"}, "At most 200"),
)


def test_what_cannot_be_done_is_said_and_nothing_typed_is_lost(curator: Client, waiting: list[Run]) -> None:
    run = waiting[0]
    for form, problem in PROBLEMS:
        answer = curator.post(HERE, {"of": [run.ulid], "run": run.ulid, "reason": "Looks odd.", **form})
        soup = BeautifulSoup(answer.content, "html.parser")
        alert, typed = soup.select_one("[role=alert]"), soup.select_one("textarea")
        assert alert
        assert typed
        assert (answer.status_code, typed.get_text()) == (422, form.get("reason", "Looks odd."))
        assert problem in alert.get_text()
        assert bool(soup.select("tbody input[checked]")) == ("of" not in form)
    assert Run.objects.submitted().count() == 2


def test_a_decision_that_cannot_follow_is_refused_and_the_others_are_taken(curator: Client, waiting: list[Run]) -> None:
    done = post(curator, "withdraw", of=[run.ulid for run in Run.objects.all()], query="?verdict=any")
    assert "1 run withdrawn" in said(done)
    assert f"The run {waiting[0].ulid} is submitted" in said(done)


def test_undoing_adds_a_decision_and_puts_back_what_held_before(curator: Client, waiting: list[Run]) -> None:
    run, seen = waiting[0], []
    for do in ("accept", "withdraw"):
        post(curator, do, of=[run.ulid])
    for _ in range(2):
        newest = Decision.objects.filter(run=run.ulid).last()
        assert newest
        post(curator, "undo", "It was too early.", of=[newest.pk], query="?show=decisions")
        run.refresh_from_db()
        seen.append(run.verdict)
    first = Decision.objects.filter(run=run.ulid).first()
    assert first
    assert seen == ["accepted", "withdrawn"], "the undoing itself was undone"
    assert Decision.objects.filter(run=run.ulid).count() == 4
    refused = post(curator, "undo", of=[first.pk], query="?show=decisions")
    assert "only the newest can be undone" in said(refused)
    listed = shown(curator, "?show=decisions&tick=all")
    assert (len(listed.select("tbody tr")), len(listed.select("tbody input[checked]"))) == (5, 2)
    assert "Tick these 2" in shown(curator, "?show=decisions").get_text()


def test_a_first_verdict_undone_has_the_run_wait_again(curator: Client, waiting: list[Run]) -> None:
    run = waiting[0]
    post(curator, "reject", of=[run.ulid])
    post(curator, "undo", of=[Decision.objects.get(run=run.ulid).pk])
    assert run.ulid in runs_in(shown(curator))


def test_trials_are_withdrawn_by_their_numbers_and_restored(curator: Client, run: Run) -> None:
    post(curator, "withdraw-trials", "The judge was down.", run=run.ulid, trials="3, 7-8")
    withdrawn = run.trials.filter(withdrawn=True).order_by("index")
    assert list(withdrawn.values_list("index", flat=True)) == [3, 7, 8]
    again = post(curator, "withdraw-trials", run=run.ulid, trials="3")
    assert f"Trial 3 of run {run.ulid} is withdrawn already." in said(again)
    post(curator, "undo", of=[Decision.objects.get(run=run.ulid, trial=3).pk])
    assert list(withdrawn.values_list("index", flat=True)) == [7, 8]
    assert "Withdraw" in curator.get(f"/runs/{run.ulid}/t/3/").content.decode()


def test_a_file_held_back_is_released_held_again_and_redacted(curator: Client, tmp_path: Path) -> None:
    run = take_in(tmp_path, STORY)
    blob = Blob.objects.get(digest=sha256(SECRET))
    row = shown(curator, f"?show=files&run={run.ulid}").select_one("tbody tr")
    assert row
    assert "GitHub token" in row.get_text()
    assert SECRET[9:30].decode() not in row.get_text()
    states = []
    for do in ("release", "undo-file", "redact"):
        newest = BlobDecision.objects.last()
        post(curator, do, of=[newest.pk if do == "undo-file" and newest else blob.digest], query="?show=files")
        blob.refresh_from_db()
        states.append(blob.state)
    assert states == ["present", "held", "redacted"]
    listed = shown(curator, "?show=releases")
    assert [tag.get_text() for tag in listed.select("tbody .tag")] == ["redacted", "held back again", "released"]
    assert not listed.select("tbody input"), "deleted bytes do not come back"
    assert not listed.select(".pager a, .deciding textarea, .deciding button"), "nothing to decide, nothing to tick"
    last = BlobDecision.objects.last()
    assert last
    assert "cannot be undone" in said(post(curator, "undo-file", of=[last.pk]))
    BlobDecision.objects.create(digest="0" * 64, verdict="release", reason="Its run is gone.")
    gone = shown(curator, "?show=releases").select_one("tbody tr")
    assert gone
    assert gone.select_one(".num").get_text() == "–"  # type: ignore[union-attr]


def test_a_list_goes_on_by_its_last_row_in_any_order(
    curator: Client, waiting: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked, "LIMIT", 1)
    newest = list(Run.objects.order_by("-pk").values_list("ulid", flat=True))
    oldest = newest[::-1]
    orders = {"oldest": oldest, "newest": newest, "bench": oldest, "size": [newest[1], newest[2], newest[0]]}
    for sort, order in orders.items():
        query, seen = f"?verdict=any&sort={sort}", []
        while query:
            soup = shown(curator, query)
            seen += runs_in(soup)
            link = soup.select_one("a[rel=next]")
            query = str(link["href"]) if link else ""
        assert seen == order, sort


@pytest.mark.parametrize("verdict", ["submitted", "any"])
def test_runs_by_size_are_read_from_an_index_and_not_sorted(db: None, verdict: str) -> None:
    question = asked.Asked(sort="size", verdict=verdict)
    rows = runs.narrowed(Run.objects.annotate(planned=Planned("counts")), question).order_by(*question.order)
    if connection.vendor == "postgresql":  # a table this small it would rather sort
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_sort = off")
    plan = rows.only("pk")[: asked.LIMIT].explain()
    assert "largest" in plan
    assert "Sort" not in plan and "B-TREE" not in plan


def test_its_lists_ask_few_queries_whatever_their_length(curator: Client, waiting: list[Run]) -> None:
    for query in ("", "?verdict=any", "?show=decisions", "?show=files", "?show=releases"):
        with CaptureQueriesContext(connection) as queries:
            shown(curator, query)
        assert len(queries) <= MOST, query


def test_the_header_counts_what_waits_for_curators_alone(
    client: Client, curator: Client, waiting: list[Run], made: Callable[..., Run]
) -> None:
    where = reverse("run", args=[waiting[0].ulid])
    first = curator.get(where)
    link = BeautifulSoup(first.content, "html.parser").select_one("header nav a[href='/curate/']")
    assert link
    assert link.get_text(" ", strip=True) == "Curate 2"
    made("d", seed=4, verdict="submitted")
    again = curator.get(where, headers={"if-none-match": first.headers["ETag"]})
    assert again.status_code == 200, "the copy has an old count in its header"
    with CaptureQueriesContext(connection) as queries:
        page = Client().get("/docs/")
    assert "/curate/" not in page.content.decode()
    assert len(queries) == 0


def test_nobody_else_decides_and_a_form_needs_its_key(client: Client, waiting: list[Run]) -> None:
    run = waiting[0]
    client.force_login(make.make_user("ada", is_staff=True))
    assert post(client, "accept", of=[run.ulid]).status_code == 404
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(make.make_curator())
    assert post(strict, "accept", of=[run.ulid]).status_code == 403
    assert Run.objects.submitted().count() == 2


def test_the_twin_has_the_rows_of_the_list(curator: Client, waiting: list[Run]) -> None:
    table = curator.get("/curate/runs.json").json()
    assert [row["run"] for row in table["rows"]] == runs_in(shown(curator))
    assert (table["total"], table["rows"][0]["pooled"], table["rows"][1]["pooled"]) == (2, True, False)
