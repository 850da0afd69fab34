"""Trials on workers give what the local pool gives; a lost message, a dead worker, a cancellation are survived."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from django.db import connection
from django.utils import timezone

from benchsite.flows import leases
from benchsite.flows.launch import folder_of, launch
from benchsite.flows.recheck import differences
from benchsite.flows.spool import Reader, Writer
from benchsite.flows.working import CeleryExecutor
from benchsite.jobs.models import Job, Lease
from benchsite.runs.models import Run
from runner.cancelling import cancel
from runner.engine import drive
from runner.errors import BenchError, RunnerError
from runner.exchange.bundle import write_bundle
from runner.jobs import TrialJob
from runner.journal import Event, encode, read_events
from runner.prepare import prepare
from runner.replay import read
from runner.running import begin
from tests import make

ROOT = Path(__file__).parents[2]
BENCH = """
from runner import Scripted, Workspace, define_bench, run, sleep, write


class Schema:
    done: bool


bench = define_bench(
    name="acme/workers", version="1.0.0", schema=Schema, workspace=None,
    agents={"good": Scripted([write("a.txt", "yes")]), "bad": Scripted([write("b.txt", "no")]),
            "slow": Scripted([sleep(3_000)])},
    matrix={"agent": AGENTS}, trials=2, environment="local",
)
"""
SCENARIO = """
from runner import observe


def bench_write(workspace, agent):
    agent.request("Write a.txt")
    observe("done", workspace.exists("a.txt"))
