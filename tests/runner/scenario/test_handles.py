"""What a scenario is given: the frozen record, the live world, the agent's replies, evidence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runner.blobs import BlobStore
from runner.replay import Attempt, RunResult
from runner.running import run
from runner.scenario.values import judge
from runner.schema import MeasureSpec
from runner.selection import Selection
from runner.transcript import read_steps
from tests.runner.scenario.benches import by_scenario, write_bench

SUITE = """
import pathlib, sys
pathlib.Path("suite-was-here").write_text("x")
sys.exit(0 if pathlib.Path("done.txt").exists() else 1)
"""
SCENARIOS = """
    def bench_record(workspace, agent):
        expect(workspace).not_.to_pass_tests()
        assert workspace.changed() == []
        agent.request("go")
        (workspace.path / "ours.txt").write_text("ours")
        observe("resolved", workspace.tests.passed())
        observe("count", len(workspace.changed()))
        observe("note", ",".join(workspace.changed()))
        bench.attach("diff", workspace.diff())

    def bench_two_requests(workspace, agent):
        agent.request("go")
        (workspace.path / "ours.txt").write_text("ours")
        workspace.tests.run()
        agent.request("go on")
        observe("note", ",".join(workspace.changed()))

    def bench_reply(workspace, agent):
        reply = agent.request("go")
        observe("note", reply.text.strip())
        observe("count", reply.exit_code)
        observe("resolved", not reply.timed_out and bool(reply.transcript) and reply.usage.cost is None)

    def bench_reads(workspace, agent):
        import os
        (workspace.path / "out").symlink_to("/etc")
        refused = 0
        for path in ("out/passwd", "../secret", "/etc/passwd"):
            try:
                workspace.read(path)
            except Exception:
                refused += 1
        observe("count", refused)
        observe("note", workspace.read("readme.txt"))
        observe("resolved", workspace.exists("readme.txt") and not workspace.exists("absent"))
        expect(workspace).not_.to_have_file("out/passwd")

    def bench_invalid(workspace, agent):
        class Odd:
            def __repr__(self):
                raise RuntimeError("no")
        agent.request("go")
        typo = "resolvd"
        observe(typo, True)
        observe("count", bool(1))
        observe("share", float("nan"))
        observe("note", Odd())
        observe("kind", "patch".upper())
        observe("resolved", None or 1)

    def bench_valid(workspace, agent):
        import enum, numpy
        class Way(enum.Enum):
            patch = "patch"
        observe("resolved", numpy.bool_(True))
        observe("count", numpy.int64(4))
        observe("share", int("1"))
        observe("kind", Way.patch)
        observe("note", "first")
        observe("note", "second")

    def bench_seeded(workspace, agent):
        import random, numpy
        observe("note", f"{random.random()} {numpy.random.random()}")

    def bench_axes(workspace, agent):
        observe("note", bench.axis("agent") + " " + (bench.fixtures / "key.txt").read_text())
        name = "absent"
        bench.axis(name)

    def bench_own_folder(workspace, agent, tmp_path):
        import tempfile
        (tmp_path / "x").write_text("x")
        observe("resolved", workspace.path not in tmp_path.parents and tempfile.gettempdir() != "/tmp")

    def bench_empty_prompt(workspace, agent):
        agent.request("  ")

    @pytest.mark.parametrize("word", ["a", "b"], ids=["a/ü b", "b"])
    def bench_cases(workspace, agent, word):
        observe("note", word)

    @pytest.fixture
    def asked(agent, request):
        agent.request("go")
        return request.param

    @pytest.mark.parametrize("asked", ["through a fixture"], indirect=True, ids=["own"])
    def bench_own_fixture(workspace, asked):
        observe("note", asked)
        observe("resolved", workspace.exists("done.txt"))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = write_bench(
        tmp_path_factory.mktemp("handles") / "bench",
        {"h": "    import numpy\n" + SCENARIOS},
        declare='suite="{python} suite.py", matrix={"agent": "worker"}',
        world={"suite.py": SUITE},
    )
    (made / "fixtures").mkdir()
    (made / "fixtures" / "key.txt").write_text("the key")
    return made


@pytest.fixture(scope="module")
def result(folder: Path) -> RunResult:
    return run(folder, workers=2)


@pytest.fixture(scope="module")
def ended(result: RunResult) -> dict[str, Attempt]:
    return {name.split("::")[1]: attempt for name, attempt in by_scenario(result).items()}


def values(attempt: Attempt) -> dict[str, object]:
    return {key: observation.value for key, observation in attempt.observations.items()}


def record(folder: Path, attempt: Attempt, stage: str) -> list[str]:
    blob = BlobStore(folder / ".bench" / "blobs").read(attempt.changes[stage].blob)
    return [change["path"] for change in json.loads(blob)["changes"]]


def test_the_record_holds_what_the_agent_did_and_nothing_of_ours(folder: Path, ended: dict[str, Attempt]) -> None:
    attempt = ended["record"]
    assert values(attempt) == {"resolved": True, "count": 1, "note": "done.txt"}
    assert record(folder, attempt, "agent") == ["done.txt"]
    assert "ours.txt" in record(folder, attempt, "evaluation")
    assert "done.txt" not in record(folder, attempt, "evaluation")


