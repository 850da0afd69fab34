"""The one road from journals to rows: idempotent, resumable, equal to replay, safe against what journals may hold."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import models

from benchsite.artifacts.models import Artifact, Blob, BlobUse
from benchsite.artifacts.store import open_blob, store
from benchsite.benches.models import Bench, Case, Measure, Scenario, ScenarioVersion, Subject, Version
from benchsite.curation.models import Decision
from benchsite.flows.curate import withdraw_trial
from benchsite.flows.ingest import Conflict, ingest
from benchsite.flows.rebuild import rebuild
from benchsite.flows.recheck import differences
from benchsite.runs.models import Attempt, Cell, Observation, Run, Slot, Standing, Tally, Trial
from runner.blobs import BlobStore
from runner.exchange.references import references
from runner.faults import ENDED
from runner.journal import Journal, read_events
from runner.manifest import Manifest
from runner.replay import read
from tests import make

pytestmark = pytest.mark.django_db


def lines(run_dir: Path) -> list[bytes]:
    return (run_dir / "events.jsonl").read_bytes().splitlines(keepends=True)


def table(model: type[models.Model], *leave: str) -> list[tuple[Any, ...]]:
    """Give a model's rows without keys of our own making, for comparing two ways to get there."""
    names = [
        f.attname for f in model._meta.concrete_fields if f.name != "id" and not f.is_relation and f.name not in leave
    ]
    return sorted(model._default_manager.values_list(*names), key=repr)


def projection() -> dict[str, list[tuple[Any, ...]]]:
    whole = (
        Bench,
        Measure,
        Scenario,
        Case,
        Subject,
        Cell,
        Trial,
        Attempt,
        Observation,
        Artifact,
        Slot,
        Tally,
        Standing,
    )
    return {
        **{model.__name__: table(model, "created_at", "revision") for model in whole},
        "Run": table(Run, "created_at", "revision", "journal_bytes"),
        "Version": table(Version, "created_at"),
        "ScenarioVersion": table(ScenarioVersion),
        "uses": sorted(BlobUse.objects.values_list("blob__digest", "run__ulid")),
    }


def test_every_planned_trial_becomes_what_replay_says(tmp_path: Path) -> None:
    run_dir = make.make_run(tmp_path, trials=4)
    run, result = ingest(run_dir), read(run_dir)
    rows = {trial.index: trial for trial in run.trials.all()}
    assert len(rows) == len(result.trials)
    for trial in result.trials:
        row, final = rows[trial.planned.index], trial.final
        assert (row.state, row.reason, row.attempts) == (trial.state, trial.reason, len(trial.attempts))
        assert row.fault == (final.fault or "" if final and trial.state in ("run_error", "eval_error") else "")
        assert row.outcome == (final.outcome or "" if final else "")
        assert row.cost == trial.usage.cost
        assert row.headline == (final.headline if final else None)
        assert row.seconds == (final.seconds if final else None)
    assert run.counts == {"planned": len(rows), **result.counts}
    assert {state for state in run.counts if state != "planned"} >= ENDED - {"queued", "running"}


def test_attempts_observations_and_artifacts_are_kept(tmp_path: Path) -> None:
    run_dir = make.make_run(tmp_path)
    run, result = ingest(run_dir), read(run_dir)
    for trial in result.trials:
        row = run.trials.get(index=trial.planned.index)
        assert [a.number for a in row.tries.order_by("number")] == [a.number for a in trial.attempts]
        seen = {o.measure.key: o for o in row.observations.select_related("measure")}
        observed = trial.final.observations if trial.final else {}
        assert set(seen) == set(observed)
        for key, observation in observed.items():
            assert (seen[key].valid, seen[key].count) == (observation.valid, observation.count)
        assert row.artifacts.count() == sum(len(a.artifacts) for a in trial.attempts)


def test_the_record_of_an_attempt_names_its_transcript_and_its_changes(ingested: Callable[..., Run]) -> None:
    trial = ingested().trials.filter(outcome="unsolved").first()
    record = trial.tries.get().record
    request = record["requests"][0]
    assert open_blob(request["transcript"]).readline().startswith(b'{"n": 1')
    assert request["changes"] == trial.changes == record["changes"]["agent"]["blob"]
    assert record["changes"]["evaluation"]["counts"]["added"] == 1
    assert (trial.deleted, trial.added) == (1, 4)
    assert json.loads(open_blob(trial.kept).read())["format"] == "benchsite/tree/1"


