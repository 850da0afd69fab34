"""What looks like a secret is held back on arrival, by every road, and only a curator says what becomes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from benchsite.artifacts.models import Blob, Finding
from benchsite.artifacts.store import store
from benchsite.curation.models import BlobDecision
from benchsite.flows import leaks
from benchsite.flows.curate import NotAllowed
from benchsite.flows.incoming import take_bundle
from benchsite.flows.upload import Unfit
from benchsite.runs.models import Attempt, Run
from runner.digests import sha256
from runner.exchange.bundle import write_bundle
from tests import make
from tests.site.web.one_trial import Story, take_in, write

pytestmark = pytest.mark.django_db
SECRET = b"ghp_" + b"Zq7Xw2Lk9Rt4Vb8Nm3Hs6Jd1Fg5Cp0Ya7Te2"
FILE = b"# settings\ntoken = '" + SECRET + b"'\n"
STORY = Story(before={"a.py": b"x = 1\n"}, after={"a.py": b"x = 2\n", "conf.py": FILE})
LIST = "/admin/artifacts/blob/"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return take_in(tmp_path, STORY)


@pytest.fixture
def blob(run: Run) -> Blob:
    return Blob.objects.get(digest=sha256(FILE))


def pages(client: Client, run: Run) -> str:
    here = f"/runs/{run.ulid}/t/0"
    paths = ("changes/", "changes/patch/", "workspace/?f=Y29uZi5weQ", "workspace/?find=token&in=content")
    answers = [client.get(f"{here}/{path}") for path in (*paths, "workspace/zip/")]
    return "".join(answer.getvalue().decode("utf-8", "replace") for answer in answers)


def test_a_file_that_looks_like_it_holds_a_secret_is_held_back_and_the_rest_is_shown(
    client: Client, run: Run, blob: Blob
) -> None:
    assert blob.state == "held"
    assert list(blob.findings.values_list("kind", "line")) == [("GitHub token", 2)]
    assert SECRET[8:].decode() not in "".join(Finding.objects.values_list("shown", flat=True))
    assert set(Blob.objects.exclude(pk=blob.pk).values_list("state", "scanned")) <= {
        ("present", leaks.VERSION),
        ("present", 0),
    }
    shown = pages(client, run)
    assert SECRET.decode() not in shown
    assert "held back until a curator decides" in shown
    assert leaks.held_of(run) == 1
    assert store().has(blob.digest), "what was brought is not altered"


def test_a_curator_releases_it_and_it_stays_so(client: Client, run: Run, blob: Blob) -> None:
    client.force_login(make.make_curator())
    listed = client.get(LIST).content.decode()
    assert "line 2: GitHub token ghp_Zq… (40 characters)" in listed
    asked = {"action": "release", "_selected_action": [blob.pk]}
    assert b"Release 1 blob" in client.post(LIST, asked).content
    revision = Run.objects.get(pk=run.pk).revision
    client.post(LIST, {**asked, "decide": "1", "reason": "A token of the test suite."})
    assert SECRET.decode() in pages(client, run)
    assert Run.objects.get(pk=run.pk).revision > revision
    assert "A token of the test suite." in client.get(f"{LIST}{blob.pk}/change/").content.decode()
    Blob.objects.filter(pk=blob.pk).update(scanned=0)  # as when the shapes that are known change
    call_command("rebuild", verbosity=0)
    blob.refresh_from_db()
    assert (blob.state, blob.scanned) == ("present", leaks.VERSION)


def test_a_redacted_blob_is_gone_for_good(client: Client, run: Run, blob: Blob, tmp_path: Path) -> None:
    client.force_login(make.make_curator())
    client.post(
        LIST, {"action": "redact", "_selected_action": [blob.pk], "decide": "1", "reason": "A live token, revoked."}
    )
    assert not store().has(blob.digest)
    assert "was redacted" in pages(client, run)
    again = write_bundle(write(tmp_path / "again", STORY, seed=2), tmp_path / "again.zip")
    with pytest.raises(Unfit, match="was redacted on this site and is not taken again"):
        take_bundle(SimpleUploadedFile("again.zip", again.read_bytes()), make.make_user())
    assert not store().has(blob.digest)


def test_only_a_curator_decides_and_only_once_with_a_reason(run: Run, blob: Blob) -> None:
    with pytest.raises(NotAllowed, match="curator"):
        leaks.release(blob, by=make.make_user(), reason="I like it.")
    with pytest.raises(NotAllowed, match="reason"):
        leaks.redact(blob, by=make.make_curator(), reason=" ")
    leaks.release(blob, by=None, reason="Ours.")
    with pytest.raises(NotAllowed, match="is present; only what is held back"):
        leaks.redact(blob, by=None, reason="Changed my mind.")
    assert BlobDecision.objects.count() == 1


def test_who_uploads_a_secret_is_told_by_the_page(client: Client, tmp_path: Path, run: Run) -> None:
    sent = write_bundle(write(tmp_path / "sent", STORY, seed=3), tmp_path / "sent.zip")
    client.force_login(make.make_curator())
    with sent.open("rb") as file:
        answer: Any = client.post("/upload/", {"bundle": file}, follow=True)
    assert "1 of its files looks as if it held a secret: nobody can open" in answer.content.decode()


def test_what_a_journal_says_is_struck_out_on_every_page_told_and_the_same_after_a_rebuild(
    client: Client, tmp_path: Path
) -> None:
    told = {"sentence": f"Refused with {SECRET.decode()} today.", "detail": f"\n{SECRET.decode()}"}
    issue = {"type": "issue", "severity": "warning", "phase": "execution", "code": "odd", **told}
    run = take_in(tmp_path, Story(before={"a.py": b"x = 1\n"}, extra=[issue]))
    for again in (False, True):
        if again:
            call_command("rebuild", verbosity=0)
        page = client.get(f"/runs/{run.ulid}/t/0/").content.decode()
        assert "Refused with ghp_Zq****" in page
        assert SECRET.decode() not in page
        assert not [row for row in Attempt.objects.values_list("record", flat=True) if SECRET.decode() in str(row)]
    journal = Blob.objects.get(digest=Run.objects.get().events)
    assert (journal.state, journal.findings.count()) == ("held", 2)
    assert SECRET in store().read(journal.digest), "what was brought is not altered"
    for address in (f"/a/{journal.digest}/", f"/a/{journal.digest}/?raw=1"):
        assert SECRET not in client.get(address).getvalue()
    notice = (
        "1 of its files looks as if it held a secret: nobody can open what is held back until a curator decides. Its"
    )
    decide = f"/curate/?show=files&amp;run={run.ulid}"
    shown = client.get(f"/runs/{run.ulid}/").content.decode()
    assert notice in shown
    assert decide not in shown
    client.force_login(make.make_curator())
    assert decide in client.get(f"/runs/{run.ulid}/").content.decode()
    assert journal.digest[:12] in client.get(decide.replace("&amp;", "&")).content.decode()
    with pytest.raises(NotAllowed, match="is the journal of run"):
        leaks.redact(journal, by=None, reason="A live token.")
