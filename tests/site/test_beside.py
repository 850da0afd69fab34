"""What is asked of a run while another process takes it in, rebuilds or forgets it: all of it, or one sentence."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import IntegrityError, connection

from benchsite.flows.carry import Carrier
from benchsite.flows.folding import Busy, Pass
from benchsite.flows.forget import forget
from benchsite.flows.ingest import ingest
from benchsite.flows.rebuild import rebuild
from benchsite.flows.recheck import differences, rebuild_rollups
from benchsite.runs.models import Run
from runner.errors import JournalError, RunnerError
from runner.journal import Journal
from tests import make

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("other", ["rebuild", "forget"])
def test_an_ingest_stops_where_its_run_is_rebuilt_or_forgotten_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    run_dir, fetch, struck = make.make_run(tmp_path), Carrier.fetch, list[str]()

    def beside(carrier: Carrier, kinds: dict[str, str]) -> list[str]:
        if carrier.run.cells.exists() and not struck and len(kinds) > 10:
            struck.append(other)
            rebuild(struck.append) if other == "rebuild" else forget(carrier.run)
        return fetch(carrier, kinds)

    monkeypatch.setattr(Carrier, "fetch", beside)
    with pytest.raises(Busy, match="rebuilt or forgotten while it was ingested"):
        ingest(run_dir)
    assert struck
    assert list(differences(ingest(run_dir))) == []


@pytest.mark.django_db(transaction=True)
def test_a_rebuild_waits_for_an_ingest_that_is_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if connection.vendor == "sqlite":  # which has one writer at a time
        return
    run_dir, lock, failed = make.make_run(tmp_path, state="running"), Pass._lock, list[Exception]()
    ingest(run_dir)

    def build() -> None:
        try:
            rebuild(lambda line: None)
        except Exception as error:
            failed.append(error)
        finally:
            connection.close()

    other = threading.Thread(target=build)

    def slow(self: Pass) -> None:
        lock(self)
        if threading.current_thread() is not other and not other.ident:
            other.start()
            time.sleep(1)

    monkeypatch.setattr(Pass, "_lock", slow)
    with Journal.open(run_dir) as journal:
        journal.append("run.finished", state="interrupted")
    run = ingest(run_dir)
    other.join()
    assert (failed, list(differences(run))) == ([], [])


def test_a_run_that_was_rebuilt_since_it_was_named_is_recounted_and_checked_as_it_stands(
    ingested: Callable[..., Run],
) -> None:
    run = ingested()
    rebuild(lambda line: None)
    rebuild_rollups(run)
    assert list(differences(run)) == []
    forget(run)
    assert "forgotten" in next(differences(run))
    with pytest.raises(RunnerError, match="was forgotten meanwhile"):
        rebuild_rollups(run)


def test_rows_that_went_while_they_were_found_are_told_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise IntegrityError("FOREIGN KEY constraint failed")

    run_dir = make.make_run(tmp_path)
    monkeypatch.setattr(Pass, "go", gone)
    with pytest.raises(JournalError, match="rebuilt or forgot runs of this bench meanwhile; try again"):
        ingest(run_dir)
    monkeypatch.undo()
    assert list(differences(ingest(run_dir))) == []
