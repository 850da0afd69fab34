"""Evaluation modes, collecting, and what the suite can do to a trial."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.blobs import BlobStore
from runner.replay import Attempt, RunResult
from runner.running import run
from tests.runner.scenario.benches import by_scenario, write_bench

SCENARIOS = """
    @pytest.mark.evaluation("none", artifacts=["/workspace/done.txt", "/workspace/absent", "/workspace/dir"],
                            collect=[Collect("mkdir -p dir/sub && echo collected > dir/sub/out.txt")])
    def bench_none(workspace, agent, evaluation):
        agent.request("go")
        observe("count", len(workspace.changed()))
        with evaluation() as env:
            observe("resolved", env is None)
            found = evaluation.artifacts
            observe("note", found["/workspace/done.txt"].read_text() + found["/workspace/dir"].read_text("sub/out.txt"))
            observe("share", float("/workspace/absent" in found))
            closed = 0
            for ask in (lambda: workspace.read("done.txt"), lambda: workspace.exists("x"), lambda: workspace.path,
                        lambda: workspace.tests.passed(), lambda: agent.request("again")):
                try:
                    ask()
                except RuntimeError as error:
                    closed += "closed" in str(error)
            observe("kind", "patch" if closed == 5 else "rewrite")

    @pytest.mark.evaluation("reuse")
    def bench_reuse(workspace, agent, evaluation):
        agent.request("go")
        with evaluation() as env:
            done = env.exec(["sh", "-c", "cat; cat done.txt; echo $WHO >&2; exit 3"], stdin="in ", env={"WHO": "me"})
            observe("count", done.exit_code)
            observe("note", done.stdout + done.stderr)
            observe("resolved", env.exec(["sleep", "30"], timeout=0.2).timed_out)
        try:
            env.exec(["true"])
        except RuntimeError:
            observe("kind", "patch")

    @pytest.mark.evaluation("reuse", collect=[Collect("echo to the log; exit 7")])
    def bench_collect_fails(workspace, agent, evaluation):
        agent.request("go")
        try:
            with evaluation() as env:
                observe("resolved", True)
        except Exception:
            observe("resolved", True)

    @pytest.mark.evaluation("reuse", artifacts=["/workspace/done.txt"], collect=[Collect("sleep 60", timeout=0.3)])
    def bench_collect_hangs(workspace, agent, evaluation):
        agent.request("go")
        with evaluation() as env:
            observe("resolved", True)

    @pytest.mark.evaluation("none", artifacts=["/workspace/done.txt", "/workspace/link", "/workspace/readme.txt"],
                            collect=[Collect("ln -s /etc/passwd link")])
    def bench_link_refused(workspace, agent, evaluation):
        agent.request("go")
        with evaluation():
            observe("resolved", True)

    @pytest.mark.evaluation("none", artifacts=["/workspace/many"],
                            collect=[Collect("mkdir many && cd many && seq 1 2100 | xargs touch")])
    def bench_too_many(workspace, agent, evaluation):
        agent.request("go")
        with evaluation():
            observe("resolved", True)

    @pytest.mark.evaluation(artifacts=["/workspace/d"], collect=[Collect("mkdir d && ln -s ../../x d/out")])
    def bench_link_leads_out(workspace, agent, evaluation):
        agent.request("go")
        with evaluation():
            observe("resolved", True)

    @pytest.mark.evaluation(artifacts=["/workspace/done.txt", "/workspace/d"])
    def bench_agents_link(workspace, agent, evaluation):
        agent.request("leave a link")
        with evaluation():
            observe("resolved", True)

    @pytest.mark.evaluation(artifacts=["/workspace/d"], collect=[Collect("mkdir d && mkfifo d/pipe")])
    def bench_fifo(workspace, agent, evaluation):
        agent.request("go")
        with evaluation():
            observe("resolved", True)

    @pytest.mark.evaluation(artifacts=["/workspace/large"], collect=[Collect("truncate -s 20M large")])
    def bench_too_large(workspace, agent, evaluation):
        agent.request("go")
        with evaluation():
            observe("resolved", True)

    def bench_twice(workspace, agent, evaluation):
        agent.request("go")
        with evaluation():
            pass
        with evaluation():
            pass

    def bench_raises_inside(workspace, agent, evaluation):
        agent.request("go")
        with evaluation():
            raise KeyError("grading")

    def bench_suite_hangs(workspace, agent):
        agent.request("go")
        observe("resolved", workspace.tests.passed(timeout=0.3))
