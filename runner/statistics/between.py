"""Two runs against each other: which of their cells and cases pair, overall and cell by cell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from runner.digests import digest
from runner.errors import RunnerError
from runner.faults import at_subjects_door
from runner.manifest import Manifest, Scenario
from runner.replay import RunResult
from runner.schema import MeasureSpec

from .casefigure import Counted, case_figure
from .counted import slots, tallies
from .paired import Paired, paired
from .pairing import MEASURED_BY, Pair, Part, match
from .policy import policy_named
from .rows import rows_of


@dataclass(frozen=True)
class Between:
    """`cells` are those both runs have, by id; `pairs` their cases together, `by_cell` those of each apart."""

    measure: MeasureSpec
    policy: str
    cells: tuple[str, ...]
    pairs: tuple[Pair, ...]
    by_cell: dict[str, tuple[Pair, ...]]
    made: Paired
    made_by_cell: dict[str, Paired]
    warnings: tuple[str, ...]


def fingerprint(manifest: Manifest, scenario: Scenario) -> str:
    """Name what a scenario measures: its own source and every part of the definition that decides on it."""
    own = scenario.hash or digest([case.fingerprint for case in scenario.cases])
    return digest([own, [manifest.hashes.get(part) for part in MEASURED_BY]])


def between(base: RunResult, other: RunResult, measure: str = "", policy: str = "scored/1") -> Between:
    """Compare two runs of one bench over the cells both have; RunnerError where that cannot be."""
    chosen = chosen_measure(base.manifest, measure)
    _check(base.manifest, other.manifest, chosen)
    one, two = parts_of(base, chosen, policy), parts_of(other, chosen, policy)
    theirs = {part.subject for part in two}
    cells = tuple(cell.id for cell in base.manifest.cells if cell.id in theirs)
    if not cells:
        raise RunnerError("The two runs have no cell in common: their axes have other values.")
    pairs = tuple(match(one, two, frozenset(cells)))
    by_cell = {cell: tuple(match(one, two, frozenset([cell]))) for cell in cells}
    return Between(
        chosen, policy, cells, pairs, by_cell,
        paired(pairs, chosen.objective),
        {cell: paired(mine, chosen.objective) for cell, mine in by_cell.items()},
        tuple(_warnings(base, other, cells)),
    )  # fmt: skip


def chosen_measure(manifest: Manifest, key: str) -> MeasureSpec:
    pooled = [measure for measure in manifest.measures if measure.type in ("bool", "int", "float")]
    found = next((one for one in pooled if one.key == key), None) if key else manifest.headline
    if found not in pooled:
        names = ", ".join(one.key for one in pooled) or "none"
        raise RunnerError(f"{key or 'The headline'} is no measure with numbers; there are: {names}.")
    return found


def parts_of(result: RunResult, measure: MeasureSpec, policy: str) -> list[Part]:
    """Give the figure of every case in every cell under a policy."""
    manifest, rows, rule = result.manifest, rows_of(result), policy_named(policy)
    seen, made = tallies(rows, [measure]), slots(rows)
    values: dict[Any, list[float]] = defaultdict(list)
    for row in rows:
        if row.state == "scored" and measure.key in row.values:
            values[row.cell, row.scenario, row.case].append(float(row.values[measure.key]))
    prints = [fingerprint(manifest, scenario) for scenario in manifest.scenarios]
    parts = []
    for key, slot in made.items():
        cell, scenario, case = (int(place) for place in key)  # type: ignore[call-overload]  # positions, from rows_of
        tally = seen[(*key, measure.key)]
        blamed = sum(many for code, many in slot.faults.items() if at_subjects_door(code))
        counted = Counted(
            tally.n, tally.invalid + tally.missing, blamed, tally.sum or 0.0, tally.sumsq or 0.0, tally.min, tally.max,
            tuple(values[key]) if measure.aggregate == "median" else (),
        )  # fmt: skip
        figure = case_figure(counted, measure.aggregate, measure.worst_value, rule)
        of = manifest.scenarios[scenario]
        parts.append(Part(manifest.cells[cell].id, of.id, of.cases[case].key, prints[scenario], figure))
    return parts


def _check(base: Manifest, other: Manifest, measure: MeasureSpec) -> None:
    if base.bench != other.bench:
        raise RunnerError(f"{base.bench} and {other.bench} are different benches and measure different things.")
    if all(one.key != measure.key or one.type != measure.type for one in other.measures):
        raise RunnerError(f"The run {other.run} does not have the measure {measure.key} of the baseline.")


def _warnings(base: RunResult, other: RunResult, cells: Sequence[str]) -> list[str]:
    """Say what else differs between the runs, by the name of the part."""
    one, two = base.manifest, other.manifest
    said = []
    parts = sorted(set(one.hashes) | set(two.hashes))
    parts = [part for part in parts if part != "definition" and one.hashes.get(part) != two.hashes.get(part)]
    if fatal := [part for part in parts if part in MEASURED_BY]:
        said.append(f"The bench's {', '.join(fatal)} changed: no case measures the same in both runs.")
    elif parts:
        said.append(f"The bench's {', '.join(parts)} changed; scenarios that did not change are still compared.")
    for name in ("isolation", "environment", "network", "evaluation", "limits"):
        mine, theirs = getattr(one, name), getattr(two, name)
        if mine != theirs:
            said.append(
                f"The {name} differ{'s' * (name != 'limits')}: {_plain(mine)} in the baseline, {_plain(theirs)} now."
            )
    said += _versions(one, two, cells)
    left = len(one.cells) + len(two.cells) - 2 * len(cells)
    if left:
        many = "is 1 cell" if left == 1 else f"are {left} cells"
        said.append(f"Left out {many} that only one of the runs has.")
    said += [f"The {which} is {result.state}: not all of its trials have ended."
             for which, result in (("baseline", base), ("run", other)) if result.state != "finished"]  # fmt: skip
    return said


def _versions(one: Manifest, two: Manifest, cells: Sequence[str]) -> list[str]:
    pins = [{cell.id: str(cell.pin.get("version") or "") for cell in manifest.cells} for manifest in (one, two)]
    return [
        f"The agent's version differs in {cell}: {pins[0][cell] or '?'} to {pins[1][cell] or '?'}."
        for cell in cells
        if pins[0][cell] != pins[1][cell]
    ]


def _plain(value: Any) -> str:
    return ", ".join(f"{name} {inner}" for name, inner in value.items()) if isinstance(value, dict) else str(value)
