"""May this run pass? Rules against a baseline, each answered in a sentence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from runner.errors import RunnerError
from runner.replay import RunResult
from runner.statistics.between import Between
from runner.statistics.objective import target_of
from runner.statistics.paired import Paired
from runner.statistics.pairing import WHY
from runner.statistics.rows import Key, Row, rows_of
from runner.statistics.telling import amount, told

from .figures import number

Rule = Literal["seen", "sure", "safe"]


@dataclass(frozen=True)
class Rules:
    """Limits in the measure's own unit (a rate as a share of 1); None where nothing is asked."""

    max_drop: float | None = None
    rule: Rule = "seen"
    each_cell: bool = False
    require: float | None = None
    min_coverage: float | None = None
    max_cost_rise: float | None = None


@dataclass(frozen=True)
class Check:
    name: str
    passed: bool
    sentence: str


def gate(found: Between, base: RunResult, other: RunResult, rules: Rules) -> list[Check]:
    """Answer every rule that was given; RunnerError where there is nothing to compare or nothing to ask."""
    if found.made.difference is None:
        said = "The runs have no case in common that was counted in both, so nothing can be checked."
        raise RunnerError(f"{said} {_why(found)}")
    checks = [*_drops(found, rules), *_required(found, rules)]
    checks += [*_covered(found, other, rules), *_cost(found, base, other, rules)]
    if not checks:
        raise RunnerError("Say what to check: --max-drop, --require, --min-coverage or --max-cost-rise.")
    return checks


def _why(found: Between) -> str:
    """Name what parts the runs: the parts of the definition that changed, else what became of the cases."""
    if changed := [one for one in found.warnings if one.startswith("The bench's")]:
        return changed[0]
    many = Counter(WHY[pair.why] for pair in found.pairs if pair.why)
    return f"Of {len(found.pairs):,} cases: {', '.join(f'{n:,} {why}' for why, n in many.most_common())}."


def _drops(found: Between, rules: Rules) -> Iterator[Check]:
    if rules.max_drop is None:
        return
    if not found.measure.objective:
        key = found.measure.key
        raise RunnerError(f"{key} has no direction, so it cannot drop; declare its objective or use --measure.")
    if not rules.each_cell:
        yield _drop("drop", "the run", found.made, found, rules)
        return
    for cell, made in found.made_by_cell.items():
        yield _drop(f"drop: {cell}", cell, made, found, rules)


def _drop(name: str, who: str, made: Paired, found: Between, rules: Rules) -> Check:
    measure, limit = found.measure, rules.max_drop or 0.0
    rate = measure.type == "bool"
    sentence = told("the baseline", who, measure.label or measure.key, made, rate=rate, unit=measure.unit,
                    objective=measure.objective)  # fmt: skip
    allowed = f"allowed is a drop of {amount(limit, rate=rate, unit=measure.unit)}"
    if made.difference is None:
        return Check(name, False, f"{sentence} {_capital(allowed)}.")
    drop, low, high = _as_drop(made, measure.objective)
    if rules.rule == "seen":
        return Check(name, drop <= limit + 1e-9, f"{_capital(sentence)} {_capital(allowed)}.")
    bound = low if rules.rule == "sure" else high
    passed = (bound is None or bound <= limit + 1e-9) if rules.rule == "sure" else bound is not None and bound <= limit
    how = "the whole interval must lie beyond to fail" if rules.rule == "sure" else "the whole interval must lie within"
    return Check(name, passed, f"{_capital(sentence)} {_capital(allowed)}; {how}.")


def _as_drop(made: Paired, objective: str) -> tuple[float, float | None, float | None]:
    """Give drop, low, high: positive is worse. All clusters alike, and surely so, is a drop without any doubt."""
    worse = 1.0 if objective == "minimize" or target_of(objective) is not None else -1.0
    drop = worse * (made.difference or 0.0)
    if made.lo is None or made.hi is None:
        return (drop, drop, drop) if made.verdict not in ("untold", "nothing") else (drop, None, None)
    low, high = sorted((worse * made.lo, worse * made.hi))
    return drop, low, high


def _required(found: Between, rules: Rules) -> Iterator[Check]:
    if rules.require is None or found.made.other is None:
        return
    measure, figure = found.measure, found.made.other
    rate, less = measure.type == "bool", measure.objective == "minimize"
    passed = figure <= rules.require + 1e-9 if less else figure >= rules.require - 1e-9
    wanted, seen = (_figure(value, rate, measure.unit) for value in (rules.require, figure))
    bound = "at most" if less else "at least"
    yield Check("require", passed, f"{measure.key} is {seen} over the cases in common; required is {bound} {wanted}.")


def _covered(found: Between, other: RunResult, rules: Rules) -> Iterator[Check]:
    if rules.min_coverage is None:
        return
    rows = _rows(found, other)
    counted = sum(row.state == "scored" and found.measure.key in row.values for row in rows)
    share = counted / len(rows) if rows else 0.0
    text = f"{counted:,} of {len(rows):,} planned trials counted ({share * 100:.0f} %)"
    yield Check("coverage", share >= rules.min_coverage - 1e-9, f"{text}; required are {rules.min_coverage * 100:g} %.")


def _cost(found: Between, base: RunResult, other: RunResult, rules: Rules) -> Iterator[Check]:
    if rules.max_cost_rise is None:
        return
    before, now = (_costs(found, result) for result in (base, other))
    allowed = f"allowed is {rules.max_cost_rise * 100:g} % more"
    lost = [cell for cell, costs in before.items() if costs and not now[cell]]
    both = [cell for cell, costs in before.items() if costs and now[cell]]
    if lost or not both:
        where = "the run" if any(before.values()) else "the baseline"
        of = f" of {', '.join(lost)}" if lost and both else ""
        yield Check("cost", False, f"The cost{of} is unknown in {where}; {allowed}.")
        return
    known = [[cost for cell in both for cost in side[cell]] for side in (before, now)]
    was, mean = (math.fsum(costs) / len(costs) for costs in known)
    text = f"A trial costs ${number(mean)}, and ${number(was)} in the baseline"
    silent = f" (told in {len(both)} of {len(before)} cells)" if len(both) < len(before) else ""
    yield Check("cost", mean <= was * (1 + rules.max_cost_rise) + 1e-12, f"{text}{silent}; {allowed}.")


def _costs(found: Between, result: RunResult) -> dict[str, list[float]]:
    """The known costs of each cell in common. Cells whose agents tell none are left out on both sides, so that one
    which begins to tell, or ceases to, is no cheaper mix."""
    costs: dict[str, list[float]] = {cell: [] for cell in found.cells}
    ids: dict[Key, str] = {place: cell.id for place, cell in enumerate(result.manifest.cells)}
    for row in _rows(found, result):
        if row.cost is not None:
            costs[ids[row.cell]].append(row.cost)
    return costs


def _rows(found: Between, result: RunResult) -> list[Row]:
    places = {place for place, cell in enumerate(result.manifest.cells) if cell.id in found.cells}
    return [row for row in rows_of(result) if row.cell in places]


def _figure(value: float, rate: bool, unit: str) -> str:
    return f"{value * 100:.4g} %" if rate else f"{number(value)} {unit}".strip()


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