def test_a_second_request_does_not_inherit_our_writes(folder: Path, ended: dict[str, Attempt]) -> None:
    attempt = ended["two_requests"]
    assert values(attempt)["note"] == "done.txt"
    assert [request.number for request in attempt.requests] == [1, 2]
    assert record(folder, attempt, "agent") == ["done.txt"]


def test_an_attached_diff_is_a_patch(folder: Path, ended: dict[str, Attempt]) -> None:
    (artifact,) = [a for a in ended["record"].artifacts if a.name == "diff"]
    assert (artifact.kind, artifact.media) == ("diff", "text/x-diff")
    data = BlobStore(folder / ".bench" / "blobs").read(artifact.blob)
    assert data.startswith(b"diff --git a/done.txt b/done.txt\nnew file mode 100644\n")
    assert artifact.size == len(data)


def test_a_benchs_own_fixture_reaches_its_scenario(ended: dict[str, Attempt]) -> None:
    assert values(ended["own_fixture"]) == {"note": "through a fixture", "resolved": True}


def test_a_reply_says_what_the_agent_said(ended: dict[str, Attempt]) -> None:
    assert values(ended["reply"]) == {"note": "I did it.", "count": 0, "resolved": True}


def test_a_request_leaves_prompt_text_and_transcript_as_blobs(folder: Path, ended: dict[str, Attempt]) -> None:
    blobs, (request,) = BlobStore(folder / ".bench" / "blobs"), ended["reply"].requests
    assert request.prompt is not None
    assert request.text is not None
    assert request.transcript is not None
    assert blobs.read(request.prompt) == b"go"
    assert blobs.read(request.text).strip() == b"I did it."
    with blobs.open(request.transcript) as file:
        assert next(step.role for step in read_steps(file)) == "user"


def test_no_read_leaves_the_world(ended: dict[str, Attempt]) -> None:
    assert values(ended["reads"]) == {"count": 3, "note": "hello\n", "resolved": True}
    assert ended["reads"].state == "scored"


def test_what_does_not_fit_is_kept_as_invalid_with_its_reason(ended: dict[str, Attempt]) -> None:
    attempt = ended["invalid"]
    assert attempt.state == "scored"
    assert attempt.flags == ("invalid",)
    reasons = {key: observation.reason for key, observation in attempt.observations.items()}
    assert not any(observation.valid for observation in attempt.observations.values())
    assert reasons == {
        "resolvd": "the schema declares no measure 'resolvd'",
        "count": "expected an int, got bool",
        "share": "nan is not a finite number",
        "note": "expected text, got Odd",
        "kind": "'PATCH' is none of patch, rewrite",
        "resolved": "expected a bool, got int",
    }


def test_a_number_that_no_figure_could_hold_is_invalid_when_it_is_observed() -> None:
    share = MeasureSpec("share", "float")
    assert judge(share, "share", -1e100) == (-1e100, "")
    assert judge(share, "share", 2e100) == (2e100, "the number is larger than 1e+100, beyond any figure")


def test_numpy_enums_and_whole_numbers_count_by_value(ended: dict[str, Attempt]) -> None:
    attempt = ended["valid"]
    assert values(attempt) == {"resolved": True, "count": 4, "share": 1.0, "kind": "patch", "note": "second"}
    assert all(observation.valid for observation in attempt.observations.values())
    assert attempt.flags == ("observed_twice",)
    assert attempt.observations["note"].count == 2


def test_chance_follows_the_recorded_seed(folder: Path, result: RunResult, ended: dict[str, Attempt]) -> None:
    seeded = Selection(scenarios=("h::seeded",))
    again = run(folder, workers=1, seed=result.manifest.seed, select=seeded)
    assert values(by_scenario(again)["h::seeded"]) == values(ended["seeded"])
    other = run(folder, workers=1, seed=result.manifest.seed + 1, select=seeded)
    assert values(by_scenario(other)["h::seeded"]) != values(ended["seeded"])


def test_an_unknown_axis_is_told_with_the_known_ones(ended: dict[str, Attempt]) -> None:
    assert ended["axes"].fault == "scenario"
    assert "There is no axis 'absent'" in ended["axes"].reason


def test_scenarios_have_a_folder_of_their_own(ended: dict[str, Attempt]) -> None:
    assert values(ended["own_folder"]) == {"resolved": True}


def test_an_empty_prompt_is_refused(ended: dict[str, Attempt]) -> None:
    assert (ended["empty_prompt"].state, ended["empty_prompt"].fault) == ("run_error", "scenario")


def test_every_case_runs_under_its_own_name(result: RunResult) -> None:
    (scenario,) = [s for s in result.manifest.scenarios if s.id == "h::cases"]
    assert [case.key for case in scenario.cases] == ["a/ü b", "b"]
    position = result.manifest.scenarios.index(scenario)
    notes = {
        scenario.cases[trial.planned.case].key: trial.final.observations["note"].value
        for trial in result.trials
        if trial.planned.scenario == position and trial.final
    }
    assert notes == {"a/ü b": "a", "b": "b"}


@pytest.mark.parametrize("verb", ["observe('x', 1)", "expect(1).to_equal(1)", "bench.axis('x')"])
def test_verbs_outside_a_trial_say_so(verb: str) -> None:
    from runner import bench, expect, observe

    with pytest.raises(RuntimeError, match="only while a trial runs"):
        eval(verb, {"observe": observe, "expect": expect, "bench": bench})
