"""Flags with their evidence, and what was measured of all that was planned, of a run that really ran."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urldefrag, urljoin, urlsplit

import pytest
from bs4 import BeautifulSoup, Tag
from django.test import Client
from django.urls import reverse

from benchsite.flows.curate import withdraw_trial
from benchsite.flows.ingest import ingest
from benchsite.readings import trials
from benchsite.runs.models import Observation, Run
from runner import replay
from runner.running import run as run_bench
from runner.statistics.summary import summary
from tests.make import make_curator
from tests.runner.scenario.benches import write_bench
from tests.site.web.test_numbers import heading, links

Page = Callable[..., BeautifulSoup]
AGENTS = """{
    "cheat": Scripted([write("tests/test_a.py", "def test_a(): pass\\ndef test_b(): skip()\\n"),
                       steps.run("cat", "/etc/hostname"), say("done")]),
    "honest": Scripted([write("a.py", "a = 1\\n"), say("done")]),
}"""
SCENARIOS = """
    def bench_fine(workspace, agent):
        agent.request("go")
        observe("resolved", True)
        observe("count", {"a.py": 1}.get(workspace.changed()[0], "many"))

    def bench_broken(workspace, agent):
        raise RuntimeError("never begins")
"""


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_bench(
        tmp_path_factory.mktemp("flags") / "bench",
        {"it": SCENARIOS},
        declare='matrix={"agent": ["cheat", "honest"]}, trials=2',
        agents=AGENTS,
        world={"tests/test_a.py": "def test_a(): assert f()\ndef test_b(): skip()\n"},
    )
    return folder / ".bench/runs" / run_bench(folder, workers=1, seed=1).manifest.run


@pytest.fixture
def run(db: None, run_dir: Path) -> Run:
    return ingest(run_dir, verdict="accepted", visibility="public", by=None)


def table(soup: BeautifulSoup) -> dict[str, list[str]]:
    rows = soup.select(".coverage tbody tr")
    return {
        row.th.get_text(strip=True): [cell.get_text(strip=True) for cell in row.select("td")] for row in rows if row.th
    }


def test_coverage_counts_every_measure_of_every_planned_trial(run: Run, page: Page) -> None:
    soup = page(reverse("run", args=[run.ulid]))
    # expected, observed, invalid, not observed, run error
    assert table(soup) == {
        "resolved": ["8", "4", "0", "0", "4"],
        "count": ["8", "2", "2", "0", "4"],
        "share": ["8", "0", "0", "4", "4"],
        "kind": ["8", "0", "0", "4", "4"],
        "note": ["8", "0", "0", "4", "4"],
    }
    head = soup.select_one("section[aria-labelledby=coverage] .section-head")
    assert head
    assert "never observed: share, kind, note" in head.get_text()


def test_the_page_and_the_runner_count_alike(run: Run, run_dir: Path, page: Page) -> None:
    told = summary(replay.read(run_dir))
    shown = table(page(reverse("run", args=[run.ulid])))
    for key, seen in told["coverage"].items():
        missing = [seen["missing"].get(reason, 0) for reason in ("not_observed", "run_error")]
        assert shown[key] == [*map(str, (seen["expected"], seen["observed"], seen["invalid"], *missing))]
    assert told["flags"] == {"tests_edited": 2, "outside_read": 2, "invalid": 2}


def test_every_number_of_the_coverage_lists_its_trials(run: Run, page: Page) -> None:
    address = reverse("run", args=[run.ulid])
    section = page(address).select_one("section[aria-labelledby=coverage]")
    assert isinstance(section, Tag)
    numbers = dict(links(BeautifulSoup(f"<main>{section}</main>", "html.parser"), address))
    assert len(numbers) >= 7
    for link, number in numbers.items():
        assert page(link).h1.get_text(strip=True).split()[0] == str(number), link  # type: ignore[union-attr]


@pytest.mark.parametrize("few", [0, 1000])
def test_trials_listed_by_what_they_observed_are_those_that_did(
    run: Run, page: Page, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """Whether the list begins from the run's trials or from the cases that have any such."""
    monkeypatch.setattr(trials, "FEW", few)
    withdraw_trial(run, run.trials.filter(state="scored").first().index, by=make_curator(), reason="A test.")
    for measure in run.version.measures.all():
        rows = Observation.objects.filter(measure=measure, trial__run=run)
        seen = {row.trial_id: "observed" if row.valid else "invalid" for row in rows}
        for what in ("observed", "invalid", "missing"):
            scored = run.trials.filter(state="scored", withdrawn=False)
            told = {trial.index for trial in scored if seen.get(trial.pk, "missing") == what}
            soup = page(reverse("run_trials", args=[run.ulid]), measure=measure.key, seen=what)
            assert heading(soup) == len(told)
            assert {int(link.get_text()) for link in soup.select("tbody th a")} == told, (measure.key, what)


