"""Mode fresh, in the sandbox: the verifier's place has what was declared, the fixtures, and nothing of the agent's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from runner.blobs import BlobStore
from runner.records import Attempt, RunResult
from runner.running import run
from runner.worlds.places import worlds_root
from tests.runner.scenario.benches import DECLARATION, by_scenario, write_bench

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed (apt install bubblewrap)"),
]
AGENT = """{"poisoner": Scripted([
    write("out/sub/a.txt", "work\\n"),
    steps.run("sh -c 'echo log > out/x.log && ln -s sub/a.txt out/here'"),
    steps.run("sh -c 'chmod +x out/sub/a.txt && mkdir out/empty'"),
    steps.run("sh -c 'echo evil > sitecustomize.py; echo evil > ~/.profile; echo evil > /tmp/trap; rm readme.txt'"),
    steps.run("sh -c '(setsid sleep 300 &) ; ls /fixtures; true'"),
    say("done"),
])}"""
DECLARE = 'environment="sandbox", suite="", setup=setup, retries=0'
SETUP = """
import pathlib
def setup(workspace_path, cell):
    (pathlib.Path(workspace_path) / "from-setup.txt").touch()
"""
SCENARIOS = """
    from runner import Artifact

    @pytest.mark.evaluation("fresh", artifacts=[Artifact("/workspace/out", exclude=["*.log"]), "/workspace/patch.txt",
                                                "/workspace/absent", Artifact("/workspace/logs", exclude=["*"]),
                                                "/tmp/note"],
                            collect=[Collect("mkdir logs; echo l > logs/l; echo p > patch.txt; echo n > /tmp/note")])
    def bench_fresh(workspace, agent, evaluation):
        agent.request("go")
        observe("count", len(workspace.changed()))
        with evaluation() as env:
            look = "ls -A . ~ /fixtures; for f in /tmp/*; do test -f $f && echo $f; done"
            observe("note", env.exec(["sh", "-c", look + "; cat patch.txt /tmp/note; readlink out/here"]).stdout)
            test = env.exec(["sh", "-c", "test -x out/sub/a.txt && test -d out/empty && cat out/here readme.txt"])
            observe("resolved", test.stdout == "work\\nhello\\n" and env.exec(["pgrep", "sleep"]).exit_code != 0)
            ask = [workspace.read, workspace.exists, lambda p: workspace.path, agent.request]
            observe("kind", "patch" if all(closed(one) for one in ask) else "rewrite")
            writes = env.exec(["touch", "/fixtures/mine"]).exit_code
            env.put(bench.fixtures / "verify.txt", "/workspace/deep/er/verify.txt")
            observe("share", float(writes != 0 and env.read("/workspace/deep/er/verify.txt") == "expected\\n"))
        try:
            env.exec(["true"])
        except RuntimeError as error:
            bench.attach("closed", str(error))

    def closed(ask):
        try:
            ask("readme.txt")
        except RuntimeError as error:
            return "mode fresh" in str(error)

    @pytest.mark.evaluation("fresh", artifacts=["/workspace/out"])
    def bench_raises(workspace, agent, evaluation):
        agent.request("go")
        with evaluation() as env:
            raise KeyError("grading")

    @pytest.mark.evaluation("fresh", fixtures=False)
    def bench_zero(workspace, agent, evaluation):
        agent.request("go")
        with evaluation() as env:
            observe("resolved", env.exec(["sh", "-c", "test -e out || ls /*/verify.txt"]).exit_code == 0)

    @pytest.mark.evaluation("reuse", fixtures=True)
    def bench_declared(workspace, agent, evaluation):
        agent.request("go")
        observe("count", len(workspace.changed()))
        with evaluation() as env:
            observe("note", env.exec(["cat", f"{env.fixtures}/verify.txt"]).stdout)

    @pytest.mark.evaluation("reuse")
    def bench_undeclared(workspace, agent, evaluation):
        agent.request("go")
        with evaluation() as env:
            env.exec(["cat", "/fixtures/verify.txt"])

    @pytest.mark.evaluation("fresh")
    def bench_forgets(workspace, agent, evaluation):
        agent.request("go")
        observe("resolved", True)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_bench(
        tmp_path_factory.mktemp("fresh") / "bench", {"e": SCENARIOS}, declare=DECLARE, agents=AGENT,
        schema=DECLARATION + SETUP,
    )  # fmt: skip
    (folder / "fixtures").mkdir()
    (folder / "fixtures" / "verify.txt").write_text("expected\n")
    return folder


