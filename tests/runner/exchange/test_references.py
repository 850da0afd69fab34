from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from runner.blobs import BlobStore
from runner.errors import BundleError
from runner.exchange.references import references
from runner.exchange.sources import blobs_of, open_source
from runner.replay import Attempt, ChangeRecord, Kept, Request, RunResult, Usage, read
from tests.make import make_run


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return make_run(tmp_path, cells=2, scenarios=2, trials=3)


def attempts_of(result: RunResult) -> Iterator[Attempt]:
    return (attempt for trial in result.trials for attempt in trial.attempts)


def named(result: RunResult, blobs: BlobStore) -> list[str]:
    return list(references(result.manifest, attempts_of(result), blobs))


def record(blobs: BlobStore, key: str, rows: object) -> str:
    return blobs.put(json.dumps({"format": "x", key: rows}).encode())


def test_all_blobs_of_a_made_run_are_named_and_nothing_else(run_dir: Path) -> None:
    blobs = blobs_of(run_dir)
    assert set(named(read(run_dir), blobs)) == set(blobs.digests())


def test_each_digest_is_named_once(run_dir: Path) -> None:
    found = named(read(run_dir), blobs_of(run_dir))
    assert len(found) == len(set(found))


def test_both_sides_of_changes_and_files_of_trees_are_named_where_stored(run_dir: Path) -> None:
    blobs, result = blobs_of(run_dir), read(run_dir)
    old, new, kept, start, large = (blobs.put(text) for text in (b"old", b"new", b"kept", b"start", b"large"))
    stored = {"type": "file", "stored": True}
    changes = record(
        blobs,
        "changes",
        [
            {"path": "a", "before": {**stored, "sha256": old}, "after": {**stored, "sha256": new}},
            {"path": "b", "before": None, "after": {"type": "file", "sha256": large, "stored": False}},
        ],
    )
    tree = record(blobs, "entries", [{"path": "k", **stored, "sha256": kept}, {"path": "d", "type": "dir"}])
    template = record(blobs, "entries", [{"path": "s", **stored, "sha256": start}])
    request = Request(1, None, None, 0, False, 1.0, Usage(), changes=changes)
    attempt = Attempt(0, 1, requests=(request,), kept=Kept("w", tree, 1, 1))
    manifest = replace(result.manifest, template=template, readme=None, scenarios=())
    assert set(references(manifest, [attempt], blobs)) == {old, new, kept, start, changes, tree, template}


def test_a_record_that_another_trial_names_as_plain_bytes_is_read_all_the_same(run_dir: Path) -> None:
    blobs, manifest = blobs_of(run_dir), read(run_dir).manifest
    inner = blobs.put(b"inner")
    changes = record(blobs, "changes", [{"path": "a", "before": None, "after": {"sha256": inner, "stored": True}}])
    plain = Attempt(0, 1, requests=(Request(1, changes, None, 0, False, 1.0, Usage()),))
    proper = Attempt(1, 1, changes={"agent": ChangeRecord("agent", changes, {})})
    assert inner in set(references(manifest, [plain, proper], blobs))


@pytest.mark.parametrize("rows", [7, ["x"], {"a": 1}, None])
def test_a_record_that_is_no_list_of_objects_is_refused(run_dir: Path, rows: object) -> None:
    blobs, manifest = blobs_of(run_dir), read(run_dir).manifest
    attempt = Attempt(0, 1, changes={"agent": ChangeRecord("agent", record(blobs, "changes", rows), {})})
    with pytest.raises(BundleError, match="cannot be read"):
        list(references(manifest, [attempt], blobs))


def test_a_record_that_would_fill_the_memory_is_refused_before_it_is_read(run_dir: Path) -> None:
    blobs, manifest = blobs_of(run_dir), read(run_dir).manifest
    crowded = blobs.put(b'{"changes":[' + b"{}," * 2_000_000 + b"{}]}")
    attempt = Attempt(0, 1, changes={"agent": ChangeRecord("agent", crowded, {})})
    with pytest.raises(BundleError, match="holds too many values"):
        list(references(manifest, [attempt], blobs))


def test_a_digest_that_is_none_is_refused(run_dir: Path) -> None:
    blobs, manifest = blobs_of(run_dir), read(run_dir).manifest
    side = {"sha256": "../../etc/passwd", "stored": True}
    changes = record(blobs, "changes", [{"path": "a", "before": side, "after": None}])
    attempt = Attempt(0, 1, changes={"agent": ChangeRecord("agent", changes, {})})
    with pytest.raises(BundleError, match="where a sha256 digest should"):
        list(references(manifest, [attempt], blobs))


def test_a_missing_blob_is_named_before_anything_is_sent(run_dir: Path) -> None:
    blobs, result = blobs_of(run_dir), read(run_dir)
    lost = next(artifact.blob for attempt in attempts_of(result) for artifact in attempt.artifacts)
    blobs.path(lost).unlink()
    with pytest.raises(BundleError, match=f"{lost[:12]}… that the run needs is missing"), open_source(run_dir):
        pass


def test_the_partial_line_of_a_writer_at_work_is_not_sent(run_dir: Path) -> None:
    journal = run_dir / "events.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'{"seq": 999, "type": "gua')
    with open_source(run_dir) as source:
        assert source.files[source.events].read_bytes() == whole


def test_a_run_that_wrote_nothing_yet_has_no_events(run_dir: Path) -> None:
    (run_dir / "events.jsonl").write_bytes(b'{"seq": 1')
    with open_source(run_dir) as source:
        assert source.files[source.events].read_bytes() == b""
