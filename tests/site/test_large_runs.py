"""A run too large for one request is taken in by a job: asked about, refused with a reason, taken up after a kill."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from benchsite.artifacts.models import BlobUse
from benchsite.benches.models import Bench
from benchsite.flows import incoming
from benchsite.flows.incoming import drain
from benchsite.flows.recheck import differences
from benchsite.jobs.models import Job, Upload
from benchsite.runs.models import Run, Trial
from runner.exchange.sources import Source, open_source
from tests import make

from .test_uploads import Sender

pytestmark = pytest.mark.django_db


@pytest.fixture
def sender(settings: Any) -> Sender:
    settings.UPLOAD_AT_ONCE = 0
    return Sender(make.make_token(make.make_user(), "upload"))


@pytest.fixture
def source(tmp_path: Path) -> Any:
    with open_source(make.make_run(tmp_path / "sent", bench="acme/demo")) as opened:
        yield opened


def told(sender: Sender, job: str) -> Any:
    return sender.client.get(f"/api/v1/jobs/{job}")


def test_a_large_run_is_taken_in_by_a_job_that_anyone_who_sent_it_may_ask(sender: Sender, source: Source) -> None:
    answer = sender.send(source)
    assert answer.status_code == 202, answer.content
    waits = answer.json()
    assert (waits["state"], waits["ahead"], waits["run"]) == ("queued", 0, None)
    assert waits["page"] == f"http://testserver/jobs/{waits['job']}/"
    upload = Upload.objects.get()
    assert sender.commit(upload.key).json() == waits
    assert sender.send(source).json() == waits, "whoever sends the same bytes anew finds the same job"
    assert told(sender, waits["job"]).json() == waits
    stranger = Sender(make.make_token(make.make_user("eve"), "upload"))
    assert told(stranger, waits["job"]).status_code == told(stranger, "nothing").status_code == 404
    assert drain() == 1
    done = told(sender, waits["job"]).json()
    assert (done["state"], done["run"], done["verdict"], done["held"]) == ("done", source.run, "submitted", 0)
    assert done["url"] == f"http://testserver/runs/{source.run}/"
    again = sender.commit(upload.key)
    assert (again.status_code, again.json()["run"]) == (200, source.run)
    assert sender.send(source).status_code == 200
    assert list(differences(Run.objects.get())) == []


def test_a_large_run_that_is_unfit_is_refused_by_its_job_with_the_reason(sender: Sender, tmp_path: Path) -> None:
    with open_source(make.make_run(tmp_path / "live", state="running")) as source:
        job = sender.send(source).json()["job"]
    assert drain() == 1
    refused = told(sender, job).json()
    assert (refused["state"], refused["run"]) == ("refused", None)
    assert "has not ended" in refused["detail"]
    assert not Run.objects.exists()
    assert not Bench.objects.exists()


def test_a_job_whose_worker_was_killed_half_way_is_taken_up_again_and_counts_nothing_twice(
    sender: Sender, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = sender.send(source).json()["job"]
    monkeypatch.setattr("benchsite.flows.ingest.BATCH", 4)
    monkeypatch.setattr(incoming, "OFTEN", 0.0)
    with monkeypatch.context() as killed:
        killed.setattr(incoming, "_tell", killed_at(20))  # the trials that were not run stand before
        with pytest.raises(KeyboardInterrupt):
            drain()
    assert 0 < Trial.objects.count() < 27
    assert told(sender, job).json()["state"] == "ingesting"
    assert drain() == 1
    assert told(sender, job).json()["state"] == "done"
    run = Run.objects.get()
    assert (run.trials.count(), list(differences(run))) == (27, [])
    assert {trial.index: (trial.state, trial.reason) for trial in run.trials.filter(attempts=0)} == {
        6: ("cancelled", "The run was cancelled."), 12: ("not_run", "The budget of the run was spent."),
    }  # fmt: skip
    assert run.started_at is not None
    assert [user.username for user in run.bench.group.user_set.all()] == ["ada"]
    assert Upload.objects.get().state == "committed"
    assert BlobUse.objects.filter(run=run, blob__digest=run.manifest).exists()


def test_a_job_that_nobody_is_at_is_taken_up_when_it_is_looked_at_and_once(
    sender: Sender,
    source: Source,
    settings: Any,
    tmp_path: Path,
    client: Client,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.MEDIA_ROOT = tmp_path / "incoming"
    job = sender.send(source).json()["job"]
    client.force_login(Job.objects.get().by)
    Job.objects.update(state="running", payload={**Job.objects.get().payload, "tries": 1})

    def woken(*looks: Callable[[], Any]) -> list[Any]:
        (settings.MEDIA_ROOT / "uploads.woken").unlink(missing_ok=True)
        with django_capture_on_commit_callbacks() as called:
            assert [look().status_code for look in looks] == [200] * len(looks)
        return called

    ask, look = partial(told, sender, job), partial(client.get, f"/jobs/{job}/")
    assert woken(look, look, ask) == [incoming.wake]
    assert woken(ask, look) == [incoming.wake]
    with incoming._alone():
        assert woken(look, ask) == [], "somebody is at it"
    assert drain() == 1
    assert woken(look, ask) == []


def killed_at(trials: int) -> Any:
    """Note progress as ever, and end like a killed process once so many trials are there."""
    note = incoming._tell

    def tell(*said: Any) -> None:
        note(*said)
        if Trial.objects.count() >= trials:
            raise KeyboardInterrupt

    return tell
