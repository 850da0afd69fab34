"""A run's data frame from the site is the one that the command writes of its folder."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet
import pytest
from django.test import Client

from benchsite.artifacts.models import Blob
from benchsite.flows.curate import withdraw_trial
from benchsite.flows.ingest import ingest
from benchsite.readings import frame as readings
from benchsite.runs.models import Run
from runner.cli import main
from runner.frames import table
from runner.running import run as run_bench
from tests.make import make_curator

pytestmark = pytest.mark.django_db
EXAMPLES = Path(__file__).parents[3] / "examples"


def exported(run_dir: Path, to: Path, *more: str) -> bytes:
    assert main(["export", str(run_dir), "-o", str(to), *more]) == 0
    return to.read_bytes()


def sent(client: Client, address: str, status: int = 200) -> bytes:
    response = client.get(address)
    assert response.status_code == status
    return b"".join(response.streaming_content) if response.streaming else response.content  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that the runner itself made, of an example bench."""
    bench = tmp_path_factory.mktemp("real") / "answers"
    shutil.copytree(EXAMPLES / "answers", bench, ignore=shutil.ignore_patterns(".bench"))
    run_bench(bench, environment="local", trials=1)
    return next((bench / ".bench" / "runs").iterdir())


@pytest.mark.parametrize("kind", ["real", "made"])
def test_a_frame_is_what_the_command_writes(
    kind: str,
    real: Path,
    run_dirs: Callable[..., Path],
    client: Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(readings, "PART", 7)  # several parts, the last one not full
    run_dir = real if kind == "real" else run_dirs("a", trials=10)
    run = ingest(run_dir, verdict="accepted")
    for every, more in (("", ()), ("?every=1", ("--every",))):
        told = json.loads(exported(run_dir, tmp_path / "t.json", *more))
        assert json.loads(sent(client, f"/runs/{run.ulid}/frame.json{every}")) == told
        assert sent(client, f"/runs/{run.ulid}/frame.csv{every}") == exported(run_dir, tmp_path / "t.csv", *more)
    file = sent(client, f"/runs/{run.ulid}/frame.parquet")
    assert pyarrow.parquet.read_table(io.BytesIO(file)).equals(table(run_dir))
    assert sent(client, f"/api/v1/runs/{run.ulid}/frame?kind=csv") == sent(client, f"/runs/{run.ulid}/frame.csv")


def test_a_withdrawn_trial_has_no_values_and_says_so(made: Callable[..., Run], client: Client) -> None:
    run = made(fates=False)
    withdraw_trial(run, 1, by=make_curator(), reason="the judge was down")
    columns = json.loads(sent(client, f"/runs/{run.ulid}/frame.json"))
    assert (columns["state"][1], columns["measure.resolved"][1]) == ("withdrawn", None)
    assert None not in columns["measure.resolved"][2:]


def test_without_pyarrow_there_is_no_link_and_the_address_says_why(
    made: Callable[..., Run], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = made()
    assert 'href="frame.parquet"' in client.get(f"/runs/{run.ulid}/").content.decode()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "frame.parquet" not in client.get(f"/runs/{run.ulid}/").content.decode()
    assert sent(client, f"/runs/{run.ulid}/frame.parquet", 501).startswith(b"This site cannot write Parquet, since ")
    assert "pyarrow" in client.get(f"/api/v1/runs/{run.ulid}/frame?kind=parquet").json()["detail"]
    assert sent(client, f"/runs/{run.ulid}/frame.csv").startswith(b"run,bench,")


def test_a_manifest_that_may_not_be_shown_leaves_no_frame(made: Callable[..., Run], client: Client) -> None:
    run = made()
    Blob.objects.filter(digest=run.manifest).update(state="held")
    assert b"manifest" in sent(client, f"/runs/{run.ulid}/frame.csv", 410)
