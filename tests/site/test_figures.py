"""Every figure is the same number wherever it is read: the command, the API, the CSV and the page's table."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from benchsite.flows.ingest import ingest
from benchsite.readings.words import figure
from benchsite.runs.models import Run
from runner.replay import read
from runner.running import run as run_bench
from runner.statistics.summary import summary
from tests.make import make_curator, make_run, make_token
from tests.runner.cli.make import json_of

pytestmark = pytest.mark.django_db
EXAMPLES = Path(__file__).parents[2] / "examples"
POLICIES = ("scored/1", "errors-fail/1")


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every example bench that needs no outside model, run once; and a made one that met every fate."""
    folder = tmp_path_factory.mktemp("figures")
    made = {}
    for name in ("answers", "fix-parser"):
        made[name] = folder / name
        shutil.copytree(EXAMPLES / name, made[name], ignore=shutil.ignore_patterns(".bench"))
        some = ("careful", "hasty", "misplaced") if name == "fix-parser" else ()
        run_bench(made[name], environment="local", trials=1, agents=some)
    make_run(folder / "made", scenarios=6, cases=2, trials=3)
    return {**made, "made": folder / "made"}


@pytest.mark.parametrize("name", ["answers", "fix-parser", "made"])
def test_command_api_csv_and_page_agree_to_the_last_digit(benches: dict[str, Path], name: str, client: Client) -> None:
    (run_dir,) = (benches[name] / ".bench" / "runs").iterdir()
    run: Run = ingest(run_dir, verdict="accepted", visibility="public")
    for policy in POLICIES:
        told = json.loads(json.dumps(summary(read(run_dir), policy)))
        if (name, policy) == ("made", "scored/1"):
            assert json_of("result", run_dir) == told
        answer = client.get(f"/api/v1/runs/{run.ulid}/result", {"policy": policy}).json()
        assert normal(answer) == {key: value for key, value in normal(told).items() if key in answer}
        assert set(told) - set(answer) == {"judge"}
        for measure in told["measures"]:
            if measure["type"] in ("bool", "int", "float"):
                agrees(client, run, told, measure, policy)


def normal(result: dict[str, Any]) -> dict[str, Any]:
    """The order of slots is no part of the promise."""
    slots = sorted(result["slots"], key=lambda slot: (slot["cell"], slot["scenario"], slot["case"]))
    return {**result, "slots": slots}


def agrees(client: Client, run: Run, told: dict[str, Any], measure: dict[str, Any], policy: str) -> None:
    asked = {"policy": policy, "measure": measure["key"]}
    text = client.get(f"/runs/{run.ulid}/leaderboard.csv", asked).content.decode()
    rows = {row["cell"]: row for row in csv.DictReader(io.StringIO(text))}
    shown = places(client, run, asked) if measure["headline"] and measure["type"] == "bool" else {}
    for cell in told["cells"]:
        figures = cell["measures"][measure["key"]]
        row = rows[cell["cell"]]
        assert number(row["figure"]) == figures["macro"]
        assert (number(row["lo"]), number(row["hi"])) == (figures["lo"], figures["hi"])
        assert (number(row["k"]), int(row["n"]), int(row["planned"])) == (
            figures["k"], figures["n"], figures["planned"],
        )  # fmt: skip
        three = figures["three"]
        assert (number(row["scored"]), number(row["errors_fail"]), int(row["observed"])) == (
            three["scored"], three["errors_fail"], three["n"],
        )  # fmt: skip
        if shown and figures["n"]:
            cells = shown[cell["key"]]
            assert cells.select_one(".rate").get_text(strip=True) == figure(figures["macro"], "bool")  # type: ignore[union-attr]
            assert cells.select_one(".kn").get_text(strip=True).startswith(f"{figures['k']:.0f}/{figures['n']}")  # type: ignore[union-attr]


def places(client: Client, run: Run, asked: dict[str, str]) -> dict[str, Any]:
    """The rows of the page's leaderboard by the key of their cell."""
    page = BeautifulSoup(client.get(f"/runs/{run.ulid}/", asked).content, "html.parser")
    return {str(row.a["href"]).split("/")[-2]: row for row in page.select(".leaderboard tbody tr") if row.a}


def number(text: str) -> float | None:
    return float(text) if text else None


