"""A run's figures as `benchsite result --json` says them, from the rollups: equal to the last digit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from benchsite.runs.models import Run, Slot, Standing, Tally
from benchsite.runs.recount import SLOT, STANDING, TALLY, specs
from runner.faults import COMPLETE
from runner.schema import MeasureSpec
from runner.statistics import POLICIES, CountingPolicy, policy_named
from runner.statistics.counted import SlotFigures, TallyFigures, together
from runner.statistics.rollup import note_of
from runner.statistics.solving import can_solve, case_of, plain, solving
from runner.statistics.summary import three_figures

from .beside import beside
from .loaded import Loaded

Key = tuple[int, int]
"""Row ids of a cell and a case."""


def result(run: Run, policy: str) -> dict[str, Any]:
    """Give everything that the runner's summary has but the judge; a withdrawn trial has the state `withdrawn`."""
    loaded, rule, measures = Loaded(run), policy_named(policy), specs(run)
    slots, tallies = _slots(run), _tallies(run)
    standings = _standings(run)
    cells = sorted(loaded.cells, key=lambda cell: cell.ordinal)
    states = Counter[str]()
    for _, _, slot in slots.values():
        states.update({state: many for state, many in slot.states.items() if state not in OUTCOMES})
    headline = loaded.headline
    first = next((one for one in measures if headline and one.key == headline.key), None)
    manifest = loaded.manifest
    return {
        "format": "benchsite/result/1",
        "run": run.ulid,
        "bench": str(run.bench),
        "version": run.version.number,
        "cohort": run.cohort,
        "isolation": run.isolation,
        "state": run.state,
        "regraded": bool(run.regrades),
        "parent": manifest.get("parent"),
        "regrades": manifest.get("regrades"),
        "complete": all(state in COMPLETE for state in states),
        "policy": {"name": rule.name, "title": rule.title, "sentence": rule.sentence},
        "planned": sum(slot.planned for _, _, slot in slots.values()),
        "counts": dict(states),
        "measures": [_measure(one, headline.key if headline else "") for one in measures],
        "cells": [_cell(cell, rule, measures, slots, tallies, standings, first) for cell in cells],
        "slots": [
            {"cell": loaded.cell_by_id[cell].name, "scenario": name, "case": case_key, **slot._asdict(),
             "measures": {one.key: tallies[cell, case, one.key]._asdict() for one in measures}}
            for (cell, case), (name, case_key, slot) in slots.items()
        ],
        "coverage": {one.key: _coverage(one.key, slots, tallies) for one in measures},
        "flags": {flag: many for flag, many in beside(run).flags.items() if flag != "cleaned"},
    }  # fmt: skip


OUTCOMES = frozenset({"solved", "unsolved", "measured"})
Slots = dict[Key, tuple[str, str, SlotFigures]]
Tallies = dict[tuple[int, int, str], TallyFigures]
Standings = dict[tuple[int, str, str], dict[str, Any]]


def _slots(run: Run) -> Slots:
    """By cell and case: the scenario's id, the case's key, and what became of its trials."""
    rows = Slot.objects.filter(run=run).order_by("cell__ordinal", "id")
    names = (*SLOT, "scenario__name", "case__key")
    return {
        (row["cell_id"], row["case_id"]): (
            row["scenario__name"],
            row["case__key"],
            SlotFigures(**{name: row[name] for name in SlotFigures._fields}),
        )
        for row in rows.values(*names)
    }


def _tallies(run: Run) -> Tallies:
    rows = Tally.objects.filter(run=run).values(*TALLY, "measure__key")
    return {
        (row["cell_id"], row["case_id"], row["measure__key"]): TallyFigures(
            **{name: row[name] for name in TallyFigures._fields}
        )
        for row in rows
    }


def _standings(run: Run) -> Standings:
    rows = Standing.objects.filter(run=run).values(*STANDING, "measure__key")
    return {(row["cell_id"], row["measure__key"], row["policy"]): row for row in rows}


def _measure(one: MeasureSpec, headline: str) -> dict[str, Any]:
    shown = ("key", "type", "objective", "unit", "label", "aggregate")
    return {**{name: getattr(one, name) for name in shown}, "headline": one.key == headline}


def _cell(
    cell: Any,
    rule: CountingPolicy,
    measures: Sequence[MeasureSpec],
    slots: Slots,
    tallies: Tallies,
    standings: Standings,
    headline: MeasureSpec | None,
) -> dict[str, Any]:
    unit = _unit(slots)
    return {
        "cell": cell.name,
        "key": cell.key10,
        "axes": dict(cell.axes),
        **together(slot for (of, _), (_, _, slot) in slots.items() if of == cell.id),
        "stopped": cell.stopped,
        "solving": _solving(cell.id, rule, headline, slots, tallies),
        "measures": {one.key: _figure(cell.id, one, rule, unit, tallies, standings) for one in measures},
    }


def _solving(
    cell: int, rule: CountingPolicy, headline: MeasureSpec | None, slots: Slots, tallies: Tallies
) -> dict[str, Any] | None:
    if headline is None or not can_solve(headline):
        return None
    cases = [
        case_of(scenario, slot, tallies[of, case, headline.key], rule)
        for (of, case), (scenario, _, slot) in slots.items()
        if of == cell
    ]
    return plain(solving(cases))


def _unit(slots: Slots) -> str:
    """What the clusters of a pooled figure are."""
    one = len({name for name, _, _ in slots.values()}) == 1
    return "cases" if one and len({case for _, case in slots}) > 1 else "scenarios"


def _figure(
    cell: int, measure: MeasureSpec, rule: CountingPolicy, unit: str, tallies: Tallies, standings: Standings
) -> dict[str, Any]:
    found = standings.get((cell, measure.key, rule.name))
    if found is not None:
        names = ("macro", "lo", "hi", "clusters", "rank_lo", "rank_hi", "k", "n", "planned")
        figures = {name: found[name] for name in names}
        both = {name: standings[cell, measure.key, name] for name in POLICIES}
        three = three_figures(
            {name: row["macro"] for name, row in both.items()}, both["scored/1"]["n"], found["planned"]
        )
        return {**figures, "note": note_of(rule, measure, found["n"], found["clusters"], unit), "three": three}
    mine = [tally for (of, _, key), tally in tallies.items() if of == cell and key == measure.key]
    return _shares(mine, measure.type)


def _shares(mine: Iterable[TallyFigures], kind: str) -> dict[str, Any]:
    shares, n = Counter[str](), 0
    for tally in mine:
        shares.update(tally.shares)
        n += tally.n
    return {"n": n, "shares": dict(sorted(shares.items()))} if kind == "category" else {"n": n}


def _coverage(key: str, slots: Slots, tallies: Tallies) -> dict[str, Any]:
    missing = Counter[str]()
    observed = invalid = expected = 0
    for (cell, case), (_, _, slot) in slots.items():
        tally = tallies[cell, case, key]
        expected += slot.planned
        observed, invalid = observed + tally.n, invalid + tally.invalid
        missing["not_observed"] += tally.missing
        missing.update({s: n for s, n in slot.states.items() if s not in OUTCOMES and s != "scored"})
    known = dict(sorted((reason, many) for reason, many in missing.items() if many))
    return {"expected": expected, "observed": observed, "invalid": invalid, "missing": known}
