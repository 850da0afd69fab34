"""The site's commands: each calls one flow, says what it did, and refuses in one sentence."""

from __future__ import annotations

import contextlib
import io
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from benchsite.artifacts.store import store
from benchsite.flows.demo import curator, demo
from benchsite.runs.models import Run, Tally
from tests import make
from tests.site.test_workers import bench

pytestmark = pytest.mark.django_db


def run_command(*words: str) -> str:
    out = io.StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def test_ingest_takes_a_whole_folder_of_runs_and_accepts_them(tmp_path: Path) -> None:
    runs = [make.make_run(tmp_path / "bench", seed=seed) for seed in (1, 2)]
    said = run_command("ingest", str(tmp_path))
    assert all(f"run {run.name} finished, 27 trials" in said for run in runs)
    assert set(Run.objects.values_list("verdict", flat=True)) == {"accepted"}


def test_ingest_looks_for_runs_and_never_into_the_worlds_of_one(tmp_path: Path) -> None:
    """An agent may leave anything: a web app's manifest.json, a false run, a path too long to be opened."""
    run_dir = make.make_run(tmp_path / "bench")
    for place in (run_dir / "workspaces" / "0-1", run_dir.parent.parent / "sealed" / "ab" / "workspace"):
        for name in ("public/manifest.json", "runs/false/manifest.json", "runs/false/events.jsonl"):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text("{}\n")
    with contextlib.chdir(run_dir / "workspaces"):
        for _ in range(300):
            Path("deep-deep-deep-deep").mkdir()
            os.chdir("deep-deep-deep-deep")
    assert run_command("ingest", str(tmp_path)).count("finished") == 1


def test_ingest_leaves_the_verdict_to_a_curator_when_asked(tmp_path: Path) -> None:
    run_command("ingest", str(make.make_run(tmp_path)), "--submitted")
    assert Run.objects.get().verdict == "submitted"


def test_ingest_of_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is not a run directory and holds none"):
        run_command("ingest", str(tmp_path))


def test_recount_mends_a_wrong_figure_and_check_finds_it(ingested: Callable[..., Run]) -> None:
    run = ingested()
    Tally.objects.filter(run=run, n__gt=0).update(n=99)
    with pytest.raises(SystemExit) as stopped:
        run_command("recount", run.ulid, "--check")
    assert stopped.value.code == 1
    assert "1 run recounted" in run_command("recount", run.ulid)
    assert "0 figures differ" in run_command("recount", "--check")
    run.refresh_from_db()
    assert run.revision > 1


def test_a_run_whose_record_is_lost_is_named_and_does_not_keep_others_from_being_checked(
    ingested: Callable[..., Run],
) -> None:
    run = ingested()
    store().path(run.manifest).unlink()
    out = io.StringIO()
    with pytest.raises(SystemExit):
        call_command("recount", "--check", stdout=out)
    said = out.getvalue()
    assert f"run {run.ulid}: what was kept of it cannot be read: The blob {run.manifest[:8]}" in said
    assert "1 run checked, 1 figure differs." in said
    with pytest.raises(CommandError, match=f"The run {run.ulid} cannot be folded again, so its bench stays as it is"):
        run_command("rebuild")
    assert Run.objects.filter(pk=run.pk).exists()


def test_an_unknown_run_is_refused(ingested: Callable[..., Run]) -> None:
    for command in ("recount", "forget"):
        with pytest.raises(CommandError, match="There is no run 01ARZ3NDEKTSV4RRFFQ69G5FAV"):
            run_command(command, "01ARZ3NDEKTSV4RRFFQ69G5FAV")


def test_rebuild_and_forget_say_what_they_did(ingested: Callable[..., Run]) -> None:
    run = ingested()
    assert "1 run rebuilt" in run_command("rebuild")
    assert f"Run {run.ulid} is forgotten" in run_command("forget", run.ulid)
    assert not Run.objects.exists()
    assert "0 trials sent again, 0 blobs" in run_command("sweep")


def test_run_refuses_a_folder_without_a_bench(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"bench\.py"):
        run_command("run", str(tmp_path))


@contextlib.contextmanager
def nobody_watches() -> Iterator[dict[str, Any]]:
    yield {}


@pytest.mark.django_db(transaction=True)
def test_a_demo_runs_each_bench_once_and_leaves_out_what_cannot_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    bench(tmp_path / "good", "good", "bad")
    bench(tmp_path / "other", "claude-code")
    (tmp_path / "other" / "bench.py").write_text(
        (tmp_path / "other" / "bench.py").read_text().replace("acme/workers", "acme/other")
    )
    said: list[str] = []
    (run,) = demo(tmp_path, said.append, nobody_watches)
    assert f"acme/workers: run {run.ulid} finished, 4 trials: 4 scored, 2 solved, 2 unsolved." in said
    assert any(line.startswith("other is left out: ") for line in said)
    (again,) = demo(tmp_path, said.append, nobody_watches)
    assert again.pk == run.pk


def test_a_demo_to_be_served_at_a_taken_port_is_refused_before_it_runs() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"Port {port} cannot be served from .* make serve PORT={port + 1}"):
            run_command("demo", "--port", str(port))
    with pytest.raises(CommandError, match="'99999' is no port; give a number from 1 to 65535"):
        run_command("serve", "--port", "99999")
    assert not Run.objects.exists()


def test_the_demos_curator_is_made_once() -> None:
    assert len(curator()) >= 12
    assert curator() == ""
