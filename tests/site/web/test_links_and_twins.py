"""Lists have twins with what they show, and every view has an address that leads back to it."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from benchsite.runs.models import Run

pytestmark = pytest.mark.django_db
HOST = "http://testserver"


def rows_of(client: Client, address: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"{address.replace('.csv', '.json')}").json()["rows"]
    text = client.get(address).content.decode()
    assert [len(row) for row in csv.reader(io.StringIO(text))] == [len(found[0])] * (len(found) + 1)
    return found


def test_the_lists_of_benches_and_runs_have_twins_of_what_the_reader_sees(
    made: Callable[..., Run], client: Client
) -> None:
    run = made()
    made("hidden", bench="acme/secret", visibility="private", seed=2)
    (line,) = rows_of(client, "/benches.csv")
    assert rows_of(client, "/b/benches.csv") == [line]
    assert "1–1 of 1<" in client.get("/b/").content.decode()
    board = client.get(f"/runs/{run.ulid}/leaderboard.json").json()["rows"]
    assert (line["bench"], line["run"], line["figure"]) == ("acme/demo", run.ulid, board[0]["figure"])
    (only,) = rows_of(client, "/runs/runs.csv")
    assert (only["run"], only["planned"], only["scored"]) == (run.ulid, run.counts["planned"], run.counts["scored"])
    assert rows_of(client, "/recent.csv") == [only], "what the front page shows of the runs"
    assert client.get("/runs/runs.json?state=running").json()["rows"] == []
    front = BeautifulSoup(client.get("/").content, "html.parser")
    assert [a["href"] for a in front.select(".twins a")] == ["benches.csv", "benches.json", "recent.csv", "recent.json"]
    assert 'href="runs.csv?state=finished"' in client.get("/runs/?state=finished").content.decode()


def test_a_trials_observations_have_a_twin_with_unrounded_values(made: Callable[..., Run], client: Client) -> None:
    run = made()
    trial = run.trials.filter(outcome="unsolved").first()
    assert trial
    address = f"/runs/{run.ulid}/t/{trial.index}/"
    found = {row["measure"]: row for row in rows_of(client, address + "observations.csv")}
    assert (found["resolved"]["value"], found["resolved"]["headline"]) == (False, True)
    stored = trial.observations.get(measure__key="score")
    assert (found["score"]["value"], found["score"]["state"]) == (stored.number, "valid")
    page = BeautifulSoup(client.get(address).content, "html.parser")
    assert len(found) == len(page.select(".observed tbody tr"))
    assert page.select_one('a[href="observations.csv"]')


def test_every_view_offers_its_canonical_address(made: Callable[..., Run], client: Client) -> None:
    run = made()
    cells = [cell.key10 for cell in run.cells.all()]
    here, of = f"/runs/{run.ulid}/", f"of=cell:{run.ulid}/{cells[0]}&of=cell:{run.ulid}/{cells[1]}"
    strict = "policy=errors-fail/1"
    trials = list(run.trials.filter(scenario=run.trials.all()[0].scenario_id).values_list("index", flat=True)[:2])
    pair = "&".join(f"of=trial:{run.ulid}/{index}" for index in trials)
    for asked, canonical in {
        f"{here}?{strict}": f"{here}?{strict}",
        f"/b/acme/demo/?{strict}&split=&utm_source=x": f"/b/acme/demo/?{strict}",
        "/b/acme/demo/s/fix_bug/?page=": "/b/acme/demo/s/fix_bug/",
        f"{here}s/fix_bug/?c={cells[0]}&policy=scored/1": f"{here}s/fix_bug/?c={cells[0]}",
        f"{here}c/{cells[0]}/?{strict}": f"{here}c/{cells[0]}/?{strict}",
        f"{here}trials?cell={cells[0]}&state=run_error,eval_error&case=": (
            f"{here}trials?state=run_error,eval_error&cell={cells[0]}&case="
        ),
        f"{here}t/1/": f"{here}t/1/",
        f"{here}t/1/changes/?wrap=off&view=split": f"{here}t/1/changes/?wrap=off",
        f"/compare/?{strict}&{of}": f"/compare/?{of}&{strict}",
        f"/compare/?{pair}&what=transcript": f"/compare/?{pair}&what=transcript",
        f"/compare/?of=run:{run.ulid}": f"/compare/?of=run:{run.ulid}",
        "/search?q=fix bug": "/search?q=fix+bug",
    }.items():
        page = BeautifulSoup(client.get(asked).content, "html.parser")
        (button,) = page.select('[aria-label="Copy link to this view"]')
        assert button["data-copy"] == HOST + canonical
        assert client.get(canonical).status_code == 200


def test_squares_of_a_large_matrix_lead_to_what_a_solved_trial_did_otherwise_where_one_asks_for_it(
    made: Callable[..., Run], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = f"/runs/{made(seed=5).ulid}/"

    def page(query: str = "") -> BeautifulSoup:
        return BeautifulSoup(client.get(here + query).content, "html.parser")

    missed = {link["href"] for link in page().select(".matrix td .vs")}
    assert missed
    monkeypatch.setattr("benchsite.readings.matrix.LARGE", 1)  # a second link in each square would be too heavy
    assert not page().select(".matrix td .vs")
    (choice,) = page().select("[aria-label='Where squares lead'] a[href*=versus]")
    led = page(choice["href"])
    assert {link["href"] for link in led.select(".matrix tbody td a[href^=versus]")} == missed
    assert led.select(".matrix tbody td a[href^=trials]"), "what has no miss leads to its trials"
    chips = BeautifulSoup(client.get(here + min(missed), follow=True).content, "html.parser").select(".pair-line .chip")
    assert [chip.get_text(strip=True) for chip in chips] == ["unsolved", "solved"]


def test_where_nothing_can_be_set_beside_a_trial_one_is_led_on(made: Callable[..., Run], client: Client) -> None:
    run = made(trials=4, scenarios=1, fates=False)
    solved = run.trials.filter(outcome="solved").first()
    assert solved
    run.trials.filter(outcome="unsolved").update(outcome="solved")
    none_missed = client.get(f"/runs/{run.ulid}/versus?cell={solved.cell.key10}")
    run.trials.update(outcome="unsolved")
    none_solved = client.get(f"/compare/?of=trial:{run.ulid}/{solved.index}")
    for answer, said in ((none_missed, "None of these trials is unsolved"), (none_solved, "No solved trial of fix")):
        soup = BeautifulSoup(answer.content, "html.parser").select_one(".empty")
        assert soup
        assert said in soup.get_text()
        ways = [str(a["href"]) for a in soup.select("a")]
        assert [client.get(way).status_code for way in ways] == [200] * len(ways)
        assert len(ways) >= 2
