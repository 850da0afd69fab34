"""An evaluation that failed is repeated alone: from its checkpoint, without the agent, with every byte proven."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from runner.blobs import BlobStore
from runner.errors import RunnerError
from runner.records import Attempt, RunResult, Trial
from runner.replay import read
from runner.running import resume, run
from runner.stored import verify
from tests.runner.scenario.benches import write_bench

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed (apt install bubblewrap)"),
]
SCENARIOS = """
    import os, pathlib

    JUDGE = pathlib.Path("{judge}")
    SECOND = JUDGE.with_name("second")

    def judge():
        if not JUDGE.exists():
            raise ConnectionError("the judge is down")

    def insist(held):
        assert held

    def graded(workspace, evaluation, env):
        judge()
        observe("count", len(workspace.changed()))
        observe("note", evaluation.artifacts["/workspace/out"].read_text("a.txt"))

    @pytest.mark.evaluation("none", artifacts=["/workspace/out"], collect=[Collect("date +%N >> out/when")])
    def bench_none(workspace, agent, evaluation):
        reply = agent.request("go")
        observe("resolved", reply.text == "I did it.")
        with evaluation() as env:
            graded(workspace, evaluation, env)

    @pytest.mark.evaluation("fresh", artifacts=["/workspace/out"])
    def bench_fresh(workspace, agent, evaluation):
        agent.request("go")
        left = workspace.read("out/a.txt")
        with evaluation() as env:
            graded(workspace, evaluation, env)
            observe("resolved", env.exec(["cat", "out/a.txt"]).stdout == left)

    @pytest.mark.evaluation("reuse", artifacts=["/workspace/out"])
    def bench_reuse(workspace, agent, evaluation):
        agent.request("go")
        with evaluation() as env:
            graded(workspace, evaluation, env)

    @pytest.mark.evaluation("none", artifacts=["/workspace/out"])
    def bench_dies(workspace, agent, evaluation):
        agent.request("go")
        with evaluation():
            if not JUDGE.exists():
                os.kill(os.getpid(), 9)
            observe("resolved", True)

    @pytest.mark.evaluation("none", artifacts=["/workspace/out"], collect=[Collect("date +%N >> out/when")])
    def bench_early(workspace, agent, evaluation):
        agent.request("go")
        judge()
        if not SECOND.exists():
            SECOND.touch()
            raise ConnectionError("the judge is down again")
        with evaluation():
            graded(workspace, evaluation, None)
            observe("resolved", True)

    @pytest.mark.evaluation("none", artifacts=["/workspace/out"])
    def bench_between(workspace, agent, evaluation):
        agent.request("go")
        insist(False)
        agent.request("and more")
        with evaluation():
            observe("resolved", True)

    @pytest.mark.evaluation("none", artifacts=["/workspace/absent"], collect=[Collect("exit 3")])
    def bench_early_not_collected(workspace, agent, evaluation):
        agent.request("go")
        judge()
        with evaluation():
            observe("resolved", True)

    @pytest.mark.evaluation("none", artifacts=["/workspace/absent"], collect=[Collect("exit 3")])
    def bench_not_collected(workspace, agent, evaluation):
        agent.request("go")
        with evaluation():
            observe("resolved", True)
