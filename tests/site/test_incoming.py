"""Large bundles are jobs: kept as they came, taken in one after the other, with a page that says how far they are."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from benchsite.flows import incoming
from benchsite.flows.incoming import drain, path_of, take_bundle
from benchsite.flows.recheck import differences
from benchsite.flows.upload import TooLarge, Unfit
from benchsite.jobs.models import Job
from benchsite.runs.models import Run
from runner.blobs import BlobStore
from runner.exchange.bundle import write_bundle
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def bundle(tmp_path: Path, settings: Any) -> Path:
    settings.UPLOAD_AT_ONCE = 1_000
    settings.MEDIA_ROOT = tmp_path / "incoming"
    return write_bundle(make.make_run(tmp_path / "made"), tmp_path / "run.zip")


def sent(bundle: Path, user: Any) -> Job:
    job = take_bundle(SimpleUploadedFile("my run.zip", bundle.read_bytes()), user)
    assert isinstance(job, Job)
    job.refresh_from_db()
    return job


def test_a_large_bundle_is_a_job_that_ends_as_a_run(client: Client, bundle: Path) -> None:
    user = make.make_user()
    client.force_login(user)
    with bundle.open("rb") as file:
        page = client.post("/upload/", {"bundle": file}, follow=True)
    job = Job.objects.get()
    assert page.redirect_chain == [(f"/jobs/{job.key}/", 302)]
    assert "It is the next one." in page.content.decode()
    assert f'hx-get="/jobs/{job.key}/?part=state"' in page.content.decode()
    call_command("uploads", verbosity=0)
    run = Run.objects.get()
    assert (run.verdict, run.by, list(differences(run))) == ("submitted", user, [])
    part = client.get(f"/jobs/{job.key}/?part=state").content.decode()
    assert f'<a href="/runs/{run.ulid}/">Look at the run</a>' in part
    assert "hx-get" not in part
    assert "once a curator accepts it" in part
    Run.objects.update(verdict="rejected")
    assert "It is rejected and counts on no leaderboard." in client.get(f"/jobs/{job.key}/").content.decode()
    assert not path_of(job).exists()


def test_a_small_file_that_unpacks_to_a_large_run_is_a_job_too(bundle: Path, settings: Any) -> None:
    settings.UPLOAD_AT_ONCE = bundle.stat().st_size + 1
    assert sent(bundle, make.make_user()).state == Job.State.QUEUED


def test_what_is_no_bundle_is_refused_before_it_is_a_job_and_nothing_is_kept(bundle: Path) -> None:
    with pytest.raises(Unfit):
        take_bundle(SimpleUploadedFile("run.zip", bundle.read_bytes()[:-300]), make.make_user())
    assert not Job.objects.exists()
    assert list(bundle.parent.glob("incoming/*.zip")) == []


def test_a_bundle_that_turns_out_bad_says_so_on_its_page(client: Client, bundle: Path) -> None:
    user = make.make_user()
    job = sent(bundle, user)
    data = bytearray(path_of(job).read_bytes())
    data[len(data) // 2] ^= 0xFF
    path_of(job).write_bytes(data)
    assert drain() == 1
    client.force_login(user)
    said = client.get(f"/jobs/{job.key}/").content.decode()
    assert "The run was not taken." in said
    assert not Run.objects.exists()


def test_a_full_disk_is_told_in_a_sentence_on_the_page_and_by_the_job(
    client: Client, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    user = make.make_user()
    job = sent(bundle, user)
    client.force_login(user)
    monkeypatch.setattr(incoming, "save", full)
    with bundle.open("rb") as file:
        page = client.post("/upload/", {"bundle": file})
    assert page.status_code == 507
    assert "make room and send it again" in page.content.decode()
    monkeypatch.setattr(BlobStore, "put_stream", full)
    drain()
    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert "make room and send it again" in job.message


def test_what_a_killed_process_left_is_begun_anew_and_given_up_after_some_tries(bundle: Path) -> None:
    first, second = sent(bundle, make.make_user()), sent(bundle, make.make_user("other"))
    Job.objects.filter(pk=first.pk).update(state="running", payload={**first.payload, "tries": incoming.TRIES})
    Job.objects.filter(pk=second.pk).update(state="running", payload={**second.payload, "tries": 1})
    assert drain() == 2
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.state, second.state) == ("failed", "done")
    assert "each time it was cut off" in first.message


def test_one_process_at_a_time_works_and_an_account_may_not_fill_the_queue(bundle: Path) -> None:
    user = make.make_user()
    for _ in range(incoming.EACH):
        sent(bundle, user)
    with pytest.raises(TooLarge, match="are being taken in already"):
        take_bundle(SimpleUploadedFile("run.zip", bundle.read_bytes()), user)
    with incoming._alone() as alone:
        assert alone
        assert drain() == 0
    assert drain() == incoming.EACH
    assert Run.objects.count() == 1
