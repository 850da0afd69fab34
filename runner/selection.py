"""A part of a bench's plan: some scenarios, some cells, or exactly the trials that failed in an earlier run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TypeVar

from .errors import BenchError
from .faults import COMPLETE
from .manifest import Axis, Cell, Manifest, Scenario
from .records import RunResult

TrialName = tuple[str, str, str, int]
"""A planned trial by what it is, not by its position: scenario, case, cell, number."""
SHOWN = 8
T = TypeVar("T")


@dataclass(frozen=True)
class Selection:
    """What of a bench a run takes. Empty means all; several patterns of one kind add up, the kinds narrow each other.

    Of what is left, `first_cell` takes the first cell of each agent, `single` the first case in the first cell.
    `scenarios` are globs over scenario ids, or over `id[case]`. `cells` are globs over cell ids, or `axis=value` with
    a glob for the value; `a=x,b=y` asks for both. `trials` names single trials.
    """

    scenarios: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    trials: frozenset[TrialName] | None = None
    first_cell: bool = False
    single: bool = False

    def of_cells(self, cells: Sequence[Cell]) -> tuple[Cell, ...]:
        """Give the cells that are wanted; BenchError when a pattern matches none of them."""
        for pattern in self.cells:
            if not any(_is_cell(cell, pattern) for cell in cells):
                raise BenchError(
                    f"No cell matches {pattern!r}; {_there_are(cell.id for cell in cells)}{_either(pattern)}"
                )
        kept = [cell for cell in cells if not self.cells or any(_is_cell(cell, one) for one in self.cells)]
        if self.trials is not None:
            names = {cell for _, _, cell, _ in self.trials}
            kept = [cell for cell in kept if cell.id in names]
        if self.first_cell:
            kept = list({cell.axes.get("agent"): cell for cell in reversed(kept)}.values())[::-1]
        return _some(kept[:1] if self.single else kept, "cell")

    def of_scenarios(self, scenarios: Sequence[Scenario]) -> tuple[tuple[int, Scenario], ...]:
        """Give (position, scenario) of those that are wanted, each with the cases that are wanted."""
        for pattern in self.scenarios:
            if not any(_is_case(one.id, case.key, pattern) for one in scenarios for case in one.cases):
                raise BenchError(f"No scenario matches {pattern!r}; {_known(pattern, scenarios)}")
        narrowed = [(position, self._narrowed(scenario)) for position, scenario in enumerate(scenarios)]
        kept = [(position, one) for position, one in narrowed if one.cases]
        if self.single and kept:
            position, first = kept[0]
            kept = [(position, replace(first, cases=first.cases[:1]))]
        return _some(kept, "scenario")

    def _narrowed(self, scenario: Scenario) -> Scenario:
        wanted = [case for case in scenario.cases if self._wants(scenario.id, case.key)]
        return replace(scenario, cases=tuple(wanted))

    def _wants(self, scenario: str, case: str) -> bool:
        if self.trials is not None and not any((scenario, case) == name[:2] for name in self.trials):
            return False
        return not self.scenarios or any(_is_case(scenario, case, pattern) for pattern in self.scenarios)

    def wants_trial(self, scenario: str, case: str, cell: str, number: int) -> bool:
        return self.trials is None or (scenario, case, cell, number) in self.trials


def name_of(manifest: Manifest, index: int) -> TrialName:
    """Name a planned trial so that it is found in another run of its bench."""
    planned = manifest.trials[index]
    scenario = manifest.scenarios[planned.scenario]
    return scenario.id, scenario.cases[planned.case].key, manifest.cells[planned.cell].id, planned.number


def failed_trials(result: RunResult) -> frozenset[TrialName]:
    """Name the trials that ended in an error, were cancelled or never ran. What was measured, however badly, stays."""
    failed = [trial.planned.index for trial in result.trials if trial.state not in COMPLETE]
    if not failed:
        raise BenchError(f"In the run {result.manifest.run} no trial failed: there is nothing to run again.")
    return frozenset(name_of(result.manifest, index) for index in failed)


def used_axes(axes: Sequence[Axis], cells: Sequence[Cell]) -> tuple[Axis, ...]:
    """Leave only the values that a cell of the run has."""
    seen = {axis.name: {cell.axes.get(axis.name) for cell in cells} for axis in axes}
    return tuple(replace(axis, values=tuple(v for v in axis.values if v in seen[axis.name])) for axis in axes)


def _is_cell(cell: Cell, pattern: str) -> bool:
    if cell.id == pattern or cell.key10 == pattern or fnmatchcase(cell.id, _literal(pattern)):
        return True
    parts = [part.partition("=") for part in pattern.split(",")]
    return all(
        sign and fnmatchcase(cell.axes.get(name.strip(), "\0"), _literal(value.strip())) for name, sign, value in parts
    )


def _either(pattern: str) -> str:
    """Advise who wrote several values of one axis with commas: a comma parts axes."""
    first, *others = pattern.split(",")
    axis, sign, _ = first.partition("=")
    if not sign or not others or any("=" in other for other in others):
        return ""
    wanted = " ".join(f"--cell {axis}={other.strip()}" for other in others)
    return f" For one of several values write --cell {first} {wanted}."


def _is_case(scenario: str, case: str, pattern: str) -> bool:
    names = (scenario, f"{scenario}[{case}]") if case else (scenario,)
    return any(fnmatchcase(name, _literal(pattern)) for name in names)


def _literal(pattern: str) -> str:
    """A bracket is part of a case's name here; * and ? are all there is of a glob."""
    return pattern.replace("[", "[[]")


def _known(pattern: str, scenarios: Sequence[Scenario]) -> str:
    names = [f"{one.id}[{case.key}]" if case.key else one.id for one in scenarios for case in one.cases]
    near = get_close_matches(pattern, [*(one.id for one in scenarios), *names], 1)
    return f"did you mean {near[0]!r}?" if near else _there_are(dict.fromkeys(one.id for one in scenarios))


def _there_are(names: Iterable[str]) -> str:
    known = list(names)
    more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
    return f"there are: {', '.join(known[:SHOWN])}{more}."


def _some(kept: Sequence[T], what: str) -> tuple[T, ...]:
    if not kept:
        raise BenchError(f"The selection leaves no {what}: the bench has changed, or the options exclude each other.")
    return tuple(kept)