"""


def bench(folder: Path, *agents: str) -> Path:
    (folder / "tests").mkdir(parents=True)
    (folder / "bench.py").write_text(BENCH.replace("AGENTS", repr(list(agents))))
    (folder / "tests" / "bench_write.py").write_text(SCENARIO)
    return folder


@pytest.fixture
def job(tmp_path: Path) -> TrialJob:
    return TrialJob(make.make_run(tmp_path / "made", state="running"), 3, 1, 7)


# The file between worker and driver


def test_a_reader_gets_whole_events_in_order_as_they_come(job: TrialJob) -> None:
    writer, reader = Writer(job, "h"), Reader(job, "h")
    first: Event = {"type": "phase", "phase": "setup", "seconds": 1}
    writer.write(first)
    assert list(reader.new()) == [first]
    with reader.path.open("ab") as file:
        file.write(encode({"type": "phase"})[:5])
    assert list(reader.new()) == []
    with reader.path.open("ab") as file:
        file.write(encode({"type": "phase"})[5:])
    assert list(reader.new()) == [{"type": "phase"}]
    reader.drop()
    assert not reader.path.exists()


# Leases


@pytest.mark.django_db
def test_a_message_that_comes_twice_finds_the_trial_taken(job: TrialJob) -> None:
    leases.offer(job)
    key = (job.run_dir.name, job.index, job.attempt)
    holder = leases.claim(*key)
    assert holder
    assert leases.claim(*key) is None
    assert leases.renew(*key, holder)
    assert not leases.renew(*key, "somebody else")
    leases.cancel(job)
    assert not leases.holds(*key, holder)


@pytest.mark.django_db
def test_a_finished_trial_cannot_be_taken_again(job: TrialJob) -> None:
    leases.finish(leases.offer(job))
    assert leases.claim(job.run_dir.name, job.index, job.attempt) is None


@pytest.mark.django_db
def test_the_sweeper_sends_again_what_nobody_took_and_only_that(job: TrialJob) -> None:
    waiting = leases.offer(job)
    held = leases.offer(TrialJob(job.run_dir, 4, 1, 7))
    leases.claim(job.run_dir.name, 4, 1)
    later = timezone.now() + timedelta(days=1)
    assert leases.sweep(timezone.now(), lambda run: job.run_dir) == 0
    assert leases.sweep(later, lambda run: None) == 0
    assert leases.sweep(later, lambda run: job.run_dir) == 1
    waiting.refresh_from_db()
    held.refresh_from_db()
    assert (waiting.sends, held.sends) == (2, 1)


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_falls_silent_loses_its_trial_as_a_fault_of_the_machine(job: TrialJob, settings: Any) -> None:
    settings.LEASE_SECONDS = 3
    events: list[Event] = []

    def drive() -> None:
        events.extend(CeleryExecutor(job.run_dir).execute(job))

    driver = threading.Thread(target=drive)
    driver.start()
    holder = _claimed(job)
    writer = Writer(job, holder)
    writer.write({"type": "trial.started", "trial": 3, "attempt": 1, "seed": 7, "worker": 0})
    driver.join(120)
    last = events[-1]
    assert [event["type"] for event in events] == ["trial.started", "issue", "trial.finished"]
    assert (last["state"], last["fault"]) == ("run_error", "lost")
    assert "fell silent" in last["reason"]
    writer.write({"type": "trial.finished", "trial": 3, "attempt": 1, "state": "scored"})
    assert Reader(job, holder).path.exists(), "a late answer is kept as evidence"
    assert Lease.objects.get().done


@pytest.mark.django_db(transaction=True)
def test_a_trial_cancelled_before_anyone_took_it_ends_as_cancelled(job: TrialJob) -> None:
    executor = CeleryExecutor(job.run_dir)
    events = executor.execute(job)
    canceller = threading.Thread(target=_cancel_soon, args=(executor, job))
    canceller.start()
    found = list(events)
    canceller.join()
    assert [event["type"] for event in found] == ["trial.started", "trial.finished"]
    assert (found[-1]["state"], found[-1]["fault"]) == ("cancelled", None)


@pytest.mark.django_db(transaction=True)
def test_one_trial_of_a_run_on_workers_is_cancelled_from_elsewhere(tmp_path: Path) -> None:
    run_dir = begin(prepare(bench(tmp_path / "bench", "good")))

    def work() -> None:
        drive(run_dir, executor=CeleryExecutor(run_dir), workers=1)
        connection.close()

    driver = threading.Thread(target=work)
    driver.start()
    _until(lambda: Lease.objects.exists())
    offered = Lease.objects.get().index
    cancel(run_dir, offered)
    cancel(run_dir)
    driver.join(60)
    trials = read(run_dir).trials
    assert [trial.state for trial in trials] == ["cancelled", "cancelled"]
    assert trials[offered].reason == "It was cancelled before a worker took it."


def _cancel_soon(executor: CeleryExecutor, job: TrialJob) -> None:
    _until(lambda: Lease.objects.exists())
    executor.kill(job)
    connection.close()


def _claimed(job: TrialJob) -> str:
    _until(lambda: Lease.objects.exists())
    holder = leases.claim(job.run_dir.name, job.index, job.attempt)
    assert holder
    return holder


def _until(true: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "what was waited for did not happen"
        time.sleep(0.05)


@pytest.mark.django_db
def test_without_a_broker_workers_are_refused_in_one_sentence(tmp_path: Path, settings: Any) -> None:
    settings.BROKER_URL = ""
    with pytest.raises(RunnerError, match="BENCHSITE_BROKER_URL"):
        launch(bench(tmp_path / "b", "good"), executor="celery")
    assert not Job.objects.exists()


@pytest.mark.django_db
def test_a_broker_that_does_not_answer_is_told_before_anything_runs(tmp_path: Path, settings: Any) -> None:
    assert current_app.conf.task_default_queue  # read once for all tests of a process, and not below
    settings.BROKER_URL = "redis://127.0.0.1:9/0"  # nobody listens there
    with pytest.raises(RunnerError, match=r"The broker \(redis\) does not answer: .* correct BENCHSITE_BROKER_URL"):
        launch(bench(tmp_path / "b", "good"), executor="celery")
    assert not Job.objects.exists()


@pytest.mark.django_db
def test_workers_are_given_no_login_of_a_user(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.BROKER_URL = "memory://"
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".login").write_text("token: abcdefgh")
    folder = bench(tmp_path / "b", "good")
    text = (folder / "bench.py").read_text().replace("import ", "import Command, ", 1)
    text = text.replace("agents={", 'agents={"mine": Command("true", credentials="~/.login"), ', 1)
    (folder / "bench.py").write_text(text.replace("['good']", "['mine']"))
    with pytest.raises(BenchError, match=r"given no login of a user, and mine has credentials=\.\.\."):
        launch(folder, executor="celery")
    assert not list((folder / ".bench" / "runs").glob("*"))


# A site of its own, with a database file that processes share


class Site:
    """Commands and workers as an operator starts them."""

    def __init__(self, folder: Path, broker: str) -> None:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("BENCHSITE_")}
        self.env = {
            **clean,
            "BENCHSITE_DATA": str(folder / "data"),
            "BENCHSITE_WORLDS": str(folder / "worlds"),
            "BENCHSITE_BROKER_URL": broker,
            "BENCHSITE_LEASE_SECONDS": "20",
            "BENCHSITE_UPLOAD_AT_ONCE": "0",
        }
        self.workers: list[subprocess.Popen[bytes]] = []

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "manage.py", *words]
        return subprocess.run(command, cwd=ROOT, env=self.env, capture_output=True, text=True, check=False, timeout=240)

    def worker(self) -> None:
        command = [sys.executable, "-m", "celery", "-A", "benchsite", "worker", "--concurrency", "2", "-l", "warning"]
        self.workers.append(subprocess.Popen(command, cwd=ROOT, env=self.env, start_new_session=True))

    def close(self) -> None:
        for worker in self.workers:
            os.killpg(worker.pid, signal.SIGTERM)
            try:
                worker.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(worker.pid, signal.SIGKILL)
                worker.wait(60)


@pytest.fixture
def site(tmp_path: Path, redis_url: str) -> Iterator[Site]:
    opened = Site(tmp_path, redis_url)
    migrated = opened.command("migrate", "--verbosity", "0")
    assert migrated.returncode == 0, migrated.stderr
    yield opened
    opened.close()


def outcomes(run_dir: Path) -> dict[int, tuple[str, str | None]]:
    ended = (event for event in read_events(run_dir) if event["type"] == "trial.finished")
    return {event["trial"]: (event["state"], event["outcome"]) for event in ended}


SEND = """
import sys, time
from pathlib import Path
from django.contrib.auth import get_user_model
from django.core.files import File
from benchsite.flows.incoming import take_bundle
with Path({path!r}).open("rb") as file:
    job = take_bundle(File(file, name="run.zip"), get_user_model().objects.create_user("sender"))
