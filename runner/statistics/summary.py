"""A run's figures as one plain value: what `benchsite result` prints, and what pages and API must equal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from runner.faults import FLAGS
from runner.manifest import Manifest
from runner.replay import RunResult
from runner.schema import MeasureSpec

from .counted import SlotFigures, TallyFigures, slots, tallies, together
from .judged import judge_of
from .policy import ERRORS_FAIL, POLICIES, SCORED, policy_named
from .rollup import StandingFigures, standings
from .rows import Key, Row, rows_of
from .solving import can_solve, case_of, plain, solving

Slots = dict[tuple[Key, Key, Key], SlotFigures]
Tallies = dict[tuple[Key, Key, Key, str], TallyFigures]
Standings = dict[tuple[Key, str], StandingFigures]


def coverage(rows: Iterable[Row], measures: Sequence[MeasureSpec]) -> dict[str, dict[str, Any]]:
    """Count every measure over every planned trial: expected = observed + invalid + missing, missing by reason.

    The reason is "not_observed" for a scored trial that did not record the measure, else the trial's state.
    """
    rows = list(rows)
    made: dict[str, dict[str, Any]] = {}
    for measure in measures:
        missing: Counter[str] = Counter()
        observed = invalid = 0
        for row in rows:
            if row.state != "scored":
                missing[row.state] += 1
            elif measure.key in row.values:
                observed += 1
            elif measure.key in row.invalid:
                invalid += 1
            else:
                missing["not_observed"] += 1
        made[measure.key] = {
            "expected": len(rows),
            "observed": observed,
            "invalid": invalid,
            "missing": dict(sorted(missing.items())),
        }
    return made


def flags_of(result: RunResult) -> dict[str, int]:
    """Count the trials that have each flag, in the order of the table of flags."""
    found = Counter(flag for trial in result.trials if trial.final for flag in set(trial.final.flags))
    return {flag: found[flag] for flag in sorted(found, key=lambda flag: (_PLACES.get(flag, len(_PLACES)), flag))}


_PLACES = {flag: place for place, flag in enumerate(FLAGS)}


def summary(result: RunResult, policy: str = "scored/1") -> dict[str, Any]:
    """Give everything `result --json` says: cells x measures under a policy, slots with tallies, coverage, flags."""
    manifest, rule = result.manifest, policy_named(policy)
    rows = rows_of(result)
    made, counted = slots(rows), tallies(rows, manifest.measures)
    both = {
        name: {(s.cell, s.measure): s for s in standings(rows, manifest.measures, name, manifest.run)}
        for name in POLICIES
    }
    return {
        "format": "benchsite/result/1",
        "run": manifest.run,
        "bench": manifest.bench,
        "version": manifest.version,
        "cohort": manifest.cohort,
        "isolation": manifest.isolation,
        "state": result.state,
        "regraded": manifest.regraded,
        "parent": manifest.parent,
        "regrades": manifest.regrades,
        "complete": result.complete,
        "policy": {"name": rule.name, "title": rule.title, "sentence": rule.sentence},
        "planned": len(rows),
        "counts": result.counts,
        "measures": [_measure(measure, manifest) for measure in manifest.measures],
        "cells": [_cell(result, place, made, counted, both, policy) for place in range(len(manifest.cells))],
        "slots": [_slot(manifest, key, slot, counted) for key, slot in made.items()],
        "coverage": coverage(rows, manifest.measures),
        "flags": flags_of(result),
        "judge": judge_of(result),
    }


def _measure(measure: MeasureSpec, manifest: Manifest) -> dict[str, Any]:
    shown = ("key", "type", "objective", "unit", "label", "aggregate")
    return {**{name: getattr(measure, name) for name in shown}, "headline": measure == manifest.headline}


def _cell(
    result: RunResult, place: int, made: Slots, counted: Tallies, both: dict[str, Standings], policy: str
) -> dict[str, Any]:
    cell, measures = result.manifest.cells[place], result.manifest.measures
    figures = {m.key: _figure(place, m, counted, both, policy) for m in measures}
    return {
        "cell": cell.id,
        "key": cell.key10,
        "axes": cell.axes,
        **together(slot for (of, _, _), slot in made.items() if of == place),
        "stopped": result.stopped.get(place, ""),
        "solving": _solving(result.manifest, place, made, counted, policy),
        "measures": figures,
    }


def _figure(
    cell: int, measure: MeasureSpec, counted: Tallies, both: dict[str, Standings], policy: str
) -> dict[str, Any]:
    """Give a standing for numbers, shares for a category, a bare count for a text."""
    key = (cell, measure.key)
    standing = both[policy].get(key)
    if standing is not None:
        left_out = ("cell", "measure", "policy", "cost", "seconds")
        figures = {name: value for name, value in standing._asdict().items() if name not in left_out}
        macros = {name: pooled[key].macro for name, pooled in both.items()}
        return {**figures, "three": three_figures(macros, both[SCORED.name][key].n, standing.planned)}
    mine = [tally for (of, _, _, key), tally in counted.items() if of == cell and key == measure.key]
    shares: Counter[str] = Counter()
    for tally in mine:
        shares.update(tally.shares)
    figure: dict[str, Any] = {"n": sum(tally.n for tally in mine)}
    return {**figure, "shares": dict(sorted(shares.items()))} if measure.type == "category" else figure


def _solving(manifest: Manifest, cell: int, made: Slots, counted: Tallies, policy: str) -> dict[str, Any] | None:
    """Give pass@k, pass^k and cost per success of a boolean headline; None where there is no such."""
    headline = manifest.headline
    if headline is None or not can_solve(headline):
        return None
    rule = policy_named(policy)
    cases = [case_of(k[1], slot, counted[*k, headline.key], rule) for k, slot in made.items() if k[0] == cell]
    return plain(solving(cases))


def three_figures(macros: Mapping[str, float | None], n: int, planned: int) -> dict[str, Any]:
    """Give partial data in three figures: over scored trials, with errors as the worst value, and how many counted."""
    return {"scored": macros[SCORED.name], "errors_fail": macros[ERRORS_FAIL.name], "n": n, "planned": planned}


def _slot(manifest: Manifest, key: tuple[Key, Key, Key], slot: SlotFigures, counted: Tallies) -> dict[str, Any]:
    cell, scenario, case = (int(part) for part in key)  # type: ignore[call-overload]  # positions, from rows_of
    return {
        "cell": manifest.cells[cell].id,
        "scenario": manifest.scenarios[scenario].id,
        "case": manifest.scenarios[scenario].cases[case].key,
        **slot._asdict(),
        "measures": {m.key: counted[*key, m.key]._asdict() for m in manifest.measures},
    }
