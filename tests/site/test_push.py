"""The command `benchsite push` against the real site, over a real socket."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from benchsite.flows.incoming import drain
from benchsite.jobs.models import Job
from benchsite.runs.models import Run, Standing
from runner.exchange.bundle import write_bundle
from runner.replay import read
from runner.statistics.summary import summary
from tests.make import make_run, make_token, make_user
from tests.runner.cli.make import benchsite

pytestmark = pytest.mark.django_db(transaction=True)


def pushed(run_dir: Path, site: str, token: str) -> Any:
    return benchsite("push", run_dir, "--to", site, "--json", BENCHSITE_TOKEN=token)


def test_a_pushed_run_is_submitted_and_holds_the_figures_of_the_command_line(tmp_path: Path, live_server: Any) -> None:
    run_dir = make_run(tmp_path, cells=3, scenarios=6, trials=3)
    done = pushed(run_dir, live_server.url, make_token(make_user()))
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["run"], answer["verdict"]) == (run_dir.name, "submitted")

    run = Run.objects.get(ulid=run_dir.name)
    for policy in ("scored/1", "errors-fail/1"):
        told = {cell["cell"]: cell["measures"] for cell in summary(read(run_dir), policy)["cells"]}
        held = Standing.objects.filter(run=run, policy=policy).select_related("cell", "measure")
        assert held.count() == 9
        for row in held:
            figure = told[row.cell.name][row.measure.key]
            for name in ("macro", "lo", "hi", "clusters", "rank_lo", "rank_hi", "k", "n", "planned"):
                assert getattr(row, name) == figure[name], (row, name)


def test_pushing_again_sends_nothing_and_changes_nothing(tmp_path: Path, live_server: Any) -> None:
    run_dir, token = make_run(tmp_path), make_token(make_user())
    done = [pushed(run_dir, live_server.url, token) for _ in range(2)]
    assert [d.returncode for d in done] == [0, 0], done
    first, again = (json.loads(d.stdout) for d in done)
    assert first["sent"] > 0
    assert (again["sent"], again["url"]) == (0, first["url"])
    assert Run.objects.count() == 1


def test_other_bytes_under_a_run_that_is_there_are_refused(tmp_path: Path, live_server: Any) -> None:
    run_dir, token = make_run(tmp_path / "one", seed=1), make_token(make_user())
    assert pushed(run_dir, live_server.url, token).returncode == 0
    other = make_run(tmp_path / "two", seed=2, run=run_dir.name)
    done = pushed(other, live_server.url, token)
    assert done.returncode == 2
    assert "409" in done.stderr


def test_a_token_that_is_not_known_or_may_not_upload_sends_nothing(tmp_path: Path, live_server: Any) -> None:
    run_dir = make_run(tmp_path)
    for token in ("bs_unknown", make_token(make_user(), "read")):
        done = pushed(run_dir, live_server.url, token)
        assert done.returncode == 2, done.stdout
        assert done.stderr.count("\n") == 1
    assert Run.objects.count() == 0


def test_a_push_of_a_large_run_waits_until_the_site_has_taken_it_in(
    tmp_path: Path, live_server: Any, settings: Any
) -> None:
    settings.UPLOAD_AT_ONCE = 0
    settings.BASE_DIR = tmp_path  # whoever is started from here would look for the run in another database
    run_dir, token, over = make_run(tmp_path / "large"), make_token(make_user()), threading.Event()
    worker = threading.Thread(target=_drain_until, args=(over,))
    worker.start()
    try:
        done = benchsite("push", run_dir, "--to", live_server.url, BENCHSITE_TOKEN=token)
        again = pushed(run_dir, live_server.url, token)
    finally:
        over.set()
        worker.join()
    assert done.returncode == again.returncode == 0, done.stderr
    run = Run.objects.get()
    assert f"{live_server.url}/jobs/{Job.objects.get().key}/ shows how far" in done.stderr
    assert f"the run is submitted.\n{live_server.url}/runs/{run.ulid}/\n" in done.stdout
    assert json.loads(again.stdout)["url"].endswith(f"/runs/{run.ulid}/")


def _drain_until(over: threading.Event) -> None:
    while not over.wait(0.05):
        drain()
    connection.close()


def test_a_bundle_brings_the_same_run_as_a_push(tmp_path: Path, live_server: Any) -> None:
    from benchsite.flows.incoming import take_bundle

    run_dir, user = make_run(tmp_path), make_user()
    with write_bundle(run_dir, tmp_path / "run.zip").open("rb") as file:
        run = take_bundle(file, user)
    done = json.loads(pushed(run_dir, live_server.url, make_token(user)).stdout)
    assert (done["run"], done["sent"]) == (run.ulid, 0)