def test_ingesting_twice_changes_nothing(tmp_path: Path) -> None:
    run_dir = make.make_run(tmp_path)
    first = ingest(run_dir, verdict="accepted")
    before = projection()
    again = ingest(run_dir, verdict="accepted")
    assert projection() == before
    assert again.revision == first.revision
    assert Decision.objects.count() == 1


@pytest.mark.parametrize("cut", [1, 7, 60, 150])
def test_a_run_that_goes_on_is_brought_up_to_date(tmp_path: Path, cut: int) -> None:
    """Cut the journal anywhere, even within a line: the later ingest gives what one of the whole gives."""
    run_dir = make.make_run(tmp_path / "whole", trials=4)
    part = tmp_path / "part" / ".bench" / "runs" / run_dir.name
    shutil.copytree(run_dir.parents[1], part.parents[1])
    whole = lines(run_dir)
    (part / "events.jsonl").write_bytes(b"".join(whole[:cut]) + whole[cut][:9])
    partial = ingest(part)
    assert partial.state == "running"
    assert partial.trials.count() == partial.counts["planned"]
    revision = partial.revision
    (part / "events.jsonl").write_bytes(b"".join(whole))
    finished = ingest(part)
    assert finished.revision > revision
    assert list(differences(finished)) == []
    seen = projection()
    finished.delete()
    ingest(run_dir)
    for name, rows in projection().items():
        if name not in ("Run", "Bench"):
            assert seen[name] == rows, name


def test_a_running_run_shows_what_runs_and_what_waits(tmp_path: Path) -> None:
    run_dir = make.make_run(tmp_path, state="running")
    run = ingest(run_dir)
    assert (run.state, run.counts["running"]) == ("running", 2)
    with Journal.open(run_dir) as journal:
        journal.append("run.finished", state="cancelled")
    run = ingest(run_dir)
    lost = run.trials.filter(fault="lost", reason="The runner ended before this trial did.")
    assert (run.state, lost.count(), run.counts.get("running")) == ("cancelled", 2, None)
    assert list(differences(run)) == []


def test_a_manifest_alone_gives_every_planned_trial_as_queued(tmp_path: Path) -> None:
    run_dir = make.make_run(tmp_path)
    (run_dir / "events.jsonl").unlink()
    run = ingest(run_dir)
    assert run.counts == {"planned": 27, "queued": 27}
    assert run.slots.count() == 9


def test_batches_of_any_size_give_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_dir = make.make_run(tmp_path)
    ingest(run_dir)
    before = projection()
    Run.objects.all().delete()
    monkeypatch.setattr("benchsite.flows.ingest.BATCH", 3)
    run = ingest(run_dir)
    after = projection()
    assert {k: v for k, v in after.items() if k not in ("Run",)} == {
        k: v for k, v in before.items() if k not in ("Run",)
    }
    assert run.revision > 3


def test_an_ingest_that_died_half_way_is_finished_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_dir = make.make_run(tmp_path)
    monkeypatch.setattr("benchsite.flows.ingest.BATCH", 4)

    def die(done: int, total: int) -> None:
        if done > total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest(run_dir, on_progress=die)
    half = Trial.objects.count()
    assert 0 < half < 27
    run = ingest(run_dir)
    assert run.trials.count() == 27
    assert list(differences(run)) == []
    assert run.counts == {"planned": 27, **read(run_dir).counts}


def test_another_manifest_under_the_same_id_is_refused(tmp_path: Path) -> None:
    first = make.make_run(tmp_path / "one", seed=1)
    other = make.make_run(tmp_path / "two", seed=2, run=first.name)
    ingest(first)
    with pytest.raises(Conflict, match="already"):
        ingest(other)


