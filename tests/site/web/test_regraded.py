"""A regraded run says so, leads to the run it was made from, and never makes work count twice or look newer."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse

from benchsite.flows.ingest import ingest
from benchsite.runs.models import Run
from runner.journal import EVENTS, MANIFEST
from runner.manifest import Manifest

Page = Callable[..., BeautifulSoup]
LATER = "01KZZZZZZZZZZZZZZZZZZZZZZ"


def regraded(run_dir: Path, end: str = "A") -> Path:
    """A run as `regrade` leaves it: of another run's agents, under the same definition."""
    manifest = Manifest.read(run_dir / MANIFEST)
    made = replace(manifest, run=LATER + end, parent=manifest.run, regrades=manifest.run)
    folder = run_dir.parent / made.run
    folder.mkdir(exist_ok=True)
    made.write(folder / MANIFEST)
    shutil.copyfile(run_dir / EVENTS, folder / EVENTS)
    return folder


def accepted(folder: Path) -> Run:
    return ingest(folder, verdict="accepted")


def test_the_run_page_says_regraded_and_leads_to_the_parent(
    run_dirs: Callable[..., Path], made: Callable[..., Run], page: Page, client: Client
) -> None:
    again = regraded(run_dirs("a", trials=10))
    alone = accepted(again)
    shown = page(reverse("run", args=[alone.ulid])).get_text(" ", strip=True)
    assert "Regraded from" in shown
    assert f"in run {alone.parent}, which is not here" in shown
    parent = made("a", trials=10)
    found = page(reverse("run", args=[alone.ulid]))
    address = reverse("run", args=[parent.ulid])
    assert found.select_one(f'dl.facts a[href="{address}"]')
    assert found.select_one('a.tag[href="#provenance"]').get_text() == "regraded"  # type: ignore[union-attr]
    (notice,) = [one for one in found.select(".notices li:not(:has(li))") if "Regraded: no agent ran" in one.get_text()]
    assert f"what agents did in run {parent.label};" in notice.get_text()
    assert notice.select_one(f'a[href="../{parent.ulid}/"]')
    assert "regraded" in page(reverse("runs")).get_text()
    trial = page(reverse("trial", args=[alone.ulid, 0]))
    assert trial.select_one(f'.trial-head a.tag[href="{reverse("run", args=[alone.ulid])}#provenance"]')
    told = client.get(f"/api/v1/runs/{alone.ulid}").json()
    assert (told["regraded"], told["parent"]) == (True, parent.ulid)
    assert client.get(f"/api/v1/runs/{parent.ulid}").json()["regraded"] is False


def test_a_bench_counts_work_once_and_by_its_own_age(
    run_dirs: Callable[..., Path], made: Callable[..., Run], page: Page
) -> None:
    first = made("a", trials=10, fates=False)
    again = accepted(regraded(run_dirs("a", trials=10, fates=False)))
    address = reverse("bench", args=[first.bench.owner, first.bench.name])

    def shown(where: str = "section[aria-labelledby=leaderboard]") -> set[str]:
        links = page(address).select(f"{where} a[href*='/c/']")
        return {str(link["href"]).split("/")[2] for link in links}

    assert again.cohort == first.cohort
    assert shown() == {again.ulid}, "graded last, and once for each subject"
    assert shown("section") == {again.ulid}, "in what is shown over time, too"
    newer = made("b", trials=10, seed=2, fates=False)
    late = accepted(regraded(run_dirs("a", trials=10, fates=False), "B"))
    assert late.pk > newer.pk
    assert shown() == {newer.ulid}, "work that is older does not come before newer work by being graded again"