@pytest.fixture(scope="module")
def result(folder: Path) -> RunResult:
    return run(folder, workers=2)


@pytest.fixture(scope="module")
def ended(result: RunResult) -> dict[str, Attempt]:
    return {name.split("::")[1]: attempt for name, attempt in by_scenario(result).items()}


def values(attempt: Attempt) -> dict[str, object]:
    return {key: observation.value for key, observation in attempt.observations.items()}


def test_the_fresh_place_has_template_setup_fixtures_and_what_was_declared(ended: dict[str, Attempt]) -> None:
    attempt = ended["fresh"]
    assert attempt.state == "scored", attempt.reason
    world = ".:\nfrom-setup.txt\nout\npatch.txt\nreadme.txt\n"
    assert values(attempt) == {
        "count": 5,
        "note": f"{world}\n/agent:\n\n/fixtures:\nverify.txt\n/tmp/note\np\nn\nsub/a.txt\n",
        "resolved": True,
        "kind": "patch",
        "share": 1.0,
    }


def test_a_closed_environment_of_the_verifier_says_so(folder: Path, ended: dict[str, Attempt]) -> None:
    (closed,) = [artifact for artifact in ended["fresh"].artifacts if artifact.name == "closed"]
    said = BlobStore(folder / ".bench" / "blobs").read(closed.blob).decode()
    assert said == "The environment cannot be used any more: the evaluation has closed the environment."


def test_every_declared_path_has_its_status(ended: dict[str, Attempt]) -> None:
    assert [(one.path, one.status, one.kind, one.files, one.size) for one in ended["fresh"].collected] == [
        ("/workspace/out", "collected", "dir", 2, 5),
        ("/workspace/patch.txt", "collected", "file", 1, 2),
        ("/workspace/absent", "missing", "", 0, 0),
        ("/workspace/logs", "excluded", "dir", 0, 0),
        ("/tmp/note", "collected", "file", 1, 2),
    ]


def test_the_resolved_plan_says_under_which_conditions_it_was_made(result: RunResult) -> None:
    (fresh,) = [plan for plan in result.manifest.plans if len(plan["artifacts"]) == 5]
    assert fresh["artifacts"][0] == {"path": "/workspace/out", "exclude": ["*.log"]}
    assert fresh["limits"] == {"bytes": 64 << 20, "files": 2000, "seconds": 600}
    assert (fresh["mode"], fresh["source"], fresh["fixtures"]) == ("fresh", "scenario", "mounted")
    assert (fresh["environment"], fresh["isolation"]) == ("sandbox", "sandbox")
    assert fresh["environment_version"].startswith("bubblewrap ")
    assert fresh["network"] == {"execution": "open", "evaluation": "open"}
    assert fresh["collect"][0]["timeout"] == 60
    assert set(fresh["timeouts"]) == {"request", "trial", "suite"}


def test_an_exception_in_the_fresh_place_is_an_evaluation_error(ended: dict[str, Attempt]) -> None:
    attempt = ended["raises"]
    assert (attempt.state, attempt.fault, attempt.phase) == ("eval_error", "evaluation", "evaluation")


def test_a_valid_zero_is_scored(ended: dict[str, Attempt]) -> None:
    """Nothing was declared, so nothing the agent made is there: that is a result."""
    attempt = ended["zero"]
    assert (attempt.state, attempt.outcome, values(attempt)["resolved"]) == ("scored", "unsolved", False)


def test_fixtures_are_shown_in_the_agents_environment_where_that_is_declared(ended: dict[str, Attempt]) -> None:
    attempt = ended["declared"]
    assert attempt.state == "scored", attempt.reason
    assert values(attempt)["note"] == "expected\n"
    assert values(attempt)["count"] == 5
    assert attempt.requests[0].exit_code == 0


def test_fixtures_that_were_not_declared_are_refused_in_one_sentence(ended: dict[str, Attempt]) -> None:
    attempt = ended["undeclared"]
    assert (attempt.state, attempt.fault) == ("eval_error", "evaluation")
    assert "processes that the agent left, or code it submitted, could read them" in attempt.reason


def test_an_evaluation_that_was_promised_and_never_entered_is_an_error(ended: dict[str, Attempt]) -> None:
    attempt = ended["forgets"]
    assert (attempt.state, attempt.fault) == ("eval_error", "evaluation")
    assert "never entered `evaluation()`" in attempt.reason


def test_nothing_of_the_fresh_place_is_left(result: RunResult) -> None:
    assert not (worlds_root() / result.manifest.run).exists()
