from __future__ import annotations

from runner.faults import COMPLETE, ENDED, FAULTS, STATES, STOPS_A_CELL, at_subjects_door


def test_every_fault_leads_to_an_error_state_and_has_a_sentence() -> None:
    for code, fault in FAULTS.items():
        assert fault.code == code
        assert fault.state in ("run_error", "eval_error")
        assert fault.sentence.endswith(".")


def test_what_the_subject_or_the_bench_did_is_never_tried_again() -> None:
    again = {code for code, fault in FAULTS.items() if fault.retried}
    assert again == {"provider", "boot", "transport", "environment", "lost"}
    assert not any(at_subjects_door(code) for code in again)


def test_the_subject_answers_for_its_time_its_protocol_and_its_budget_alone() -> None:
    assert {code for code in FAULTS if at_subjects_door(code)} == {"timeout", "protocol", "budget"}
    assert not at_subjects_door(None)
    assert not at_subjects_door("never heard of")


def test_a_cell_is_stopped_by_faults_that_another_trial_would_meet_again() -> None:
    assert FAULTS.keys() >= STOPS_A_CELL
    assert {FAULTS[code].door for code in STOPS_A_CELL} == {"provider", "machine"}


def test_states_are_a_closed_set() -> None:
    assert set(STATES) > ENDED
    assert COMPLETE < ENDED