end = time.monotonic() + 180
while job.state in ("queued", "running") and time.monotonic() < end:
    time.sleep(0.2)
    job.refresh_from_db()
print(job.state, job.message, job.payload)
"""


@pytest.mark.redis
def test_workers_give_the_same_result_as_the_local_pool_and_take_large_bundles_in(tmp_path: Path, site: Site) -> None:
    folder = bench(tmp_path / "bench", "good", "bad")
    local = site.command("run", str(folder), "--seed", "5")
    assert local.returncode == 0, local.stderr
    site.worker()
    far = site.command("run", str(folder), "--seed", "5", "--executor", "celery", "--workers", "2")
    assert far.returncode == 0, far.stderr
    one, two = sorted((folder / ".bench" / "runs").iterdir())
    assert outcomes(one) == outcomes(two)
    assert sorted(outcomes(two).values()) == [("scored", "solved")] * 2 + [("scored", "unsolved")] * 2
    assert list((two / "spool").glob("*.events")) == []
    checked = site.command("recount", "--check")
    assert checked.returncode == 0, checked.stdout
    assert "2 runs checked, 0 figures differ" in checked.stdout
    sent = make.make_run(tmp_path / "sent", bench="other/sent", cells=1, scenarios=1, trials=1, fates=False)
    bundle = write_bundle(sent, tmp_path / "run.zip")
    done = site.command("shell", "-c", SEND.format(path=str(bundle)))
    assert done.stdout.startswith("done ") or "\ndone " in done.stdout, done.stdout + done.stderr
    assert f"'run': '{sent.name}'" in done.stdout
    assert not (tmp_path / "data" / "incoming" / "uploads.log").exists(), "no process of the site's own was begun"


@pytest.mark.django_db(transaction=True)
def test_a_launched_run_is_accepted_counted_and_found_again(tmp_path: Path) -> None:
    seen: list[str] = []
    run = launch(bench(tmp_path / "bench", "good"), on_event=lambda event: seen.append(event["type"]), workers=1)
    assert (run.state, run.verdict, run.counts) == ("finished", "accepted", {"planned": 2, "scored": 2})
    assert seen.count("trial.finished") == 2
    assert list(differences(run)) == []
    assert folder_of(run.ulid) == tmp_path / "bench" / ".bench" / "runs" / run.ulid
    assert Job.objects.get().state == "done"


@pytest.mark.django_db(transaction=True)
def test_a_cancelled_launch_is_shown_as_cancelled_and_can_go_on(tmp_path: Path) -> None:
    cancel, folder = threading.Event(), bench(tmp_path / "bench", "slow")

    def stop(event: Event) -> None:
        if event["type"] == "trial.started":
            cancel.set()

    run = launch(folder, on_event=stop, cancel=cancel, workers=1)
    assert (run.state, run.counts) == ("cancelled", {"planned": 2, "cancelled": 2})
    assert Run.objects.get().pk == run.pk
