"""`check`: is the bench itself sound? Its own solution must reach the headline, and doing nothing must not."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .definition import Bench
from .engine import OnEvent
from .errors import BenchError
from .manifest import Manifest
from .prepare import Prepared
from .records import RunResult, Trial
from .reports.figures import number
from .running import TRIES, run
from .schema import MeasureSpec
from .selection import Selection

ORACLE, NOOP = "oracle", "noop"


@dataclass(frozen=True)
class CheckedCase:
    """One case: how `oracle` and `noop` ended, in words, and what is wrong with that ("" where all is well)."""

    scenario: str
    case: str
    file: str
    line: int
    oracle: str
    noop: str
    problem: str


@dataclass(frozen=True)
class Checked:
    result: RunResult
    cases: tuple[CheckedCase, ...]

    @property
    def ok(self) -> bool:
        """A cancelled check has proved nothing."""
        return self.result.state == "finished" and not any(case.problem for case in self.cases)


def check(
    folder: Path | str | Bench,
    *,
    scenarios: tuple[str, ...] = (),
    environment: str | None = None,
    workers: int | None = None,
    on_event: OnEvent | None = None,
    on_prepared: Callable[[Prepared], None] | None = None,
    cancel: threading.Event | None = None,
) -> Checked:
    """Run oracle and noop once over every case, in the first cell of each: their axes beside `agent` change nothing.

    The run is put under `.bench/tries`, apart from the runs, with every world kept that may be needed to understand it.
    """

    def prepared(plan: Prepared) -> None:
        _judged(plan.manifest)  # a bench without a headline that can be missed is refused before anything runs
        if on_prepared is not None:
            on_prepared(plan)

    result = run(
        folder, trials=1, workers=workers, environment=environment, agents=[ORACLE, NOOP], into=TRIES, tags=["check"],
        select=Selection(scenarios=scenarios, first_cell=True), on_event=on_event, on_prepared=prepared, cancel=cancel,
    )  # fmt: skip
    return Checked(result, _cases(result))


def _judged(manifest: Manifest) -> MeasureSpec:
    """Give the headline, which must have a direction: without one nothing can be reached or missed."""
    headline = manifest.headline
    if headline is None or headline.objective not in ("maximize", "minimize"):
        name = headline.key if headline else "none"
        raise BenchError(
            f"The headline measure ({name}) has no direction, so it cannot be said whether an agent reaches it. Give "
            'one measure Measure(headline=True), and Measure(objective="maximize") or "minimize" if it is a number.'
        )
    return headline


def _cases(result: RunResult) -> tuple[CheckedCase, ...]:
    manifest = result.manifest
    agents = [cell.axes.get("agent", "") for cell in manifest.cells]
    trials = {(t.planned.scenario, t.planned.case, agents[t.planned.cell]): t for t in result.trials}
    return tuple(
        _case(manifest, number, place, trials[number, place, ORACLE], trials[number, place, NOOP])
        for number, scenario in enumerate(manifest.scenarios)
        for place in range(len(scenario.cases))
    )


def _case(manifest: Manifest, number: int, place: int, oracle: Trial, noop: Trial) -> CheckedCase:
    scenario, measure = manifest.scenarios[number], _judged(manifest)
    return CheckedCase(
        scenario=scenario.id,
        case=scenario.cases[place].key,
        file=scenario.file,
        line=scenario.line,
        oracle=_said(oracle, measure),
        noop=_said(noop, measure),
        problem=_problem(oracle, noop, measure),
    )


def _problem(oracle: Trial, noop: Trial, measure: MeasureSpec) -> str:
    """Say what is wrong; the solution first, since nothing is known about the rest while it fails."""
    for name, trial in ((ORACLE, oracle), (NOOP, noop)):
        if trial.state != "scored":
            return f"{name} was not scored ({trial.state}): {trial.reason}"
    if (best := _value(oracle)) is None:
        return f"The scenario did not observe {measure.key} for oracle."
    idle = _value(noop)
    if measure.type == "bool":
        if oracle.final and oracle.final.outcome != "solved":
            return f"The bench's own solution does not reach {measure.key}: the solution or the scenario is wrong."
        solved = noop.final is not None and noop.final.outcome == "solved"
        return f"An agent that does nothing reaches {measure.key}: the scenario measures nothing." if solved else ""
    better = idle is None or (best > idle if measure.objective == "maximize" else best < idle)
    return "" if better else f"In {measure.key} the bench's own solution is no better than doing nothing."


def _value(trial: Trial) -> float | None:
    return trial.final.headline if trial.final else None


def _said(trial: Trial, measure: MeasureSpec) -> str:
    if trial.state != "scored":
        return trial.state
    value = _value(trial)
    if measure.type == "bool":
        return (trial.final.outcome if trial.final else None) or "not observed"
    return "not observed" if value is None else number(value)
