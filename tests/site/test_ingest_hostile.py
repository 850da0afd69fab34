"""What a journal or manifest may hold that is no good: cleaned and flagged, or refused in one sentence."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.db import OperationalError, connection
from django.test import Client

from benchsite.artifacts.store import store
from benchsite.benches.models import Bench
from benchsite.flows.ingest import FULL, NoRoom, ingest
from benchsite.flows.recheck import differences
from benchsite.readings import conditions, loaded
from benchsite.runs.models import Run, Trial
from runner.digests import sha256_file
from runner.errors import JournalError
from runner.faults import FLAGS
from runner.journal import MANIFEST, Journal
from tests import make

pytestmark = pytest.mark.django_db

HOSTILE = "nul \0, lone \ud800, emoji 🙂, <b>markup</b>, \x1b[31mred"


def hostile(run_dir: Path) -> None:
    with Journal.open(run_dir) as journal:
        one = {"trial": 0, "attempt": 1}
        journal.extend(
            [
                {"type": "trial.started", **one, "seed": 1, "worker": 0},
                {"type": "observe", **one, "measure": "note", "value": HOSTILE, "valid": True, "reason": ""},
                {"type": "observe", **one, "measure": "score", "value": "n/a", "valid": True, "reason": ""},
                {"type": "observe", **one, "measure": "collateral", "value": 10**400, "valid": True, "reason": ""},
                {"type": "observe", **one, "measure": "approach", "value": "none", "valid": True, "reason": HOSTILE},
                {"type": "observe", **one, "measure": "stranger", "value": HOSTILE, "valid": False, "reason": "?"},
                {"type": "issue", **one, "severity": "error", "phase": "x", "code": HOSTILE, "sentence": HOSTILE},
                {
                    "type": "trial.finished", **one, "state": "scored", "outcome": "unsolved", "fault": None,
                    "phase": None, "reason": HOSTILE, "seconds": 1.0, "flags": [HOSTILE],
                    "usage": {"tokens_in": 10**30}, "headline": 0.0,
                },
            ]
        )  # fmt: skip
        journal.append("run.finished", state="finished")


def test_a_hostile_manifest_is_shown_cleaned(tmp_path: Path, client: Client) -> None:
    run_dir = make.make_run(tmp_path)
    data = json.loads((run_dir / MANIFEST).read_bytes())
    data |= {"host": {"system": HOSTILE, "memory": 10**400}, "harness": [HOSTILE], "network": [HOSTILE]}
    data["limits"] = {"timeouts": {"trial": 10**400, HOSTILE: 5}}
    (run_dir / MANIFEST).write_text(json.dumps(data))
    run = ingest(run_dir, verdict="accepted")
    page = client.get(f"/runs/{run.ulid}/").content.decode()
    assert "&lt;b&gt;markup" in page
    assert "<b>markup" not in page


def test_a_name_that_turns_the_reading_direction_turns_no_sentence_of_ours(tmp_path: Path, client: Client) -> None:
    run_dir = make.make_run(tmp_path)
    data = json.loads((run_dir / MANIFEST).read_bytes())
    data["measures"][0]["label"] = "solved\u202e"
    for cell in data["cells"]:
        cell["axes"] = {name: f"{value}\u202e" for name, value in cell["axes"].items()}
    (run_dir / MANIFEST).write_text(json.dumps(data))
    run = ingest(run_dir, verdict="accepted")
    page = BeautifulSoup(client.get(f"/runs/{run.ulid}/").content, "html.parser")
    said = "".join(one.get_text() for one in page.select("p.verdict, .banner"))
    assert "solved[RLO]" in said
    assert "\u202e" not in said


def test_hostile_text_is_cleaned_flagged_and_never_an_error(tmp_path: Path, client: Client) -> None:
    run_dir = make.make_run(tmp_path, state="running")
    (run_dir / "events.jsonl").unlink()
    hostile(run_dir)
    run = ingest(run_dir, verdict="accepted")
    trial = run.trials.get(index=0)
    clean = "nul \ufffd, lone \ufffd, emoji 🙂, <b>markup</b>, \x1b[31mred"
    assert trial.reason == clean
    assert "cleaned" in trial.flags
    assert FLAGS["cleaned"] in client.get(f"/runs/{run.ulid}/t/0/").content.decode()
    for flag in trial.flags:
        assert f"?flag={flag}" in client.get(f"/runs/{run.ulid}/trials?flag={flag}").content.decode()
    assert trial.tokens is None
    seen = {o.measure.key: o for o in trial.observations.select_related("measure")}
    assert seen["note"].text == clean
    assert [key for key, o in sorted(seen.items()) if not o.valid] == ["approach", "collateral", "score"]
    assert trial.tries.get().record["unknown"][0]["measure"] == "stranger"
    assert list(differences(run)) == []


@pytest.mark.parametrize(
    ("event", "word"),
    [
        ({"type": "trial.started", "trial": 99999, "attempt": 1}, "not planned"),
        ({"type": "trial.started", "trial": "0", "attempt": 1}, "not planned"),
        ({"type": "trial.started", "trial": 0, "attempt": 10**9}, "number of an attempt"),
        ({"type": "trial.finished", "trial": 0, "attempt": 1, "state": "won"}, "won"),
        ({"type": "trial.finished", "trial": 0, "attempt": 1}, "state"),
        ({"type": "observe", "trial": 0, "attempt": 1, "measure": ["x"]}, "cannot be read"),
        ({"type": "observe", "trial": 0, "attempt": 1, "measure": float("nan"), "value": 1}, "no name of a measure"),
        ({"type": "run.finished", "state": "won"}, "won"),
        ({"type": "request", "trial": 0, "attempt": 1, "number": 1, "transcript": {"a": 1}}, "digest"),
        ({"type": "cell.stopped", "cell": 99, "sentence": "x", "code": "boot"}, "cell"),
        ({"type": "trial.not_run", "trial": 0, "state": "won"}, "won"),
        ({"type": "artifact", "trial": 0, "attempt": 1, "name": "x", "kind": "x", "blob": "../x", "size": 1}, "digest"),
    ],
)
def test_a_misshapen_event_is_refused_in_one_sentence_and_leaves_no_half_run(
    tmp_path: Path, event: dict[str, Any], word: str
) -> None:
    run_dir = make.make_run(tmp_path)
    (run_dir / "events.jsonl").write_bytes(
        json.dumps({"seq": 1, "at": "2026-01-01T00:00:00Z", **event}).encode() + b"\n"
    )
    with pytest.raises(JournalError) as refusal:
        ingest(run_dir)
    assert word in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert Trial.objects.count() == 0


@pytest.mark.parametrize(
    ("field", "value", "word"),
    [
        ("run", "../../etc", "ULID"),
        ("bench", "Acme/Demo", "owner/name"),
        ("bench", "acme/de/mo", "owner/name"),
        ("bench", "curators/demo", "refused"),
    ],
)
def test_a_manifest_whose_names_cannot_be_addresses_is_refused(
    tmp_path: Path, field: str, value: str, word: str
) -> None:
    run_dir = make.make_run(tmp_path)
    data = json.loads((run_dir / "manifest.json").read_text())
    (run_dir / "manifest.json").write_text(json.dumps({**data, field: value}))
    with pytest.raises(JournalError, match=word):
        ingest(run_dir)
    assert not Run.objects.exists()


def test_twice_named_cells_and_too_long_keys_are_refused(tmp_path: Path) -> None:
    run_dir = make.make_run(tmp_path)
    good = json.loads((run_dir / "manifest.json").read_text())
    twice = {**good, "cells": [*good["cells"][:-1], good["cells"][0]]}
    scenario = {**good["scenarios"][0], "cases": [{"key": "k" * 301}]}
    wide = {
        **good,
        "cells": [{**good["cells"][0], "axes": dict.fromkeys(map(str, range(101)), "x")}, *good["cells"][1:]],
    }
    half = {**good, "rows": [[0, 0, 0, 1.5, 0], *good["rows"][1:]]}
    high = {**good, "rows": [[0, 0, 0, 2**31, 0], *good["rows"][1:]]}
    for bad, word in (
        (twice, "twice"),
        (high, "a number above 1,000,000"),
        ({**good, "protocol": [None]}, "cannot be read"),
        ({**good, "cells": [{**good["cells"][0], "pin": 0}, *good["cells"][1:]]}, r"cells\[0\]"),
        ({**good, "cells": [{**good["cells"][0], "axes": {"agent": 1}}, *good["cells"][1:]]}, r"cells\[0\]"),
        ({**good, "measures": [*good["measures"][:-1], {"key": "x", "type": ["text"]}]}, r"measures\[4\]"),
        ({**good, "network": float("nan")}, "cannot be read"),
        (wide, "more than 100 axes"),
        (half, "not five whole numbers"),
        ({**good, "scenarios": [scenario, *good["scenarios"][1:]]}, "longer than 300"),
    ):
        (run_dir / "manifest.json").write_text(json.dumps(bad))
        with pytest.raises(JournalError, match=word):
            ingest(run_dir)


def test_one_definition_with_two_schemas_is_refused(tmp_path: Path) -> None:
    ingest(make.make_run(tmp_path / "one", seed=1))
    other = make.make_run(tmp_path / "two", seed=2)
    data = json.loads((other / "manifest.json").read_text())
    data["measures"][1]["objective"] = "maximize"
    (other / "manifest.json").write_text(json.dumps(data))
    with pytest.raises(JournalError, match="another schema"):
        ingest(other)


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"holds no manifest\.json"):
        ingest(tmp_path)


def test_an_attempt_that_goes_on_after_its_end_is_refused_however_far_apart_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchsite.flows.ingest.BATCH", 5)
    run_dir = make.make_run(tmp_path)
    events = (run_dir / "events.jsonl").read_bytes().splitlines(keepends=True)
    for more in (events[1:], [line for line in events if b'"observe"' in line][:1]):
        (run_dir / "events.jsonl").write_bytes(b"".join([*events, *more]))
        with pytest.raises(JournalError, match=r"attempt 1 of trial \d+ goes on after its end"):
            ingest(run_dir)
    assert [rows.objects.count() for rows in (Trial, Run, Bench)] == [0, 0, 0]


def test_an_attempt_that_grows_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchsite.flows.placed.LARGEST_RECORD", 300)
    run_dir = make.make_run(tmp_path, state="running")
    (run_dir / "events.jsonl").unlink()
    one = {"trial": 0, "attempt": 1}
    with Journal.open(run_dir) as journal:
        journal.append("trial.started", **one, seed=1, worker=0)
        journal.extend({"type": "observe", **one, "measure": "score", "value": 1.0} for _ in range(2_000))
        assert ingest(run_dir).state == "running"
        journal.extend({"type": "observe", **one, "measure": f"m{n}", "value": 1.0} for n in range(2_000))
    with pytest.raises(JournalError, match="attempt 1 of trial 0 holds more than 300 things"):
        ingest(run_dir)


def test_what_is_nested_too_deep_is_refused_wherever_it_stands(tmp_path: Path, client: Client) -> None:
    run_dir = make.make_run(tmp_path)
    manifest, events = (run_dir / "manifest.json").read_text(), (run_dir / "events.jsonl").read_bytes()
    for deep in ("[" * 500 + "]" * 500, '{"a":' * 300 + "1" + "}" * 300):
        (run_dir / "events.jsonl").write_bytes(events.replace(b'"valid":true', f'"valid":true,"x":{deep}'.encode(), 1))
        with pytest.raises(JournalError, match=r"Line \d+ of events.jsonl .* nested more than 200 deep"):
            ingest(run_dir)
        (run_dir / "events.jsonl").write_bytes(events)
        (run_dir / "manifest.json").write_text(manifest.replace('"host": {', f'"host": {{"x":{deep},', 1))
        with pytest.raises(JournalError, match=r"The manifest .* nested more than 200 deep"):
            ingest(run_dir)
        (run_dir / "manifest.json").write_text(manifest)
    allowed = "[" * 197 + "]" * 197
    (run_dir / "manifest.json").write_text(manifest.replace('"host": {', f'"host": {{"x":{allowed},', 1))
    run = ingest(run_dir, verdict="accepted")
    assert client.get(f"/runs/{run.ulid}/").status_code == 200


@pytest.mark.parametrize("depth", [600, 750])
def test_a_run_stored_before_nesting_was_limited_still_has_its_pages(
    tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch, depth: int
) -> None:
    run_dir = make.make_run(tmp_path)
    deep, path = '{"a":' * depth + "1" + "}" * depth, run_dir / "manifest.json"
    path.write_text(path.read_text().replace('"timeouts": {', f'"timeouts": {{"x": {deep},', 1))
    with monkeypatch.context() as older:
        older.setattr("benchsite.flows.clean._too_deep", lambda value: False)
        run = ingest(run_dir, verdict="accepted")
    trial = run.trials.filter(state="scored").values_list("index", flat=True)[0]
    pages = ("", "?format=json", "report.html", f"t/{trial}/", f"t/{trial}/?format=json")
    for address in (*pages, "frame.csv"):
        assert client.get(f"/runs/{run.ulid}/{address}").status_code == 200, address
    for kept in (loaded._manifest, conditions._plans):
        kept.cache_clear()
    monkeypatch.setattr(loaded, "read_blob", lambda *asked: b"[" * 100_000)
    for address in pages[::2]:
        assert client.get(f"/runs/{run.ulid}/{address}").status_code == 200, address
    refused = client.get(f"/runs/{run.ulid}/frame.csv")
    assert refused.status_code == 410 and b"is nested too deep to be read." in refused.content


def test_a_journal_that_is_refused_is_not_kept(tmp_path: Path) -> None:
    run_dir = make.make_run(tmp_path)
    with (run_dir / "events.jsonl").open("ab") as file:
        file.write(b"no JSON\n")
    with pytest.raises(JournalError, match="not JSON"):
        ingest(run_dir)
    assert not store().has(sha256_file(run_dir / "events.jsonl"))


@pytest.mark.django_db(transaction=True)
def test_a_database_without_room_is_told_in_one_sentence_and_what_is_missing_is_added_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor == "postgresql":  # its disk cannot be filled from here: only what it then says is known
        assert FULL.search('could not extend file "base/5/1": No space left on device')
        return
    monkeypatch.setattr("benchsite.flows.ingest.BATCH", 5)
    run_dir = make.make_run(tmp_path, cells=4, scenarios=5, trials=5)
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE filler (bytes)")
        cursor.execute(f"PRAGMA max_page_count = {cursor.execute('PRAGMA page_count').fetchone()[0]}")
        try:
            with suppress(OperationalError):  # what an earlier test freed is filled first
                while True:
                    cursor.execute("INSERT INTO filler VALUES (zeroblob(4000))")
            with pytest.raises(NoRoom, match="make room and send it again"):
                ingest(run_dir)
        finally:
            cursor.execute(f"PRAGMA max_page_count = {1 << 30}")
            cursor.execute("DROP TABLE filler")
    assert list(differences(ingest(run_dir))) == []


def test_an_issue_of_lists_and_objects_breaks_no_page(tmp_path: Path, client: Client) -> None:
    run_dir = make.make_run(tmp_path, state="running")
    rows: list[dict[str, Any]] = [
        {"type": "trial.started", "seed": 1, "worker": 0},
        {"type": "issue", "severity": ["fatal"], "phase": {}, "code": ["boot"], "sentence": {"a": 1}, "detail": [1]},
        {"type": "trial.finished", "state": "scored", "outcome": "solved", "seconds": 1, "flags": [], "reason": ""},
    ]
    run = _taken(run_dir, rows)
    for address in (f"/runs/{run.ulid}/t/0/", f"/runs/{run.ulid}/", f"/api/v1/runs/{run.ulid}/trials/0"):
        assert client.get(address).status_code == 200, address


def _taken(run_dir: Path, rows: list[dict[str, Any]]) -> Run:
    """Take in a run of one attempt that goes so."""
    lines = [
        {"seq": seq, "at": "2026-01-01T00:00:00Z", "trial": 0, "attempt": 1, **row} for seq, row in enumerate(rows)
    ]
    (run_dir / "events.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return ingest(run_dir, verdict="accepted")


@pytest.mark.parametrize("counts", [{"added": "z", "links": "abc"}, {"links": [1], "modified": True}])
def test_counts_of_changes_that_are_none_are_unknown_and_break_no_page(
    tmp_path: Path, client: Client, counts: Any
) -> None:
    run_dir = make.make_run(tmp_path, state="running")
    rows: list[dict[str, Any]] = [
        {"type": "trial.started", "seed": 1, "worker": 0},
        {"type": "changes", "stage": "agent", "blob": "a" * 64, "counts": counts},
        {"type": "trial.finished", "state": "scored", "outcome": "solved", "seconds": 1, "flags": [], "reason": ""},
    ]
    run = _taken(run_dir, rows)
    assert run.trials.get(index=0).added is None
    for tab in ("", "changes/", "workspace/"):
        assert client.get(f"/runs/{run.ulid}/t/0/{tab}").status_code == 200, tab
