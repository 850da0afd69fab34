from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import JournalError
from runner.faults import ENDED
from runner.journal import MANIFEST, Event, read_events
from runner.manifest import Manifest
from runner.replay import Folding, RunResult, Usage, fold, read
from tests.make import make_run


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("bench"), cells=3, scenarios=3, trials=4)


@pytest.fixture(scope="module")
def manifest(run_dir: Path) -> Manifest:
    return Manifest.read(run_dir / MANIFEST)


@pytest.fixture(scope="module")
def events(run_dir: Path) -> list[Event]:
    return list(read_events(run_dir))


def told(manifest: Manifest, *events: dict[str, Any]) -> RunResult:
    """Fold events about trial 0, attempt 1 unless they say otherwise."""
    return fold(manifest, [{"at": "2026-01-01T00:00:00Z", "trial": 0, "attempt": 1, **event} for event in events])


def finished(state: str = "scored", **fields: Any) -> dict[str, Any]:
    return {"type": "trial.finished", "state": state, "seconds": 1.0, **fields}


STARTED = {"type": "trial.started", "seed": 1, "worker": 0}
END = {"type": "run.finished", "state": "finished"}


def test_a_fold_is_pure(manifest: Manifest, events: list[Event]) -> None:
    before = copy.deepcopy(events)
    assert fold(manifest, events) == fold(manifest, iter(events))
    assert events == before


def test_a_run_reads_the_same_from_its_folder(run_dir: Path, manifest: Manifest, events: list[Event]) -> None:
    assert read(run_dir) == fold(manifest, events)


def test_every_planned_trial_is_there_in_its_place(manifest: Manifest, events: list[Event]) -> None:
    result = fold(manifest, events)
    assert [trial.planned.index for trial in result.trials] == list(range(len(manifest.rows)))
    assert sum(result.counts.values()) == len(manifest.rows)
    assert set(result.counts) <= ENDED


@given(data=st.data())
def test_any_beginning_of_a_journal_folds_and_keeps_what_had_ended(
    manifest: Manifest, events: list[Event], data: st.DataObject
) -> None:
    """kill -9 at any moment loses at most the trials then running."""
    cut = data.draw(st.integers(0, len(events)))
    part, whole = fold(manifest, events[:cut]), fold(manifest, events)
    ended = {(attempt.trial, attempt.number) for attempt in map(Folding().feed, events[:cut]) if attempt}
    for before, after in zip(part.trials, whole.trials, strict=True):
        kept = [attempt for attempt in before.attempts if (attempt.trial, attempt.number) in ended]
        assert kept == [attempt for attempt in after.attempts if (attempt.trial, attempt.number) in ended]


def test_the_order_of_trials_in_the_journal_does_not_change_the_result(manifest: Manifest, events: list[Event]) -> None:
    about = [event for event in events if "trial" in event]
    other = [event for event in events if "trial" not in event]
    by_trial = sorted(about, key=lambda event: -event["trial"])
    assert fold(manifest, [*by_trial, *other]).trials == fold(manifest, events).trials


def test_streaming_holds_only_open_attempts(events: list[Event]) -> None:
    folding, most = Folding(), 0
    for event in events:
        folding.feed(event)
        most = max(most, len(folding.open))
    assert most <= 2
    assert folding.open == {}


def test_a_killed_trial_is_lost_not_failed(manifest: Manifest) -> None:
    result = told(manifest, STARTED, END)
    trial = result.trials[0]
    assert (trial.state, trial.final.fault if trial.final else None) == ("run_error", "lost")
    assert result.trials[1].state == "not_run"


def test_while_the_run_goes_on_open_trials_run_and_others_wait(manifest: Manifest) -> None:
    result = told(manifest, STARTED)
    assert (result.trials[0].state, result.trials[1].state) == ("running", "queued")


def test_a_trial_of_tens_of_thousands_of_issues_folds_in_no_time_ended_or_not(manifest: Manifest) -> None:
    noisy = [{"type": "issue", "severity": "warning", "code": "x", "sentence": str(n)} for n in range(30_000)]
    for end in ([], [finished()]):  # with a copy of the list for each it took a quarter of a minute
        attempt = told(manifest, STARTED, *noisy, *end).trials[0].attempts[0]
        assert isinstance(attempt.issues, tuple)
        assert [issue.sentence for issue in attempt.issues] == [event["sentence"] for event in noisy]


