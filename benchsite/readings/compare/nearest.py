"""Which solved trial shows best what an unsolved one could have done otherwise."""

from __future__ import annotations

from typing import Any

from benchsite.benches.models import ScenarioVersion
from benchsite.readings.trialhead import Seen
from benchsite.runs.models import Run, Trial

from .grammar import CompareRefused

RUNS = 50
"""Other runs that are searched, the newest first."""
ROWS = 2_000
MEANING = (
    "Nearest: a solved trial of the same case that a curator has not withdrawn, in the same run before any other run; "
    "then the one whose cell differs in the fewest axes; then the one nearest in number."
)


class NoneSolved(CompareRefused):
    """What was asked is in order, and there is nothing to show; `seen` is the trial that stands alone."""

    def __init__(self, seen: Seen) -> None:
        case = f" of the case {seen.trial.case.key}" if seen.trial.case.key else ""
        super().__init__(
            f"No solved trial{case} of {seen.trial.scenario} is there to compare with, in this run or in the newest "
            "others that you can see."
        )
        self.seen = seen


def nearest_solved(user: Any, seen: Seen) -> tuple[str, int]:
    """Give run and index of the nearest solved trial; raises NoneSolved where the reader sees none."""
    found = _best(seen, _in_runs(seen, [seen.run.pk])) or _best(seen, _in_runs(seen, _other_runs(user, seen)))
    if found is None:
        raise NoneSolved(seen)
    return found


def _in_runs(seen: Seen, runs: list[int]) -> list[tuple[Any, ...]]:
    solved = Trial.objects.filter(run__in=runs, scenario=seen.trial.scenario_id, case=seen.trial.case_id)
    solved = solved.standing().with_outcome("solved").exclude(pk=seen.trial.pk).order_by("-run_id", "index")
    return list(solved.values_list("cell__subject__axes", "run_id", "number", "run__ulid", "index")[:ROWS])


def _other_runs(user: Any, seen: Seen) -> list[int]:
    """Runs in which the scenario is the same, to the letter."""
    mine = ScenarioVersion.objects.filter(scenario=seen.trial.scenario_id, version=seen.run.version_id)
    same = ScenarioVersion.objects.filter(scenario=seen.trial.scenario_id, fingerprint__in=mine.values("fingerprint"))
    runs = Run.objects.visible_to(user).of_bench(seen.run.bench_id).filter(version__in=same.values("version"))
    return list(runs.exclude(pk=seen.run.pk).newest().values_list("pk", flat=True)[:RUNS])


def _best(seen: Seen, rows: list[tuple[Any, ...]]) -> tuple[str, int] | None:
    axes = seen.trial.cell.subject.axes

    def distance(row: tuple[Any, ...]) -> tuple[int, int, int, int]:
        other, run, number, _, index = row
        differ = sum(axes.get(name) != other.get(name) for name in {*axes, *other})
        return differ, -run, abs(number - seen.trial.number), index

    best = min(rows, key=distance, default=None)
    return (best[3], best[4]) if best else None