def test_a_withdrawn_trial_leaves_the_figures_of_the_api(ingested: Callable[..., Run], client: Client) -> None:
    from benchsite.flows.curate import withdraw_trial

    run = ingested(cells=2, scenarios=6, trials=2, fates=False)
    before = client.get(f"/api/v1/runs/{run.ulid}/result").json()
    withdraw_trial(run, 0, by=make_curator(), reason="the judge was down")
    after = client.get(f"/api/v1/runs/{run.ulid}/result").json()
    assert (before["counts"]["scored"], after["counts"]) == (24, {"scored": 23, "withdrawn": 1})
    assert after["coverage"]["resolved"]["missing"] == {"withdrawn": 1}


def test_a_comparison_is_answered_as_the_page_shows_it(ingested: Callable[..., Run], client: Client) -> None:
    one, two = ingested("a", scenarios=6, seed=1), ingested("b", scenarios=6, seed=2)
    asked = {"of": [f"run:{one.ulid}", f"run:{two.ulid}"]}
    found = client.get("/api/v1/compare", asked).json()
    twin = client.get("/compare/sides.json", asked).json()
    assert found["sides"] == twin["rows"]
    assert found["sides"][1]["clusters"] == 6 and len(found["cases"]) == 12
    page = client.get("/compare/", asked).content.decode()
    assert found["sides"][1]["sentence"] in page
    worse = {**asked, "show": "worse", "side": 2, "sort": "name"}
    assert (
        client.get("/api/v1/compare", worse).json()["cases"] == client.get("/compare/cases.json", worse).json()["rows"]
    )
    for address in ("/api/v1/compare/report", f"/api/v1/runs/{one.ulid}/report"):
        file = client.get(address, asked)
        assert file["Content-Disposition"].startswith("attachment")
        assert "default-src 'none'" in file.content.decode()


def test_what_cannot_be_compared_is_refused_in_a_sentence(ingested: Callable[..., Run], client: Client) -> None:
    one, hidden = ingested("a", seed=1), ingested("b", seed=2, verdict="submitted")
    absent = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

    def answer(*of: str, **more: Any) -> tuple[int, str]:
        response = client.get("/api/v1/compare", {"of": list(of), **more})
        return response.status_code, json.loads(response.content)["detail"]

    assert answer(f"run:{one.ulid}")[0] == 422
    assert answer(f"run:{one.ulid}", f"cell:{one.ulid}/0123456789")[1].startswith(
        "A cell cannot be compared with a run"
    )
    assert answer(f"run:{one.ulid}", f"run:{hidden.ulid}") == answer(f"run:{one.ulid}", f"run:{absent}")
    assert answer(f"run:{one.ulid}", f"run:{absent}")[0] == 404
    assert answer(f"run:{one.ulid}", f"run:{absent}", policy="best/1")[0] == 422
    assert answer(f"run:{one.ulid}", f"run:{absent}", side=3)[1].startswith("side= counts the sides from 1")
    key = make_token(make_curator(), "read")
    seen = client.get(
        "/api/v1/compare",
        {"of": [f"run:{one.ulid}", f"run:{hidden.ulid}"]},
        headers={"Authorization": f"Bearer {key}"},
    )
    assert seen.status_code == 200


@pytest.mark.parametrize("measure", ["spede", "approach"], ids=["unknown", "without a figure"])
def test_a_measure_that_cannot_be_compared_is_said_not_replaced_by_another(
    ingested: Callable[..., Run], client: Client, measure: str
) -> None:
    run = ingested("a", seed=1)
    asked = {"of": [f"cell:{run.ulid}/{cell.key10}" for cell in run.cells.all()[:2]], "measure": measure}
    said = f"The baseline has no measure '{measure}' with a figure to compare; it has resolved, collateral and score."
    page = client.get("/compare/", asked)
    assert page.status_code == 400
    soup = BeautifulSoup(page.content, "html.parser")
    assert said in soup.get_text()
    ways = [f"/compare/{a['href']}" for a in soup.select(".empty a")]
    assert [client.get(way).status_code for way in ways] == [200] * 3, "by each measure that can be compared"
    told = client.get("/api/v1/compare", asked)
    assert (told.status_code, told.json()["detail"]) == (422, said)
    for address in ("cases.csv", "sides.json", "trials", "trials.csv", "report.html"):
        assert client.get(f"/compare/{address}", asked).status_code == 404, address