def test_the_last_attempt_counts_and_cost_sums_all(manifest: Manifest) -> None:
    result = told(
        manifest,
        STARTED,
        finished("run_error", fault="provider", usage={"cost": 0.25, "tokens_in": 5}),
        {"type": "trial.retried", "code": "provider"},
        {**STARTED, "attempt": 2},
        {**finished(outcome="solved", usage={"cost": 0.5}), "attempt": 2},
    )
    trial = result.trials[0]
    assert (trial.state, len(trial.attempts), trial.usage.cost, trial.usage.tokens_in) == ("scored", 2, 0.75, 5)


def test_a_trial_that_is_run_after_all_is_no_longer_not_run(manifest: Manifest) -> None:
    unrun = {"type": "trial.not_run", "state": "cancelled", "reason": "Ctrl-C"}
    assert told(manifest, unrun).trials[0].state == "cancelled"
    assert told(manifest, unrun, {"type": "run.resumed"}, STARTED, finished()).trials[0].state == "scored"


def observed(value: Any, *, valid: bool = True) -> dict[str, Any]:
    return {"type": "observe", "measure": "score", "value": value, "valid": valid, "reason": "" if valid else "no"}


@pytest.mark.parametrize(
    ("seen", "value", "valid"),
    [
        ([observed(1.0), observed(2.0)], 2.0, True),
        ([observed(1.0), observed("x", valid=False)], 1.0, True),
        ([observed("x", valid=False), observed(3.0)], 3.0, True),
        ([observed("x", valid=False), observed("y", valid=False)], "y", False),
    ],
)
def test_the_last_valid_observation_counts(manifest: Manifest, seen: list[Any], value: Any, valid: bool) -> None:
    trial = told(manifest, STARTED, *seen, finished()).trials[0]
    assert trial.final is not None
    kept = trial.final.observations["score"]
    assert (kept.value, kept.valid, kept.count) == (value, valid, 2)


def test_unknown_cost_stays_unknown_and_known_cost_is_summed() -> None:
    assert (Usage() + Usage()).cost is None
    assert (Usage(cost=0.5) + Usage()).cost == 0.5
    assert (Usage(cost=0.5, estimated=True) + Usage(cost=1.0)) == Usage(cost=1.5, estimated=True)
    assert Usage.from_json(Usage(tokens_in=0, cost=0.0).to_json()) == Usage(tokens_in=0, cost=0.0)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "trial.finished", "attempt": 1},
        {"type": "trial.finished", "state": "won"},
        {"type": "trial.finished", "state": "scored", "outcome": "brilliant"},
        {"type": "trial.finished", "state": "scored", "seconds": "1"},
        {"type": "trial.finished", "state": "scored", "headline": {}},
        {"type": "trial.not_run", "state": ["x"]},
        {"type": "trial.started", "trial": [1]},
        {"type": "request", "number": 1, "usage": {"cost": "free"}},
        {"type": "request", "number": 1, "usage": [1]},
        {"type": "observe"},
        {"type": "trial.finished", "state": "scored", "seconds": float("nan")},
        {"type": "request", "number": 1, "usage": {"cost": 10**400}},
        {"type": "phase", "phase": "setup", "seconds": "x"},
        {"type": "run.finished"},
    ],
)
def test_a_misshapen_event_is_refused_in_a_sentence(manifest: Manifest, event: dict[str, Any]) -> None:
    with pytest.raises(JournalError, match="cannot be read"):
        told(manifest, event)


def test_a_run_with_an_error_is_not_complete(manifest: Manifest) -> None:
    assert not told(manifest, STARTED, finished("run_error", fault="boot"), END).complete


def test_events_of_types_not_known_yet_are_left_aside(manifest: Manifest) -> None:
    plain = told(manifest, STARTED, finished(), END)
    assert told(manifest, STARTED, {"type": "invented_later"}, finished(), END) == plain
