"""What ends a scenario early, and the one rule of which state that makes of its trial."""

from __future__ import annotations

from dataclasses import dataclass

from runner.faults import FAULTS, fault


class GuardFailed(AssertionError):
    """An `expect` did not hold. The trial is excluded already when this is raised; catching it changes nothing."""


class TrialFault(BaseException):
    """A fatal fault. No plain Exception: `except Exception` in a scenario must not resume a trial that is over."""

    def __init__(self, code: str, sentence: str, detail: str = "") -> None:
        super().__init__(sentence)
        self.code, self.sentence, self.detail = code, sentence, detail


@dataclass(frozen=True)
class Verdict:
    """The state a trial ends in, decided by the first decisive thing that happened to it."""

    state: str
    fault: str | None = None
    phase: str | None = None
    reason: str = ""

    @classmethod
    def of_fault(cls, code: str, phase: str, reason: str = "") -> Verdict:
        row = fault(code)
        return cls(row.state, code, phase, reason or FAULTS[code].sentence)
