"""The benches that ship are run for real: the numbers on a page are known to follow what the agents did."""

from __future__ import annotations

import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from runner.cli.coverage import told_flags
from runner.faults import INTEGRITY_FLAGS
from runner.integrity import place_of
from runner.replay import Attempt, RunResult, Trial
from runner.running import run
from runner.statistics.summary import summary

EXAMPLES = Path(__file__).parents[2] / "examples"
SCENARIOS = ("add_feature", "fix_bug", "refactor")
SOLVED, UNSOLVED = ("scored", "solved"), ("scored", "unsolved")

# cell -> what each of its three trials ends as, by scenario in the order of SCENARIOS
FIX_PARSER = {
    "careful": ([SOLVED] * 3, [SOLVED] * 3, [SOLVED] * 3),
    "hasty": ([UNSOLVED] * 3, [UNSOLVED] * 3, [UNSOLVED] * 3),
    "meddler": ([UNSOLVED] * 3, [UNSOLVED] * 3, [UNSOLVED] * 3),
    "lost": ([UNSOLVED] * 3, [UNSOLVED] * 3, [UNSOLVED] * 3),
    "looper": ([UNSOLVED] * 3, [SOLVED] * 3, [UNSOLVED] * 3),
    "crasher": ([UNSOLVED] * 3, [UNSOLVED] * 3, [UNSOLVED] * 3),
    # which trials it gives up on is drawn from the run's seed
    "flaky": ([UNSOLVED, SOLVED, SOLVED], [SOLVED, SOLVED, UNSOLVED], [UNSOLVED, UNSOLVED, SOLVED]),
    "misplaced": ([SOLVED] * 3, [SOLVED] * 3, [("excluded", None)] * 3),
    "absent": ([("run_error", None)] + [("not_run", None)] * 2,) * 3,
}
# (failing, collateral, churn, tests_edited, approach) by scenario in the order of SCENARIOS
MEASURED = {
    "careful": ((1, 0, 10, False, "focused"), (0, 0, 5, False, "focused"), (1, 0, 38, False, "focused")),
    "hasty": ((1, 0, 8, False, "focused"), (3, 0, 2, False, "focused"), (2, 0, 35, False, "focused")),
    "meddler": ((1, 1, 4, True, "tests edited"), (0, 1, 2, True, "tests edited"), (1, 1, 12, True, "tests edited")),
    "lost": ((1, 1, 2, False, "astray"),) * 3,
    "looper": ((1, 1, 1, False, "astray"), (0, 0, 5, False, "focused"), (1, 0, 0, False, "nothing")),
    "crasher": ((5, 0, 2, False, "focused"),) * 3,
}


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of worlds and the copies of the benches: nothing is left in examples/."""
    return tmp_path_factory.mktemp("examples")


@pytest.fixture(scope="module")
def fix_parser(worlds: Path) -> RunResult:
    return run_example(worlds, "fix-parser")


@pytest.fixture(scope="module")
def answers(worlds: Path) -> RunResult:
    return run_example(worlds, "answers")


def run_example(worlds: Path, name: str, **asked: object) -> RunResult:
    folder = worlds / f"{name}-{len(list(worlds.iterdir()))}"
    shutil.copytree(EXAMPLES / name, folder, ignore=shutil.ignore_patterns(".bench", "__pycache__"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHSITE_WORLDS", str(worlds / "live"))
        return run(folder, workers=2, seed=1, **{"environment": "local", **asked})  # type: ignore[arg-type]


def by_slot(result: RunResult) -> dict[tuple[str, str], list[Trial]]:
    """Trials by (agent, scenario or case), in order of their number."""
    found: dict[tuple[str, str], list[Trial]] = defaultdict(list)
    for trial in result.trials:
        scenario = result.manifest.scenarios[trial.planned.scenario]
        case = scenario.cases[trial.planned.case].key
        found[result.manifest.cells[trial.planned.cell].axes["agent"], case or scenario.id].append(trial)
    return found


def ended(trial: Trial) -> tuple[str, str | None]:
    return trial.state, trial.final.outcome if trial.final else None


def finals(result: RunResult, agent: str, scenario: str = "") -> list[Attempt]:
    slots = by_slot(result).items()
    trials = [trial for (who, what), found in slots for trial in found if who == agent and scenario in ("", what)]
    return [trial.final for trial in trials if trial.final is not None]


def value(attempt: Attempt, measure: str) -> object:
    return attempt.observations[measure].value if measure in attempt.observations else None


def test_every_trial_of_fix_parser_ends_as_its_agent_behaves(fix_parser: RunResult) -> None:
    slots = by_slot(fix_parser)
    found = {
        agent: tuple([ended(trial) for trial in slots[agent, scenario]] for scenario in SCENARIOS)
        for agent in dict.fromkeys(agent for agent, _ in slots)
    }
    assert found == FIX_PARSER
    assert fix_parser.counts == {"scored": 69, "excluded": 3, "run_error": 3, "not_run": 6}


@pytest.mark.parametrize("agent", MEASURED)
def test_measures_say_what_the_agent_did(fix_parser: RunResult, agent: str) -> None:
    keys = ("failing", "collateral", "churn", "tests_edited", "approach")
    for scenario, expected in zip(SCENARIOS, MEASURED[agent], strict=True):
        for attempt in finals(fix_parser, agent, scenario):
            assert tuple(value(attempt, key) for key in keys) == expected, (agent, scenario)
            assert all(observation.valid for observation in attempt.observations.values())


MEDDLING = {  # the flag that each scenario earns the meddler, and the file that is its evidence
    "add_feature": ("tests_edited", "tests/test_lexer.py"),
    "fix_bug": ("tests_edited", "tests/test_evaluator.py"),
    "refactor": ("tests_deleted", "tests/test_printer.py"),
}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_meddler_is_flagged_with_its_evidence(fix_parser: RunResult, scenario: str) -> None:
    flag, path = MEDDLING[scenario]
    for attempt in finals(fix_parser, "meddler", scenario):
        assert attempt.flags == (flag,)
        (issue,) = attempt.issues
        place = place_of(issue.detail)
        assert (issue.severity, issue.code, place and place.path) == ("warning", flag, path)


def test_honest_agents_are_not_flagged_for_meddling(fix_parser: RunResult) -> None:
    for agent in FIX_PARSER.keys() - {"meddler"}:
        assert not {flag for attempt in finals(fix_parser, agent) for flag in attempt.flags} & INTEGRITY_FLAGS.keys()


def test_the_command_line_tells_every_flag_doubts_first(fix_parser: RunResult) -> None:
    assert list(told_flags(summary(fix_parser))) == [
        "Flagged trials, their scores as they were measured: 6 tests_edited, 3 tests_deleted.",
        "Also flagged: 9 request_timeout, 12 exit_code.",
    ]


def test_a_timed_out_agent_is_graded_as_it_stood(fix_parser: RunResult) -> None:
    for attempt in finals(fix_parser, "looper"):
        assert attempt.flags == ("request_timeout",)
        assert [request.timed_out for request in attempt.requests] == [True]


def test_a_crash_is_a_finding_not_an_error(fix_parser: RunResult) -> None:
    attempts = finals(fix_parser, "crasher")
    assert {(attempt.state, attempt.flags, attempt.fault) for attempt in attempts} == {("scored", ("exit_code",), None)}
    assert {attempt.requests[0].exit_code for attempt in attempts} == {3}


def test_a_guard_excludes_where_the_world_was_not_as_assumed(fix_parser: RunResult) -> None:
    for attempt in finals(fix_parser, "misplaced", "refactor"):
        (guard,) = attempt.guards
        assert "docs/style.md" in guard.sentence
        assert guard.where.startswith("tests/bench_refactor.py:")
        assert not guard.late
        assert not attempt.requests


def test_an_agent_that_cannot_boot_stops_its_cell_and_says_why(fix_parser: RunResult) -> None:
    absent = [cell.axes["agent"] for cell in fix_parser.manifest.cells].index("absent")
    assert list(fix_parser.stopped) == [absent]
    assert "boot" in fix_parser.stopped[absent]
    assert {(attempt.fault, attempt.headline) for attempt in finals(fix_parser, "absent")} == {("boot", None)}


def test_worlds_of_unsolved_trials_are_kept_and_no_others(fix_parser: RunResult) -> None:
    for trial in fix_parser.trials:
        if trial.final is not None:
            assert (trial.final.kept is not None) is (ended(trial) != SOLVED), fix_parser.manifest.where(
                trial.planned.index
            )


def test_a_kept_world_is_as_the_agent_left_it(fix_parser: RunResult, worlds: Path) -> None:
    (run_dir,) = worlds.glob(f"fix-parser-*/.bench/runs/{fix_parser.manifest.run}")
    for attempt in (*finals(fix_parser, "crasher"), *finals(fix_parser, "meddler")):
        assert attempt.kept is not None
        world = run_dir / attempt.kept.path
        assert not list(world.rglob("hidden_*"))
        assert not list(world.rglob("__pycache__"))
    deleted = finals(fix_parser, "meddler", "refactor")[0].kept
    assert deleted is not None
    assert not (run_dir / deleted.path / "tests/test_printer.py").exists()


def test_what_was_spent_is_known_where_the_agent_said_it(fix_parser: RunResult) -> None:
    assert {attempt.usage.cost for attempt in finals(fix_parser, "careful", "fix_bug")} == {0.021}
    assert {attempt.usage.cost for attempt in finals(fix_parser, "crasher")} == {None}


def test_the_solution_reaches_every_headline_and_idleness_none(worlds: Path) -> None:
    result = run_example(worlds, "fix-parser", agents=["oracle", "noop"], trials=1)
    found = {key: ended(trial) for key, (trial,) in by_slot(result).items()}
    assert {found["oracle", scenario] for scenario in SCENARIOS} == {SOLVED}
    assert {found["noop", scenario] for scenario in SCENARIOS} == {UNSOLVED}


@pytest.mark.sandbox
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed (apt install bubblewrap)")
def test_a_sandbox_gives_the_same_results(worlds: Path) -> None:
    agents = ["careful", "meddler", "crasher", "misplaced"]
    result = run_example(worlds, "fix-parser", environment="sandbox", agents=agents, trials=1)
    assert result.manifest.isolation == "sandbox"
    found = {key: ended(trial) for key, (trial,) in by_slot(result).items()}
    expected = {(a, s): FIX_PARSER[a][n][0] for a in agents for n, s in enumerate(SCENARIOS)}
    assert found == expected


# case -> (verdict of the apprentice, of the master)
ANSWERS = {
    "sum": ("right", "right"),
    "product": ("right", "right"),
    "roman-additive": ("right", "right"),
    "roman-subtractive": ("wrong", "right"),
    "weekday": ("declined", "right"),
    "leap-year": ("declined", "right"),
    "metres": ("declined", "wrong"),
    "riddle": ("declined", "declined"),
}


def test_every_answer_is_judged_as_it_deserves(answers: RunResult) -> None:
    slots = by_slot(answers)
    assert list(dict.fromkeys(case for _, case in slots)) == list(ANSWERS)
    for case, verdicts in ANSWERS.items():
        for agent, verdict in zip(("apprentice", "master"), verdicts, strict=True):
            assert [ended(trial) for trial in slots[agent, case]] == [SOLVED if verdict == "right" else UNSOLVED] * 2
            assert {value(attempt, "verdict") for attempt in finals(answers, agent, case)} == {verdict}


def test_a_measure_that_does_not_apply_is_missing_not_zero(answers: RunResult) -> None:
    assert {value(attempt, "error") for attempt in finals(answers, "master", "weekday")} == {None}
    (error,) = {value(attempt, "error") for attempt in finals(answers, "master", "metres")}
    assert error == pytest.approx(0.4812, abs=1e-4)


def test_grading_on_the_reply_alone_needs_no_environment(answers: RunResult) -> None:
    assert [plan["mode"] for plan in answers.manifest.plans] == ["none"]
    assert answers.manifest.template is None
