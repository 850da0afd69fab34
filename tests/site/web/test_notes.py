"""Notes and tags: who may write them, where they stand, and that a rebuild keeps them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from benchsite.curation.models import Note, Tag
from benchsite.flows.annotate import LONGEST_NOTE
from benchsite.runs.models import Run
from tests.make import make_curator, make_user


@pytest.fixture
def run(made: Callable[..., Run]) -> Run:
    return made(bench="acme/demo", trials=4)


@pytest.fixture
def member(run: Run) -> Client:
    client = Client()
    client.force_login(make_user("mia", groups=("acme",)))
    return client


def said(client: Client, route: str, run: Run, **fields: object) -> str:
    return client.post(reverse(route, args=[run.ulid]), fields, follow=True).content.decode()


def test_a_member_writes_on_a_run_and_on_a_trial(run: Run, member: Client) -> None:
    written = said(member, "run_note", run, text="# Of note\n\nAn *odd* result <script>alert(1)</script>")
    assert "<em>odd</em>" in written
    assert written.count("<h1") == 1, "a note's headings stand below the page's"
    assert "look here" in said(member, "run_note", run, text="look here", trial=2)
    text = Client().get(f"/runs/{run.ulid}/").content.decode()
    assert "<em>odd</em>" in text
    assert "<script>alert" not in text
    assert "look here" not in text
    assert "look here" in Client().get(f"/runs/{run.ulid}/t/2/").content.decode()


def test_tags_lead_to_what_else_has_them(run: Run, member: Client) -> None:
    said(member, "run_tag", run, name="  release   1 ")
    said(member, "run_tag", run, name="release 1")
    said(member, "run_tag", run, name="odd", trial=3)
    assert [(tag.name, tag.trial) for tag in Tag.objects.order_by("id")] == [("release 1", None), ("odd", 3)]
    assert run.ulid in Client().get("/runs/?tag=release%201").content.decode()
    assert run.ulid not in Client().get("/runs/?tag=other").content.decode()
    rows = Client().get(f"/runs/{run.ulid}/trials?tag=odd").content.decode()
    assert "1 trial</h1>" in rows
    assert 't/3/"' in rows
    said(member, "run_tag", run, drop="release 1")
    assert not Tag.objects.filter(trial=None).exists()


def test_what_cannot_be_written_is_said_in_a_sentence(run: Run, member: Client) -> None:
    assert "A note needs words." in said(member, "run_note", run, text="  ")
    assert "at most 5,000 characters" in said(member, "run_note", run, text="x" * (LONGEST_NOTE + 1))
    assert "A tag has 1 to 60 characters" in said(member, "run_tag", run, name="x" * 61)
    assert "has no trial 900" in said(member, "run_tag", run, name="x", trial=900)
    assert not Note.objects.exists()


def test_others_may_read_and_not_write(run: Run, member: Client) -> None:
    said(member, "run_note", run, text="mine")
    other = Client()
    other.force_login(make_user("olga"))
    assert "Only whoever sent a run" in said(other, "run_note", run, text="spam")
    assert "Only whoever sent a run" in said(other, "run_tag", run, name="spam")
    note = Note.objects.get()
    assert "or a curator, takes it back" in said(other, "run_note", run, drop=note.pk)
    assert Client().post(reverse("run_note", args=[run.ulid]), {"text": "x"}).status_code == 302
    assert Note.objects.get() == note


def test_a_note_is_taken_back_by_its_author_or_a_curator(run: Run, member: Client) -> None:
    said(member, "run_note", run, text="one")
    said(member, "run_note", run, text="two")
    first, second = Note.objects.order_by("id")
    assert "taken back" in said(member, "run_note", run, drop=first.pk)
    curator = Client()
    curator.force_login(make_curator())
    said(curator, "run_note", run, drop=second.pk)
    assert not Note.objects.exists()
    assert "gone already" in said(curator, "run_note", run, drop=second.pk)