"""
AGENT = """{"worker": Scripted([
    usage(tokens_in=10, cost=0.25), write("out/a.txt", "work\\n"), steps.run("ls", "/etc/shadow-of-nothing"), say("I did it."),
])}"""  # noqa: E501
Trials = dict[str, Trial]


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """There once the judge is up."""
    return tmp_path_factory.mktemp("judge") / "up"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, judge: Path) -> Path:
    where = tmp_path_factory.mktemp("checkpoints") / "bench"
    scenarios = {"e": SCENARIOS.replace("{judge}", str(judge))}
    return write_bench(where, scenarios, declare='environment="sandbox", suite=""', agents=AGENT)


@pytest.fixture(scope="module")
def first(folder: Path) -> RunResult:
    return run(folder, workers=2)


@pytest.fixture(scope="module")
def second(folder: Path, first: RunResult, judge: Path) -> RunResult:
    """The same run, resumed after each way to damage a checkpoint was tried and undone."""
    run_dir = folder / ".bench" / "runs" / first.manifest.run
    for digest, what in damages(trials(first)["none"], BlobStore(folder / ".bench" / "blobs")):
        with damaged(BlobStore(folder / ".bench" / "blobs").path(digest)), pytest.raises(RunnerError) as caught:
            resume(run_dir)
        said = str(caught.value)
        assert said.startswith(f"The run {first.manifest.run} cannot go on: the checkpoint of e::"), said
        assert what in said
        assert f"benchsite run --only-failed {first.manifest.run}" in said
    assert read(run_dir) == first, "a refused resume changes nothing"
    judge.touch()
    return resume(run_dir, workers=2)


def damages(trial: Trial, blobs: BlobStore) -> Iterator[tuple[str, str]]:
    attempt = trial.attempts[0]
    assert attempt.checkpoint is not None
    yield attempt.checkpoint, "the checkpoint itself is not what was stored"
    (entry,) = attempt.collected
    assert entry.tree is not None
    yield entry.tree, "the list of files of /workspace/out is not what was stored"
    files = {row["path"]: row["sha256"] for row in json.loads(blobs.read(entry.tree))["entries"]}
    yield files["when"], "/workspace/out (when) is not what was stored"
    assert attempt.requests[0].text is not None
    yield attempt.requests[0].text, "the text of request 1 is not what was stored"


@contextmanager
def damaged(path: Path) -> Iterator[None]:
    before = path.read_bytes()
    path.write_bytes(before + b"!")
    yield
    path.write_bytes(before)


def trials(result: RunResult) -> Trials:
    scenarios = result.manifest.scenarios
    return {scenarios[trial.planned.scenario].id.split("::")[1]: trial for trial in result.trials}


def ended(trial: Trial) -> tuple[str, str | None]:
    attempt = trial.final
    assert attempt is not None
    return attempt.state, attempt.fault


def last(trial: Trial) -> Attempt:
    assert trial.final is not None
    return trial.final


def test_what_failed_in_evaluation_leaves_a_checkpoint_and_what_failed_to_collect_none(first: RunResult) -> None:
    found = {name: (*ended(trial), last(trial).checkpoint is not None) for name, trial in trials(first).items()}
    assert found == {
        "none": ("eval_error", "evaluation", True),
        "fresh": ("eval_error", "evaluation", True),
        "reuse": ("eval_error", "evaluation", False),
        "dies": ("run_error", "lost", True),
        "early": ("eval_error", "evaluation", True),
        "between": ("eval_error", "evaluation", False),
        "early_not_collected": ("eval_error", "evaluation", False),
        "not_collected": ("run_error", "collect", False),
    }


def test_a_resumed_run_repeats_the_evaluation_alone(second: RunResult) -> None:
    found = {name: (*ended(trial), len(trial.attempts)) for name, trial in trials(second).items()}
    assert found == {
        "none": ("scored", None, 2),
        "fresh": ("scored", None, 2),
        "reuse": ("eval_error", "evaluation", 1),
        "dies": ("scored", None, 2),
        "early": ("eval_error", "evaluation", 2),
        "between": ("eval_error", "evaluation", 1),
        "early_not_collected": ("eval_error", "evaluation", 1),
        "not_collected": ("run_error", "collect", 1),
    }
    for name in ("none", "fresh", "dies"):
        assert last(trials(second)[name]).outcome == "solved"
        assert [request.replayed for request in last(trials(second)[name]).requests] == [True]


def test_what_was_collected_then_is_what_is_graded_now(second: RunResult) -> None:
    """The collect command writes the time: run again, it would have written another one."""
    earlier, later = trials(second)["none"].attempts
    assert later.collected == earlier.collected
    assert later.observations["note"].value == "work\n"
    assert later.observations["count"].value == 1
    assert later.checkpoint == earlier.checkpoint


def test_nobody_pays_twice_and_the_time_is_the_whole_trials(second: RunResult) -> None:
    trial = trials(second)["fresh"]
    assert trial.usage.cost == 0.25
    assert trial.usage.tokens_in == 10
    assert (last(trial).seconds or 0) > trial.attempts[0].phases["execution"]


def test_what_is_known_of_the_agent_is_known_still(second: RunResult) -> None:
    for trial in (trials(second)["none"], trials(second)["fresh"]):
        earlier, later = trial.attempts
        assert "outside_read" in earlier.flags
        assert later.flags == earlier.flags


def test_the_result_is_what_the_journal_says(folder: Path, second: RunResult) -> None:
    assert verify(folder / ".bench" / "runs" / second.manifest.run).problems == ()


def test_what_failed_before_it_was_entered_is_repeated_alone_as_often_as_it_fails(
    folder: Path, second: RunResult
) -> None:
    """A second resume has nothing else to do."""
    again = resume(folder / ".bench" / "runs" / second.manifest.run, workers=1)
    counts = {name: len(trial.attempts) for name, trial in trials(second).items()}
    assert {name: len(trial.attempts) for name, trial in trials(again).items()} == {**counts, "early": 3}
    early = trials(again)["early"]
    assert (early.state, last(early).outcome) == ("scored", "solved")
    replayed = [[request.replayed for request in attempt.requests] for attempt in early.attempts]
    assert replayed == [[False], [True], [True]]
    assert len({attempt.checkpoint for attempt in early.attempts}) == 1
    assert len({attempt.collected for attempt in early.attempts}) == 1
