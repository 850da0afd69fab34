"""Runs sent as one zip from a form, and runs that are deleted again with what only they used."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from benchsite.artifacts.models import Blob, BlobUse
from benchsite.artifacts.store import store
from benchsite.benches.models import Bench
from benchsite.curation.models import RunLabel
from benchsite.flows.carry import Carrier
from benchsite.flows.forget import collect, forget
from benchsite.flows.incoming import take_bundle
from benchsite.flows.ingest import ingest
from benchsite.flows.recheck import differences
from benchsite.flows.upload import NotThere, TooLarge, Unfit, announce, commit
from benchsite.runs.models import Run
from runner.exchange.bundle import write_bundle
from runner.journal import EVENTS
from runner.leaks import VERSION
from tests import make

pytestmark = pytest.mark.django_db


def bundle(tmp_path: Path, **options: Any) -> SimpleUploadedFile:
    return sent(make.make_run(tmp_path / "bundled", **options))


def sent(run_dir: Path) -> SimpleUploadedFile:
    target = write_bundle(run_dir, run_dir / "run.zip")
    return SimpleUploadedFile("run.zip", target.read_bytes(), "application/zip")


def test_a_bundle_becomes_a_submitted_run_and_is_idempotent(tmp_path: Path) -> None:
    user, file = make.make_user(), bundle(tmp_path)
    run = take_bundle(file, user)
    assert (run.verdict, run.by) == ("submitted", user)
    assert list(differences(run)) == []
    file.seek(0)
    assert take_bundle(file, user).pk == run.pk


def test_a_bundle_for_somebody_elses_bench_keeps_nothing(tmp_path: Path, ingested: Callable[..., Run]) -> None:
    ingested("own", bench="acme/demo", seed=9)
    Bench.objects.update(visibility="private")
    before = set(store().digests())
    with pytest.raises(NotThere):
        take_bundle(bundle(tmp_path, seed=4), make.make_user())
    assert set(store().digests()) == before


@pytest.mark.parametrize("data", [b"", b"no zip", b"PK\x03\x04" + b"\0" * 100])
def test_what_is_no_bundle_is_refused_in_one_sentence(data: bytes) -> None:
    with pytest.raises(Unfit) as refusal:
        take_bundle(SimpleUploadedFile("run.zip", data), make.make_user())
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("type", "field", "value"),
    [
        ("trial.finished", "trial", 10**9),
        ("trial.finished", "attempt", -1),
        ("changes", "counts", "many"),
    ],
)
def test_a_journal_that_turns_out_odd_half_way_leaves_no_run_no_bench_and_no_owner(
    tmp_path: Path, type: str, field: str, value: Any
) -> None:
    run_dir = make.make_run(tmp_path / "made", bench="newcomer/demo", cells=1, scenarios=1, trials=1)
    _spoil(run_dir / EVENTS, type, **{field: value})
    user, owners = make.make_user(), set(Group.objects.values_list("name", flat=True))
    with pytest.raises(Unfit) as refusal:
        take_bundle(sent(run_dir), user)
    assert "\n" not in str(refusal.value)
    assert not Run.objects.exists()
    assert not Bench.objects.exists()
    assert not RunLabel.objects.exists()
    assert set(Group.objects.values_list("name", flat=True)) == owners


def test_numbers_no_sum_can_hold_are_unknown_and_the_run_is_shown(tmp_path: Path, client: Client) -> None:
    run_dir = make.make_run(tmp_path / "made", cells=1, scenarios=1, trials=2)
    _spoil(run_dir / EVENTS, "trial.finished", seconds=1e308, usage={"cost": 1e308, "tokens_in": 10**30})
    _spoil(run_dir / EVENTS, "request", number="one", seconds="soon")
    curator = make.make_curator()
    run = take_bundle(sent(run_dir), curator)
    assert isinstance(run, Run)
    assert set(run.trials.values_list("seconds", "cost", "tokens")) == {(None, None, None)}
    assert list(differences(run)) == []
    client.force_login(curator)
    for page in ("", "t/0/", "t/0/transcript/"):
        assert client.get(f"/runs/{run.ulid}/{page}").status_code == 200


def _spoil(events: Path, type: str, **fields: Any) -> None:
    """Write other values into the events of a type."""
    rows = [json.loads(line) for line in events.read_bytes().splitlines()]
    rows = [{**row, **fields} if row["type"] == type else row for row in rows]
    events.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_bundle_over_the_cap_is_refused(tmp_path: Path, settings: Any) -> None:
    settings.UPLOAD_TOTAL = 500
    with pytest.raises(TooLarge):
        take_bundle(bundle(tmp_path), make.make_user())


def test_forgetting_a_run_frees_its_bytes_but_not_shared_ones(tmp_path: Path, ingested: Callable[..., Run]) -> None:
    one, two = ingested("a", seed=1), ingested("b", seed=2)
    shared = set(BlobUse.objects.filter(run=one).values_list("blob__digest", flat=True))
    shared &= set(BlobUse.objects.filter(run=two).values_list("blob__digest", flat=True))
    manifest = one.manifest
    forget(one)
    assert collect()[0] == 0, "young blobs are left: an upload may be on its way"
    many, size = collect(grace=timedelta(seconds=-5))
    assert many > 0
    assert size > 0
    assert not store().has(manifest)
    assert all(store().has(digest) for digest in shared)
    assert list(differences(two)) == []


def test_a_sweep_beside_an_ingest_takes_nothing_the_run_comes_to_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_dir = make.make_run(tmp_path / "a")
    forget(ingest(run_dir))
    Blob.objects.update(created_at=timezone.now() - timedelta(days=3))
    record = Carrier.record

    def swept(carrier: Carrier, digests: list[str]) -> None:
        collect()
        record(carrier, digests)

    monkeypatch.setattr(Carrier, "record", swept)
    run = ingest(run_dir)
    used = Blob.objects.filter(uses__run=run)
    assert set(used.values_list("state", flat=True)) == {"present"}
    assert not used.exclude(scanned=VERSION).exists()
    assert all(store().has(digest) for digest in used.values_list("digest", flat=True))


def test_a_sweep_takes_nothing_an_upload_on_its_way_speaks_of(tmp_path: Path) -> None:
    user, file = make.make_user(), bundle(tmp_path)
    run = take_bundle(file, user)
    assert isinstance(run, Run)
    forget(run)
    Blob.objects.update(created_at=timezone.now() - timedelta(days=3))
    digests = sorted(Blob.objects.values_list("digest", flat=True))
    upload, missing = announce(user, run.ulid, "acme/demo", run.manifest, run.events, digests)
    assert not missing
    assert collect() == (0, 0)
    assert commit(upload).ulid == run.ulid
