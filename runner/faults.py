"""What can happen to a trial, and at whose door it lies: the one table that adapters, policies and docs read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["queued", "running", "scored", "excluded", "run_error", "eval_error", "cancelled", "skipped", "not_run"]
Outcome = Literal["solved", "unsolved", "measured"]
Severity = Literal["fatal", "error", "warning", "info"]
Phase = Literal["prepare", "setup", "execution", "collect", "evaluation", "cleanup"]
Door = Literal["subject", "provider", "machine", "bench", "nobody"]

STATES: tuple[State, ...] = (
    "scored", "excluded", "run_error", "eval_error", "cancelled", "skipped", "not_run", "running", "queued",
)  # fmt: skip
OUTCOMES: tuple[Outcome, ...] = ("solved", "unsolved", "measured")
ENDED: frozenset[str] = frozenset(STATES) - {"queued", "running"}
COMPLETE: frozenset[str] = frozenset({"scored", "excluded", "skipped"})
"""States that need no second try: a run whose planned trials are all in these exits 0."""


@dataclass(frozen=True)
class Fault:
    """One row of the table: the trial's state, whose fault it is, and whether another attempt may help."""

    code: str
    state: State
    door: Door
    retried: bool
    sentence: str


def _rows(*rows: Fault) -> dict[str, Fault]:
    return {row.code: row for row in rows}


FAULTS: dict[str, Fault] = _rows(
    Fault("provider", "run_error", "provider", True, "The model's provider answered with an error."),
    Fault("provider_auth", "run_error", "provider", False, "The provider refused the credentials."),
    Fault("provider_model", "run_error", "provider", False, "The provider does not know the model."),
    Fault("boot", "run_error", "machine", True, "The agent's program is missing or did not start."),
    Fault("timeout", "run_error", "subject", False, "The trial reached its wall-clock limit."),
    Fault("protocol", "run_error", "subject", False, "The agent's output could not be read as its protocol."),
    Fault("collect", "run_error", "bench", False, "A collect command failed or timed out."),
    Fault("transport", "run_error", "bench", True, "Files could not be carried out of the environment."),
    Fault("environment", "run_error", "machine", True, "The sandbox or container failed."),
    Fault("lost", "run_error", "machine", True, "The runner or its worker died while the trial ran."),
    Fault("scenario", "run_error", "bench", False, "The scenario raised before the agent had finished."),
    Fault("evaluation", "eval_error", "bench", False, "The scenario raised while it evaluated."),
    Fault("suite", "eval_error", "bench", False, "The workspace's test suite could not start."),
    Fault("judge", "eval_error", "provider", False, "The judge did not answer, or not what was asked for."),
    Fault("judge_refused", "eval_error", "provider", False, "The judge's provider refused the key, or the model."),
    Fault("required", "eval_error", "bench", False, "A required measure was not observed."),
    Fault("regrade", "run_error", "bench", False, "What the agent did could not be put back and graded again."),
    Fault("budget", "run_error", "subject", False, "The trial went over its budget."),
)
"""Fatal faults by code. What a subject does within a trial (timed-out request, non-zero exit, limits, refusal) is
no fatal fault: the scenario goes on, the trial is scored and flagged."""

SUBJECT_FLAGS: dict[str, str] = {
    "request_timeout": "A request timed out; the agent was stopped and graded as it stood.",
    "exit_code": "The agent ended with a non-zero exit code.",
    "context_limit": "The agent ran out of context.",
    "output_limit": "The agent reached its output limit.",
    "step_limit": "The agent reached its step limit.",
    "refusal": "The model refused.",
    "memory_limit": "The agent reached the trial's limit of memory; the kernel ended processes of it.",
    "processes_limit": "The agent reached the trial's limit of processes.",
    "disk_limit": "The agent reached the trial's limit of disk; graded as it stood.",
}
INTEGRITY_FLAGS: dict[str, str] = {
    "tests_edited": "The agent edited tests that were there before.",
    "tests_deleted": "The agent deleted tests.",
    "tests_skipped": "The agent marked tests to be skipped, or left them out of the collection.",
    "outside_read": "A tool call reached for a path outside the world.",
    "hardcoded_output": "What the agent wrote holds expected outputs of the bench's fixtures.",
    "secret_in_file": "A file that the agent changed holds a secret it was handed.",
    "unsafe_submission": "The agent left what may not be carried out or broke what collects it, so nothing was graded.",
}
"""What a reader should look at before believing a score. None of them changes it; each is told with its evidence."""
FLAGS: dict[str, str] = {
    **SUBJECT_FLAGS,
    **INTEGRITY_FLAGS,
    "late_guard": "A guard failed after the agent had acted.",
    "observed_twice": "A measure was observed more than once; the last value counts.",
    "suite_timeout": "The workspace's test suite hung and was stopped.",
    "disk_full": "The limit of disk was reached while the trial was graded: what was found may come of that alone.",
    "invalid": "An observation was invalid and counts as missing.",
    "model_unknown": "A judge graded what a model had done that nobody named: it may be the judge's own.",
    "cleaned": "Text of this trial held what cannot be stored; it is replaced here, the journal has the original.",
    "budget_unenforced": "The cost is unknown, so the budget could not be enforced.",
}
STOPS_A_CELL: frozenset[str] = frozenset({
    "provider", "provider_auth", "provider_model", "boot", "environment", "judge", "judge_refused",
})  # fmt: skip
"""A cell whose first three trials all end in one of these is stopped and says why."""


def fault(code: str) -> Fault:
    return FAULTS[code]


def at_subjects_door(code: str | None) -> bool:
    """Tell whether `errors-fail/1` counts a trial with this fault as the worst value."""
    return code is not None and code in FAULTS and FAULTS[code].door == "subject"
