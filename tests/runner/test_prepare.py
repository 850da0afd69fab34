from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from runner.blobs import BlobStore
from runner.definition import Artifact, Collect
from runner.errors import AgentMissing, BenchError, EnvironmentRefused
from runner.manifest import Manifest
from runner.plans import EvaluationRequest, path_fault
from runner.prepare import Prepared, prepare

from .authoring import AGENTS, SCENARIO, write_bench, write_files

HEAD = "import pytest\nfrom runner import *\nfrom runner import bench, expect, observe\n"
TWO = 'agents={"a": Scripted([]), "b": Scripted([])}, matrix={"agent": ["a", "b"]}, trials=3, environment="local"'


@pytest.fixture(autouse=True)
def _worlds(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHSITE_WORLDS", str(tmp_path_factory.mktemp("worlds")))


def prepared(folder: Path, options: str = AGENTS, scenario: str = SCENARIO, **asked: object) -> Prepared:
    return prepare(write_bench(folder, options, files={"tests/bench_it.py": scenario}), **asked)  # type: ignore[arg-type]


def refused(folder: Path, options: str = AGENTS, scenario: str = SCENARIO, **asked: object) -> str:
    with pytest.raises((BenchError, AgentMissing, EnvironmentRefused)) as caught:
        prepared(folder, options, scenario, **asked)
    return str(caught.value)


def test_a_manifest_holds_all_that_a_run_is(tmp_path: Path) -> None:
    files = {"README.md": "# Demo\n", "tests/bench_cases.py": HEAD + '''
@pytest.mark.parametrize("n", [1, 2], ids=["one", "two"])
def bench_cases(agent, n):
    agent.request("Go.")
'''}  # fmt: skip
    found = prepare(write_bench(tmp_path, TWO, files=files), seed=7)
    manifest = found.manifest
    assert [(s.id, [case.key for case in s.cases]) for s in manifest.scenarios] == [
        ("cases", ["one", "two"]),
        ("it", [""]),
    ]
    assert manifest.scenarios[0].cases[1].params == {"n": "2"}
    assert (manifest.scenarios[1].line, manifest.scenarios[1].doc) == (3, "Does it?")
    assert [cell.id for cell in manifest.cells] == ["agent=a", "agent=b"]
    assert len(manifest.rows) == 3 * 2 * 3
    assert (manifest.seed, manifest.retain, manifest.environment, manifest.isolation) == (7, "failed", "local", "none")
    assert manifest.sealed == found.sealed.digest
    blobs = BlobStore(tmp_path / ".bench/blobs")
    assert all(blobs.has(digest) for digest in manifest.blobs())
    assert blobs.read(manifest.readme or "") == b"# Demo\n"
    assert Manifest.from_json(json.loads(json.dumps(manifest.to_json()))) == manifest


def test_trials_are_started_in_rounds_that_interleave_the_cells(tmp_path: Path) -> None:
    first, again, other = (prepared(tmp_path, TWO, seed=seed).manifest for seed in (1, 1, 2))
    assert first.order == again.order != other.order
    assert sorted(first.order) == list(range(len(first.rows)))
    trials = [first.trials[index] for index in first.order]
    assert [trial.number for trial in trials] == sorted(trial.number for trial in trials)
    assert all({a.cell, b.cell} == {0, 1} for a, b in zip(trials[::2], trials[1::2], strict=True))


def test_what_is_asked_at_the_run_goes_before_what_is_declared(tmp_path: Path) -> None:
    manifest = prepared(tmp_path, TWO, trials=2, agents=["oracle", "noop"]).manifest
    assert [cell.axes["agent"] for cell in manifest.cells] == ["oracle", "noop"]
    assert Counter(trial.cell for trial in manifest.trials) == {0: 2, 1: 2}
    assert "trials=0" in refused(tmp_path, TWO, trials=0)


def test_the_seed_is_drawn_and_recorded_when_none_is_given(tmp_path: Path) -> None:
    assert prepared(tmp_path).manifest.seed != prepared(tmp_path).manifest.seed


def test_a_file_with_several_scenarios_names_them_by_function(tmp_path: Path) -> None:
    scenario = (
        HEAD
        + """
def bench_one(agent): ...
def bench_two(agent): ...
@pytest.mark.scenario(id="kept")
def bench_three(agent): ...
"""
    )
    write_files(tmp_path, {"tests/deep/bench_more.py": HEAD + "def bench_any(agent): ...\n"})
    ids = [one.id for one in prepared(tmp_path, scenario=scenario).manifest.scenarios]
    assert ids == ["it::one", "it::two", "kept", "deep/more"]


def test_two_scenarios_of_one_name_are_refused_with_both_places(tmp_path: Path) -> None:
    scenario = HEAD + '@pytest.mark.scenario(id="twin")\ndef bench_one(agent): ...\n'
    write_files(tmp_path, {"tests/bench_other.py": scenario})
    message = refused(tmp_path, scenario=scenario)
    assert f"{tmp_path / 'tests/bench_other.py'}:" in message
    assert "The scenario id 'twin' is taken by tests/bench_it.py:" in message


def test_pins_hold_what_was_applied_and_no_secret(tmp_path: Path) -> None:
    options = """
        agents={"tool": Command("env true {model}", env={"TOKEN": "t0ps3cret"}, version="{python} --version")},
        matrix={"agent": "tool", "model": ["small", "large"], "env.KEY": ["hunter2"]}, secrets=["env.KEY"],
        environment="local"
    """
    manifest = prepared(tmp_path, options).manifest
    assert [cell.pin["model"] for cell in manifest.cells] == ["small", "large"]
    assert manifest.cells[0].pin["agent"] == "tool"
    assert manifest.cells[0].pin["version"].startswith("3.")
    written = json.dumps(manifest.to_json())
    assert "hunter2" not in written
    assert "t0ps3cret" not in written
    sealed_store = (tmp_path / ".bench/schema.json").read_text()
    assert "hunter2" not in sealed_store


def test_an_absent_program_is_refused_with_the_agents_name(tmp_path: Path) -> None:
    message = refused(tmp_path, 'agents={"mine": Command("no-such-program-x")}, environment="local"')
    assert message.startswith(f"{tmp_path / 'bench.py'}:6: The agent 'mine' cannot be run. ")
    assert "'no-such-program-x'" in message
    assert "PATH" in message


def test_no_scenario_is_said(tmp_path: Path) -> None:
    write_bench(tmp_path)
    (tmp_path / "tests/bench_it.py").unlink()
    with pytest.raises(BenchError, match=r"No scenario found: no file matches 'tests/\*\*/bench_\*.py'"):
        prepare(tmp_path)
    assert "No scenario found" in refused(tmp_path, scenario="x = 1\n")


def test_a_scenario_file_that_does_not_import_is_told_with_its_traceback(tmp_path: Path) -> None:
    message = refused(tmp_path, scenario="import nowhere_to_be_found\n\ndef bench_it(agent): ...\n")
    assert str(tmp_path / "tests/bench_it.py") in message
    assert "No module named 'nowhere_to_be_found'" in message
    assert "could not be imported" in message
    assert ".bench/sealed" not in message


def test_a_missing_fixture_is_told_with_file_and_line(tmp_path: Path) -> None:
    message = refused(tmp_path, scenario=HEAD + "def bench_it(workspace, agnet): ...\n")
    assert message.startswith(f"{tmp_path / 'tests/bench_it.py'}:4: ")
    assert "'agnet', which is no fixture" in message


def test_cases_need_ids_of_their_own(tmp_path: Path) -> None:
    scenario = HEAD + '@pytest.mark.parametrize("n", [1, 2])\ndef bench_it(agent, n): ...\n'
    assert "A case of bench_it has no id" in refused(tmp_path, scenario=scenario)


def test_typos_are_caught_before_anything_runs(tmp_path: Path) -> None:
    message = refused(tmp_path, scenario=SCENARIO.replace('"solved"', '"sovled"'))
    assert message == (
        f"{tmp_path / 'tests/bench_it.py'}:6: The schema declares no measure 'sovled'; did you mean 'solved'?"
    )


def test_an_unknown_axis_in_a_scenario_is_refused(tmp_path: Path) -> None:
    assert "The matrix has no axis 'model'" in refused(tmp_path, scenario=SCENARIO + '    bench.axis("model")\n')


MARKED = (
    HEAD
    + """
@pytest.mark.evaluation({mark})
def bench_it(agent{more}):
    agent.request("Go.")
"""
)


@pytest.mark.parametrize(
    ("mark", "more", "said"),
    [
        (
            '"none"',
            "",
            "bench_it is evaluated in mode 'none' (chosen by the scenario) but has no parameter `evaluation`",
        ),
        ('"fresh"', ", evaluation", "'local' has no clean place: it is this machine itself; use the sandbox"),
        ('"fresh"', "", "in mode 'fresh' (chosen by the scenario) but has no parameter `evaluation`"),
        ('collect=["true"]', "", "declares collect commands but has no parameter `evaluation`"),
        ('collect=["cat /fixtures/x"]', ", evaluation", "names /fixtures in the collect command 'cat /fixtures/x'"),
        ('artifacts=["/fixtures/x"]', ", evaluation", "but fixtures are never the agent's to hand in"),
        ('artifacts=["/etc/passwd"]', ", evaluation", "cannot carry out; it can carry what lies below /workspace"),
        ('artifacts=["/workspace/a"] * 2', ", evaluation", "declares the artifact '/workspace/a' twice"),
        ('"none", fixtures=True', ", evaluation", "in mode 'none' no environment is open"),
        ('"reuse", fixtures=1', ", evaluation", "must give fixtures as True or False"),
        ('artifacts="/workspace/a"', ", evaluation", "must give artifacts as a list of paths"),
        ('collect=[Collect("true", timeout=0)]', ", evaluation", "must give collect as a list of Collect"),
        ('artifacts=["out.txt"]', ", evaluation", "the artifact 'out.txt', which is not absolute"),
        ('artifacts=["/workspace/../etc"]', ", evaluation", "which is not normalised; write '/etc'"),
        ('artifacts=["/workspace/out"]', "", "declares artifacts but has no parameter `evaluation`"),
        ('"again"', ", evaluation", "names the mode 'again'"),
    ],
)
def test_an_evaluation_that_cannot_be_is_refused_with_file_and_line(
    tmp_path: Path, mark: str, more: str, said: str
) -> None:
    message = refused(tmp_path, scenario=MARKED.format(mark=mark, more=more))
    assert message.startswith(f"{tmp_path / 'tests/bench_it.py'}:")
    assert said in message


def test_request_goes_before_mark_before_bench(tmp_path: Path) -> None:
    scenario = MARKED.format(
        mark='artifacts=["/workspace/a"], collect=[Collect("true", timeout=5)]', more=", evaluation"
    )
    plans = {
        "bench": prepared(tmp_path, f'evaluation="none", {AGENTS}', scenario),
        "scenario": prepared(tmp_path, AGENTS, scenario.replace("artifacts=[", '"none", artifacts=[')),
        "request": prepared(
            tmp_path, AGENTS, scenario, evaluation=EvaluationRequest("none", artifacts=("/workspace/b",))
        ),
    }
    for source, found in plans.items():
        (plan,) = found.manifest.plans
        assert (plan["mode"], plan["source"]) == ("none", source)
        assert plan["collect"] == [{"command": "true", "timeout": 5}]
        path = "/workspace/b" if source == "request" else "/workspace/a"
        assert plan["artifacts"] == [{"path": path, "exclude": []}]
    assert "has no parameter `evaluation`" in refused(tmp_path, evaluation="none")
    assert "evaluation='twice' is not one of" in refused(tmp_path, evaluation="twice")


def test_lists_that_a_run_is_asked_for_part_it_from_others_and_can_be_asked_for_again(tmp_path: Path) -> None:
    scenario = MARKED.format(mark='artifacts=["/workspace/a"]', more=", evaluation")
    asked = EvaluationRequest(artifacts=(Artifact("/workspace/b", ["*.log"]),), collect=(Collect("true", timeout=5),))
    plain, other = prepared(tmp_path, AGENTS, scenario), prepared(tmp_path, AGENTS, scenario, evaluation=asked)
    assert plain.manifest.requested == {}
    assert plain.manifest.cohort != other.manifest.cohort
    assert Manifest.from_json(other.manifest.to_json()).cohort == other.manifest.cohort
    assert EvaluationRequest.again(None, other.manifest.requested) == asked


def test_a_policy_that_cannot_switch_is_refused(tmp_path: Path) -> None:
    options = f'network=Network(evaluation="none"), {AGENTS.replace("local", "auto")}'
    scenario = HEAD + 'def bench_it(agent, evaluation):\n    agent.request("Go.")\n'
    assert "network" in refused(tmp_path, options, scenario)


@pytest.mark.parametrize(
    ("path", "fine"),
    [
        ("/workspace/a", True),
        ("/", False),
        ("a", False),
        ("/a/", False),
        ("//a", False),
        ("/a/./b", False),
        ("/a\0", False),
    ],
)
def test_environment_paths(path: str, fine: bool) -> None:
    assert (path_fault(path) is None) is fine


def test_a_suite_that_cannot_start_is_refused(tmp_path: Path) -> None:
    message = refused(tmp_path, f'suite="no-such-suite-x", {AGENTS}')
    assert "The suite 'no-such-suite-x' cannot start on the untouched world" in message


def test_a_suite_that_fails_is_the_benchs_affair(tmp_path: Path) -> None:
    assert prepared(tmp_path, f"suite='{{python}} -c \"raise SystemExit(1)\"', {AGENTS}").manifest.rows


def test_a_suite_that_hangs_is_warned_of(tmp_path: Path) -> None:
    options = f"""suite='{{python}} -c "import time; time.sleep(60)"', timeouts=Timeouts(suite=0.3), {AGENTS}"""
    assert "The suite ran longer than 0.3 s on the untouched world." in prepared(tmp_path, options).warnings


def test_a_setup_that_fails_is_told_with_its_line(tmp_path: Path) -> None:
    schema = "def setup(workspace_path, cell):\n    raise KeyError(cell)\nclass Schema:\n    solved: bool\n"
    folder = write_bench(tmp_path, f"setup=setup, suite='{{python}} --version', {AGENTS}", schema)
    with pytest.raises(BenchError, match=r"bench.py:4: It raised KeyError"):
        prepare(folder)


def test_a_budget_that_nobody_can_count_is_declared_unenforced(tmp_path: Path) -> None:
    options = 'agents={"tool": Command("true")}, budget=Budget(trial="$1", total=20), environment="local"'
    found = prepared(tmp_path, options)
    assert any("The budget is not enforced for tool" in warning for warning in found.warnings)
    assert found.manifest.limits["budget"] == {"trial": 1.0, "total": 20.0}


def test_no_isolation_is_said(tmp_path: Path) -> None:
    assert any(warning.startswith("isolation: none.") for warning in prepared(tmp_path).warnings)
    assert "sandbox" in refused(tmp_path, f"isolation='sandbox', {AGENTS}")


def test_the_source_is_never_written(tmp_path: Path) -> None:
    write_bench(tmp_path, f"suite='{{python}} -m unittest', {AGENTS}")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    prepare(tmp_path)
    after = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if ".bench" not in path.parts}
    assert after == before
