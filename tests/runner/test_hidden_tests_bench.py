"""The bench hidden-tests, run as it ships: what its agents plant where they worked gains them nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from runner.blobs import BlobStore
from runner.records import RunResult

from .test_examples import SOLVED, UNSOLVED, by_slot, ended, finals, run_example, value

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed (apt install bubblewrap)"),
]
# agent -> how its trials end, and (resolved, claimed, applies)
EXPECTED = {
    "careful": (SOLVED, (True, True, True)),
    "hasty": (UNSOLVED, (False, True, True)),
    "meddler": (UNSOLVED, (False, True, True)),
    "talker": (UNSOLVED, (False, False, False)),
    "shredder": (("run_error", None), (None, False, None)),
}


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hidden")


@pytest.fixture(scope="module")
def result(worlds: Path) -> RunResult:
    return run_example(worlds, "hidden-tests", environment="sandbox", trials=1)


def test_every_trial_ends_as_its_agent_behaves(result: RunResult) -> None:
    slots = by_slot(result)
    found = {agent: {ended(trial) for trial in trials} for (agent, _), trials in slots.items()}
    assert found == {agent: {state} for agent, (state, _) in EXPECTED.items()}
    assert result.counts == {"scored": 4, "run_error": 1}
    (shredder,) = finals(result, "shredder")
    assert shredder.flags == ("unsafe_submission",)
    (issue,) = (issue for issue in shredder.issues if issue.code == "unsafe_submission")
    assert issue.sentence == "A collect command failed, and the agent had left no git repository where one was."


@pytest.mark.parametrize("agent", EXPECTED)
def test_a_trusting_verifier_is_deceived_and_the_clean_place_is_not(result: RunResult, agent: str) -> None:
    for attempt in finals(result, agent):
        measured = tuple(value(attempt, key) for key in ("resolved", "claimed", "applies"))
        assert measured == EXPECTED[agent][1]


def test_the_meddler_did_poison_the_place_it_left(result: RunResult, worlds: Path) -> None:
    (run_dir,) = worlds.glob(f"*/.bench/runs/{result.manifest.run}")
    for attempt in finals(result, "meddler"):
        assert attempt.kept is not None
        left = {path.name for path in (run_dir / attempt.kept.path).iterdir()}
        assert {"unittest.py", "sitecustomize.py", "watch.py"} <= left
        assert not [path for path in (run_dir / attempt.kept.path).rglob("*") if "hidden" in path.name]


def test_the_submission_alone_is_carried_and_kept(result: RunResult, worlds: Path) -> None:
    (blobs,) = worlds.glob("*/.bench/blobs")
    for attempt in finals(result, "careful"):
        assert [(one.path, one.status, one.files) for one in attempt.collected] == [
            ("/workspace/submission.patch", "collected", 1)
        ]
        (patch,) = [artifact for artifact in attempt.artifacts if artifact.kind == "collected"]
        assert b"+import unicodedata\n" in BlobStore(blobs).read(patch.blob)
        assert patch.size == value(attempt, "size")


def test_what_cannot_be_collected_is_no_result_of_the_agent(result: RunResult) -> None:
    for attempt in finals(result, "shredder"):
        assert (attempt.fault, attempt.phase, attempt.checkpoint) == ("collect", "collect", None)
        assert [one.status for one in attempt.collected] == ["missing"]


def test_the_solution_passes_and_idleness_does_not(worlds: Path) -> None:
    found = by_slot(run_example(worlds, "hidden-tests", environment="sandbox", agents=["oracle", "noop"], trials=1))
    assert {agent: ended(trial) for (agent, _), (trial,) in found.items()} == {"oracle": SOLVED, "noop": UNSOLVED}
