"""Runs sent to the site, by the API, by the command line's own client and as a bundle: checked, capped, idempotent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from benchsite.artifacts.models import Blob, BlobUse
from benchsite.artifacts.store import store
from benchsite.benches.models import Bench
from benchsite.flows.forget import forget
from benchsite.flows.ingest import ingest
from benchsite.flows.recheck import differences
from benchsite.jobs.models import Upload
from benchsite.runs.models import Run
from runner.digests import sha256
from runner.exchange.push import push
from runner.exchange.sources import Source, open_source
from tests import make

pytestmark = pytest.mark.django_db


class Sender:
    """Speaks to the API as a program with one token does."""

    def __init__(self, key: str) -> None:
        self.client = Client(headers={"Authorization": f"Bearer {key}"})

    def announce(self, source: Source, **changed: Any) -> Any:
        body = {
            "run": source.run,
            "bench": source.result.manifest.bench,
            "manifest": source.manifest,
            "events": source.events,
            "digests": sorted(source.files),
        }
        return self.client.post("/api/v1/uploads", {**body, **changed}, content_type="application/json")

    def put(self, upload: str, digest: str, data: bytes) -> Any:
        address = f"/api/v1/uploads/{upload}/blobs/{digest}"
        return self.client.put(address, data, content_type="application/octet-stream")

    def commit(self, upload: str) -> Any:
        return self.client.post(f"/api/v1/uploads/{upload}/commit", {}, content_type="application/json")

    def send(self, source: Source) -> Any:
        answer = self.announce(source)
        assert answer.status_code == 201, answer.content
        for digest in answer.json()["missing"]:
            done = self.put(answer.json()["upload"], digest, source.files[digest].read_bytes())
            assert done.status_code == 204, done.content
        return self.commit(answer.json()["upload"])


@pytest.fixture
def sender() -> Sender:
    return Sender(make.make_token(make.make_user(), "upload"))


@pytest.fixture
def source(tmp_path: Path) -> Any:
    with open_source(make.make_run(tmp_path / "sent", bench="acme/demo")) as opened:
        yield opened


def test_a_sent_run_is_submitted_and_equals_a_local_ingest(sender: Sender, source: Source, tmp_path: Path) -> None:
    answer = sender.send(source)
    assert answer.status_code == 200, answer.content
    assert answer.json() == {
        "run": source.run,
        "url": f"http://testserver/runs/{source.run}/",
        "verdict": "submitted",
        "held": 0,
    }
    run = Run.objects.get(ulid=source.run)
    assert (run.by.username, run.verdict) == ("ada", "submitted")
    assert list(differences(run)) == []
    counts = run.counts
    forget(run)
    assert ingest(tmp_path / "sent" / ".bench" / "runs" / source.run).counts == counts


def test_a_bench_that_arrives_by_upload_is_private_to_its_sender(sender: Sender, source: Source) -> None:
    sender.send(source)
    bench = Bench.objects.get()
    assert bench.visibility == "private"
    assert Bench.objects.visible_to(None).count() == 0
    assert [user.username for user in bench.group.user_set.all()] == ["ada"]


def test_sending_the_same_bytes_again_changes_nothing(sender: Sender, source: Source) -> None:
    sender.send(source)
    revision = Run.objects.get().revision
    again = sender.announce(source)
    assert (again.status_code, again.json()["missing"]) == (201, [])
    assert sender.commit(again.json()["upload"]).status_code == 200
    assert sender.commit(again.json()["upload"]).status_code == 200
    assert Run.objects.get().revision == revision


def test_other_bytes_under_the_same_id_are_a_conflict(sender: Sender, source: Source) -> None:
    sender.send(source)
    answer = sender.announce(source, events="0" * 64, digests=[*source.files, "0" * 64])
    assert answer.status_code == 409
    assert "never used twice" in answer.json()["detail"]


def test_a_blob_of_another_digest_is_refused_and_not_kept(sender: Sender, source: Source) -> None:
    answer = sender.announce(source).json()
    digest = answer["missing"][0]
    refused = sender.put(answer["upload"], digest, b"other bytes")
    assert refused.status_code == 422
    assert sha256(b"other bytes") in refused.json()["detail"]
    assert not store().has(sha256(b"other bytes"))
    assert not store().has(digest)
    assert [path for path in store().root.rglob("*") if path.is_file()] == []


def test_a_blob_that_was_not_announced_is_not_taken(sender: Sender, source: Source) -> None:
    upload = sender.announce(source).json()["upload"]
    assert sender.put(upload, sha256(b"stray"), b"stray").status_code == 404
    assert not store().has(sha256(b"stray"))


def test_a_blob_over_the_cap_is_refused(sender: Sender, source: Source, settings: Any) -> None:
    settings.UPLOAD_BLOB = 10
    answer = sender.announce(source).json()
    big = max(source.files, key=lambda digest: source.files[digest].stat().st_size)
    assert sender.put(answer["upload"], big, source.files[big].read_bytes()).status_code == 413


def test_too_many_blobs_and_too_much_in_all_are_refused(sender: Sender, source: Source, settings: Any) -> None:
    settings.UPLOAD_FILES = 2
    assert sender.announce(source).status_code == 413
    settings.UPLOAD_FILES = 10_000
    settings.UPLOAD_TOTAL = 1000
    assert sender.send(source).status_code == 413
    assert not Run.objects.exists()


def test_an_incomplete_upload_is_not_committed(sender: Sender, source: Source) -> None:
    answer = sender.announce(source).json()
    refused = sender.commit(answer["upload"])
    assert refused.status_code == 422
    assert f"{len(answer['missing'])} blobs" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"run": "41"}, 422),
        ({"bench": "Not/OK"}, 422),
        ({"bench": "curators/x"}, 422),
        ({"digests": ["xyz"]}, 422),
        ({"digests": []}, 422),
        ({"manifest": "f" * 64}, 422),
        ({"digests": "no list"}, 422),
    ],
)
def test_an_odd_announcement_is_refused_in_one_sentence(
    sender: Sender, source: Source, changed: dict[str, Any], status: int
) -> None:
    answer = sender.announce(source, **changed)
    assert answer.status_code == status
    assert set(answer.json()) == {"detail"}
    assert isinstance(answer.json()["detail"], str)
    assert not Upload.objects.exists()


def test_without_a_live_token_of_the_scope_the_answer_is_401(source: Source) -> None:
    user = make.make_user()
    for key in ("", "bs_wrong", make.make_token(user, "read")):
        answer = Sender(key).announce(source)
        assert answer.status_code == 401
        assert "token" in answer.json()["detail"]
    assert not Upload.objects.exists()


def test_a_signed_in_browser_is_no_token(client: Client, source: Source) -> None:
    client.force_login(make.make_user())
    assert client.post("/api/v1/uploads", {}, content_type="application/json").status_code == 401


def test_an_upload_belongs_to_who_began_it(sender: Sender, source: Source) -> None:
    key = sender.announce(source).json()["upload"]
    other = Sender(make.make_token(make.make_user("eve"), "upload"))
    digest, path = next(iter(source.files.items()))
    assert other.put(key, digest, path.read_bytes()).status_code == 404
    assert other.commit(key).status_code == 404


def test_a_private_bench_and_an_absent_one_of_its_owner_look_the_same(
    sender: Sender, source: Source, ingested: Callable[..., Run]
) -> None:
    ingested(bench="acme/secret", seed=9)
    Bench.objects.update(visibility="private")
    private, absent = (sender.announce(source, bench=f"acme/{name}") for name in ("secret", "nothing"))
    assert private.status_code == absent.status_code == 404
    assert private.json()["detail"].replace("secret", "nothing") == absent.json()["detail"]


def test_a_member_sends_to_a_private_bench(source: Source, ingested: Callable[..., Run]) -> None:
    ingested(bench="acme/demo", seed=9)
    Bench.objects.update(visibility="private")
    member = Sender(make.make_token(make.make_user("bob", groups=("acme",)), "upload"))
    assert member.send(source).status_code == 200


def test_naming_a_digest_gives_no_possession_of_it(
    sender: Sender, tmp_path: Path, ingested: Callable[..., Run]
) -> None:
    """Bytes of another bench must be sent like all others, and a run cannot speak of what it did not bring."""
    other = ingested(bench="other/private", seed=9)
    stolen = other.trials.exclude(changes="").first().changes
    run_dir = make.make_run(tmp_path / "thief", bench="thief/demo", seed=3, fates=False, cells=1, scenarios=1, trials=1)
    with open_source(run_dir) as source:
        announced = sender.announce(source, digests=[*source.files, stolen]).json()
        assert stolen in announced["missing"]
    text = (run_dir / "events.jsonl").read_text()
    with open_source(run_dir) as source:
        mine = source.result.trials[0].final.requests[0].transcript
        events = text.replace(mine, stolen).encode()
        digests = [*(d for d in source.files if d != source.events), sha256(events)]
        answer = sender.announce(source, events=sha256(events), digests=digests).json()
        for digest in answer["missing"]:
            data = events if digest == sha256(events) else source.files[digest].read_bytes()
            assert sender.put(answer["upload"], digest, data).status_code == 204
        refused = sender.commit(answer["upload"])
    assert refused.status_code == 422
    assert "did not announce" in refused.json()["detail"]
    assert not BlobUse.objects.filter(blob__digest=stolen, bench__owner="thief").exists()


def test_a_run_that_has_not_ended_is_refused(sender: Sender, tmp_path: Path) -> None:
    with open_source(make.make_run(tmp_path / "live", state="running")) as source:
        answer = sender.send(source)
    assert answer.status_code == 422
    assert "not ended" in answer.json()["detail"]
    assert Upload.objects.get().state == "failed"


def test_a_redacted_blob_is_refused(sender: Sender, source: Source) -> None:
    digest = sender.announce(source).json()["missing"][0]
    Blob.objects.create(digest=digest, state="redacted")
    answer = sender.announce(source)
    assert answer.status_code == 422
    assert "redacted" in answer.json()["detail"]


def test_the_command_line_pushes_to_a_live_site(live_server: Any, tmp_path: Path) -> None:
    run_dir = make.make_run(tmp_path / "push")
    key = make.make_token(make.make_user(), "upload")
    first = push(run_dir, live_server.url, key)
    assert (first.verdict, first.sent > 50) == ("submitted", True)
    assert first.url == f"{live_server.url}/runs/{run_dir.name}/"
    assert push(run_dir, live_server.url, key).sent == 0
    assert list(differences(Run.objects.select_related("bench", "version").get())) == []


def test_a_blob_is_streamed_past_the_limit_of_what_django_buffers(
    sender: Sender, source: Source, settings: Any
) -> None:
    data = b"x" * 5000
    upload = sender.announce(source, digests=[*source.files, sha256(data)]).json()["upload"]
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    assert sender.put(upload, sha256(data), data).status_code == 204
    assert store().read(sha256(data)) == data