"""
AGENT = """Scripted([write("done.txt", "done\\n"), say("I did it.")], when=[("link", [
    write("d/small.txt", "x"), steps.run("ln", "-s", "../out", "d/out")])])"""
SUITE = "import pathlib, time\nif pathlib.Path('done.txt').exists(): time.sleep(60)\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bench(
        tmp_path_factory.mktemp("evaluation") / "bench",
        {"e": SCENARIOS},
        declare='suite="{python} suite.py", transfer=Transfer(max_bytes="16 MiB")',
        agents=f'{{"worker": {AGENT}}}',
        world={"suite.py": SUITE},
    )


@pytest.fixture(scope="module")
def result(folder: Path) -> RunResult:
    return run(folder, workers=2)


@pytest.fixture(scope="module")
def ended(result: RunResult) -> dict[str, Attempt]:
    return {name.split("::")[1]: attempt for name, attempt in by_scenario(result).items()}


def values(attempt: Attempt) -> dict[str, object]:
    return {key: observation.value for key, observation in attempt.observations.items()}


def test_mode_none_collects_closes_and_grades_without_an_environment(ended: dict[str, Attempt]) -> None:
    found = values(ended["none"])
    assert ended["none"].state == "scored", ended["none"].reason
    assert found == {"count": 1, "resolved": True, "note": "done\ncollected\n", "share": 0.0, "kind": "patch"}


def test_collected_files_are_kept_as_artifacts(folder: Path, ended: dict[str, Attempt]) -> None:
    artifacts = {artifact.name: artifact for artifact in ended["none"].artifacts}
    assert set(artifacts) == {"/workspace/done.txt", "/workspace/dir/sub/out.txt"}
    assert {artifact.kind for artifact in artifacts.values()} == {"collected"}
    blobs = BlobStore(folder / ".bench" / "blobs")
    assert blobs.read(artifacts["/workspace/dir/sub/out.txt"].blob) == b"collected\n"


def test_what_collect_commands_write_is_not_the_agents(ended: dict[str, Attempt]) -> None:
    assert ended["none"].changes["agent"].counts["added"] == 1
    assert ended["none"].changes["evaluation"].counts["added"] == 1


def test_mode_reuse_grades_in_the_agents_environment(ended: dict[str, Attempt]) -> None:
    attempt = ended["reuse"]
    assert attempt.state == "scored", attempt.reason
    assert values(attempt) == {"count": 3, "note": "in done\nme\n", "resolved": True, "kind": "patch"}


def test_a_failing_collect_command_ends_the_trial_whatever_catches_it(ended: dict[str, Attempt]) -> None:
    attempt = ended["collect_fails"]
    assert (attempt.state, attempt.fault, attempt.phase) == ("run_error", "collect", "collect")
    assert "exit code 7" in attempt.reason
    assert "resolved" not in attempt.observations
    assert [artifact.name for artifact in attempt.artifacts] == ["collect-1.log"]
    assert "to the log" in attempt.issues[0].detail


def test_a_collect_command_that_hangs_is_stopped(ended: dict[str, Attempt]) -> None:
    attempt = ended["collect_hangs"]
    assert (attempt.state, attempt.fault) == ("run_error", "collect")
    assert "longer than 0.3 s" in attempt.reason


@pytest.mark.parametrize("name", ["link_refused", "too_many"])
def test_what_may_not_be_carried_out_is_a_transport_error(ended: dict[str, Attempt], name: str) -> None:
    attempt = ended[name]
    assert (attempt.state, attempt.fault, attempt.phase) == ("run_error", "transport", "collect")
    assert "resolved" not in attempt.observations


def test_what_came_before_a_path_that_fails_is_kept_and_the_rest_left(ended: dict[str, Attempt]) -> None:
    assert [(one.path, one.status) for one in ended["link_refused"].collected] == [
        ("/workspace/done.txt", "collected"),
        ("/workspace/link", "failed"),
        ("/workspace/readme.txt", "not_collected"),
    ]
    assert [artifact.name for artifact in ended["link_refused"].artifacts] == ["/workspace/done.txt"]
    assert "is a link" in ended["link_refused"].reason


def test_paths_are_still_carried_as_evidence_when_a_collect_command_failed(ended: dict[str, Attempt]) -> None:
    (entry,) = ended["collect_hangs"].collected
    assert (entry.path, entry.status) == ("/workspace/done.txt", "collected")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("link_leads_out", "is a link that leads out of it"),
        ("fifo", "is neither a file nor a folder"),
        ("too_large", "more bytes or files than the limits"),
    ],
)
def test_a_folder_is_carried_whole_or_not_at_all(ended: dict[str, Attempt], name: str, said: str) -> None:
    attempt = ended[name]
    assert (attempt.state, attempt.fault, attempt.phase) == ("run_error", "transport", "collect")
    assert said in attempt.reason


def test_an_agent_that_leaves_the_scoring_by_what_it_hands_in_is_flagged(ended: dict[str, Attempt]) -> None:
    attempt = ended["agents_link"]
    assert (attempt.state, attempt.fault, attempt.flags) == ("run_error", "transport", ("unsafe_submission",))
    (told,) = [issue for issue in attempt.issues if issue.code == "unsafe_submission"]
    assert told.sentence == (
        "/workspace/d could not be carried out: out in it is a link that leads out of it. "
        "The agent left d/out there, a link."
    )
    assert told.detail.splitlines() == ['file "d/out"', "../out"]
    assert [ended[name].flags for name in ("link_refused", "fifo", "too_many")] == [(), (), ()], "the bench made those"


@pytest.mark.parametrize("name", ["twice", "raises_inside"])
def test_an_exception_while_evaluating_is_an_evaluation_error(ended: dict[str, Attempt], name: str) -> None:
    assert (ended[name].state, ended[name].fault) == ("eval_error", "evaluation")


def test_a_suite_that_hangs_has_not_passed(ended: dict[str, Attempt]) -> None:
    attempt = ended["suite_hangs"]
    assert (attempt.state, attempt.outcome, attempt.flags) == ("scored", "unsolved", ("suite_timeout",))


def test_a_suite_that_the_agent_broke_cannot_start(tmp_path: Path) -> None:
    folder = write_bench(
        tmp_path / "bench",
        {
            "s": """
                def bench_s(workspace, agent):
                    agent.request("go")
                    observe("resolved", workspace.tests.passed())
            """
        },
        declare='suite="./suite.sh"',
        agents='{"breaker": Scripted([delete("suite.sh")])}',
        world={"suite.sh": "#!/bin/sh\nexit 0\n"},
    )
    (folder / "workspace" / "suite.sh").chmod(0o755)
    (attempt,) = by_scenario(run(folder, workers=1)).values()
    assert (attempt.state, attempt.fault) == ("eval_error", "suite")
    assert "resolved" not in attempt.observations
