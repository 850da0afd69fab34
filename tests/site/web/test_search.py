"""Search finds what people remember, and only what they may see."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from benchsite.artifacts.models import Artifact
from benchsite.benches.models import Subject
from benchsite.flows.annotate import add_note, add_tag
from benchsite.runs.models import Run
from tests.make import make_curator


@pytest.fixture
def run(made: Callable[..., Run]) -> Run:
    return made(bench="acme/tool-use", trials=6)


def hits(words: str, client: Client | None = None) -> list[tuple[str, str]]:
    page = BeautifulSoup((client or Client()).get("/search", {"q": words}).content, "html.parser")
    return [(str(a["href"]), " ".join(a.get_text(" ", strip=True).split())) for a in page.select(".hits a")]


def found(words: str, where: str) -> bool:
    return where in [href for href, _ in hits(words)]


def test_each_kind_of_thing_is_found_by_what_one_remembers_of_it(run: Run) -> None:
    cell, evidence = run.cells.first(), Artifact.objects.filter(trial__run=run).first()
    assert cell
    assert evidence
    add_tag(run, "release candidate", by=None)
    add_note(run, "Looks like *overfitting* to me.", by=None, trial=2)
    here = f"/runs/{run.ulid}/"
    for words, where in {
        "tool": "/b/acme/tool-use/",
        "acme/tool": "/b/acme/tool-use/",
        f"run {run.label}": here,
        run.ulid[:12].lower(): here,
        f"…{run.ulid[-6:]}": here,
        run.ulid[-7:].lower(): here,
        f"{run.ulid}/3": f"{here}t/3/",
        "fix_b": "/b/acme/tool-use/s/fix_bug/",
        "careful": f"{here}c/{cell.key10}/",
        "agent=care": f"{here}c/{cell.key10}/",
        "candidate": here,
        "overfitting looks": f"{here}t/2/",
        evidence.digest[:10]: f"/a/{evidence.digest}/",
    }.items():
        assert found(words, where), words


def test_nothing_and_no_words_are_said_in_words(run: Run) -> None:
    assert "Nothing that you may see matches" in Client().get("/search?q=zzz").content.decode()
    assert "the beginning of a run" in Client().get("/search").content.decode()


def test_axis_values_are_found_as_they_are_read_whatever_they_hold(run: Run) -> None:
    cell = run.cells.select_related("subject").first()
    assert cell
    Subject.objects.filter(pk=cell.subject_id).update(axes={"agent": 'größe "7" a\\b 100%'})
    for words in ("größe", "agent=größe", '"7"', "a\\b", "100%"):
        assert found(words, f"/runs/{run.ulid}/c/{cell.key10}/"), words
    for sign in ('"', ":", "{", ",", "\\", "\0", "name=größe", "=größe"):
        assert not [href for href, _ in hits(sign) if "/c/" in href], sign


def test_a_private_bench_is_found_by_nobody_else(made: Callable[..., Run]) -> None:
    run = made(bench="acme/secret", trials=2, visibility="private")
    evidence = Artifact.objects.filter(trial__run=run).first()
    assert evidence
    add_tag(run, "hush", by=None)
    add_note(run, "whisper", by=None)
    by_id = (f"run {run.label}", run.ulid, run.ulid[-6:], f"{run.ulid}/1")
    for words in ("secret", *by_id, "fix_bug", "careful", "hush", "whisper"):
        assert hits(words) == [], words
    assert hits(evidence.digest) == []
    curator = Client()
    curator.force_login(make_curator())
    assert hits("secret", curator)


def test_a_search_asks_little_and_shows_strangers_words_as_text(run: Run) -> None:
    add_note(run, "<script>alert(1)</script> fix", by=None)
    client = Client()
    client.force_login(make_curator())
    with CaptureQueriesContext(connection) as queries:
        text = client.get("/search?q=fix").content.decode()
    assert len(queries) <= 12
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_the_palettes_part_is_the_pages_list(run: Run) -> None:
    part = Client().get("/search?q=tool&part=hits").content.decode()
    assert "<html" not in part
    assert part.strip() in Client().get("/search?q=tool").content.decode()