def test_every_blob_a_run_needs_is_in_the_store_and_known_as_used(tmp_path: Path) -> None:
    run_dir = make.make_run(tmp_path)
    run = ingest(run_dir)
    result = read(run_dir)
    attempts = [attempt for trial in result.trials for attempt in trial.attempts]
    needed = set(references(result.manifest, attempts, BlobStore(tmp_path / ".bench" / "blobs")))
    used = set(BlobUse.objects.filter(run=run).values_list("blob__digest", flat=True))
    assert used == needed | {run.manifest, run.events}
    assert all(store().has(digest) for digest in used)
    assert set(Blob.objects.values_list("state", flat=True)) == {"present"}


def test_a_blob_nobody_has_is_noted_as_missing_and_found_again(tmp_path: Path) -> None:
    run_dir = make.make_run(tmp_path)
    blobs = BlobStore(tmp_path / ".bench" / "blobs")
    digest = next(a.transcript for t in read(run_dir).trials for x in t.attempts for a in x.requests if a.transcript)
    data = blobs.read(digest)
    blobs.path(digest).unlink()
    ingest(run_dir)
    assert Blob.objects.get(digest=digest).state == "missing"
    other = make.make_run(tmp_path / "again", seed=7)
    BlobStore(tmp_path / "again" / ".bench" / "blobs").put(data)
    with Journal.open(other) as journal:
        fields = {"name": "again", "kind": "log", "media": "text/plain", "blob": digest, "size": len(data)}
        journal.extend(
            [
                {"type": "trial.started", "trial": 0, "attempt": 9, "seed": 1, "worker": 0},
                {"type": "artifact", "trial": 0, "attempt": 9, **fields},
            ]
        )
        journal.append("run.finished", state="finished")
    ingest(other)
    assert Blob.objects.get(digest=digest).state == "present"


def test_rebuild_gives_equal_rows_and_keeps_what_is_truth(tmp_path: Path) -> None:
    curator = make.make_curator()
    runs = [
        ingest(make.make_run(tmp_path / "a", seed=1, cases=2), by=curator, verdict="accepted"),
        ingest(make.make_run(tmp_path / "b", seed=2, definition="two"), by=curator, verdict="accepted"),
        ingest(make.make_run(tmp_path / "c", seed=3, bench="acme/other")),
    ]
    index = runs[0].trials.filter(state="scored").first().index
    withdraw_trial(runs[0], index, by=curator, reason="The world was broken.")
    before, order = projection(), list(Run.objects.order_by("id").values_list("ulid", "by", "created_at", "label"))
    said: list[str] = []
    assert rebuild(said.append) == 3
    assert projection() == before
    assert list(Run.objects.order_by("id").values_list("ulid", "by", "created_at", "label")) == order
    assert Trial.objects.get(run__ulid=runs[0].ulid, index=index).withdrawn


def test_labels_count_within_a_bench(ingested: Callable[..., Run]) -> None:
    labels = [
        ingested("a", seed=1).label,
        ingested("b", seed=2).label,
        ingested("c", seed=3, bench="acme/other").label,
    ]
    assert labels == [1, 2, 1]


def test_recount_equals_replay_and_says_which_figure_is_wrong(ingested: Callable[..., Run]) -> None:
    run = ingested(cases=2, scenarios=6)
    assert list(differences(run)) == []
    slot = run.slots.first()
    Slot.objects.filter(pk=slot.pk).update(planned=slot.planned + 1)
    assert [line for line in differences(run) if "slot" in line]
    Tally.objects.filter(run=run).first().delete()
    assert [line for line in differences(run) if "tally" in line and "None" in line]


def test_subjects_are_shared_between_runs_of_a_bench(ingested: Callable[..., Run]) -> None:
    one, two = ingested("a", seed=1), ingested("b", seed=2)
    assert set(one.cells.values_list("subject", flat=True)) == set(two.cells.values_list("subject", flat=True))
    assert Counter(Subject.objects.values_list("bench__name", flat=True)) == {"demo": 3}


def test_a_made_run_holds_every_state_and_a_fault_of_every_door(tmp_path: Path) -> None:
    run_dir = make.make_run(tmp_path)
    result = read(run_dir)
    assert set(result.counts) == ENDED
    assert {a.fault for t in result.trials for a in t.attempts} >= {"provider", "boot", "timeout", "suite", "lost"}
    assert Manifest.read(run_dir / "manifest.json").run == run_dir.name
    assert all(event["seq"] for event in read_events(run_dir))