def test_a_warning_leads_to_as_many_flagged_trials_as_it_says(run: Run, page: Page) -> None:
    address = reverse("run", args=[run.ulid])
    notices = [one for one in page(address).select(".notices li:not(:has(li))") if "flagged" in one.get_text()]
    assert ["tests_edited" in notices[0].get_text(), "outside_read" in notices[1].get_text()] == [True, True]
    for notice in notices:
        assert "2 trials flagged" in " ".join(notice.get_text().split())
        link = notice.select_one("a")
        assert link
        assert page(urljoin(address, str(link["href"]))).h1.get_text(strip=True) == "2 trials"  # type: ignore[union-attr]


def test_who_left_the_scoring_by_an_unsafe_submission_is_counted_and_led_to(run: Run, page: Page) -> None:
    run.trials.filter(index=1).update(flags=["unsafe_submission"], state="run_error", fault="transport")
    address = reverse("run", args=[run.ulid])
    (notice,) = [one for one in page(address).select(".notices li:not(:has(li))") if "unsafe" in one.get_text()]
    assert "1 of 8 trials left the scoring by an unsafe submission: " in " ".join(notice.get_text().split())
    listed = page(urljoin(address, str(notice.select("a")[0]["href"])))
    assert [int(link.get_text()) for link in listed.select("tbody th a")] == [1]
    banner = page(reverse("trial", args=[run.ulid, 1])).select_one(".banner.warn")
    assert banner
    assert "so nothing was graded." in banner.get_text()
    assert "score is as" not in banner.get_text()


def test_each_piece_of_evidence_is_a_link_that_leads_to_it(run: Run, page: Page) -> None:
    trial = run.trials.filter(flags__icontains="tests_edited").first()
    address = reverse("trial", args=[run.ulid, trial.index])
    found = page(address).select(".banner a.evidence")
    assert [link.get_text() for link in found] == ["tests/test_a.py:1", "step 3"]
    assert "The score is as it was measured." in page(address).select_one(".banner.warn").get_text()  # type: ignore[union-attr]
    for link in found:
        target, fragment = urldefrag(urljoin(address, str(link["href"])))
        assert page(target).find(id=fragment), (target, fragment)


def test_a_step_far_down_is_found_on_its_page(run: Run, client: Client) -> None:
    trial = run.trials.filter(flags__icontains="outside_read").first()
    address = reverse("trial_transcript", args=[run.ulid, trial.index])
    assert client.get(address, {"at": "1-3"}).status_code == 200
    assert client.get(address, {"at": "9-9 no such"}).status_code == 200


@pytest.mark.parametrize(
    "query", ["flag=No%20such", "measure=count", "seen=observed", "measure=count&seen=x", "measure=no&seen=invalid"]
)
def test_an_odd_filter_is_not_found(run: Run, client: Client, query: str) -> None:
    assert client.get(reverse("run_trials", args=[run.ulid]) + f"?{query}").status_code == 404


def test_a_flag_that_nobody_knows_is_an_empty_list_that_says_so(run: Run, page: Page) -> None:
    text = page(reverse("run_trials", args=[run.ulid]), flag="no_such").get_text(" ", strip=True)
    assert "0 trials" in text
    assert "This site knows no flag of that name; it knows request_timeout," in text


def test_the_list_of_a_flag_keeps_its_other_filters(run: Run, page: Page) -> None:
    soup = page(reverse("run_trials", args=[run.ulid]), flag="tests_edited", measure="count", seen="invalid")
    assert soup.h1
    assert soup.h1.get_text(strip=True) == "2 trials"
    (without,) = [link for link in soup.select(".page-head a.tag") if "flag" in link.get_text()]
    assert parse_qs(urlsplit(str(without["href"])).query) == {"measure": ["count"], "seen": ["invalid"]}
