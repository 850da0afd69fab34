"""How large a run will be, in words: "3 agents x 2 models x 3 scenarios x 3 trials = 54 trials"."""

from __future__ import annotations

import math

from runner.manifest import Axis, Manifest

from .terminal import clean, plural


def size_line(manifest: Manifest) -> str:
    parts = [*_cells(manifest), _scenarios(manifest), plural(manifest.trials_per_cell, "trial")]
    cases = sum(len(scenario.cases) for scenario in manifest.scenarios)
    whole = len(manifest.cells) * cases * manifest.trials_per_cell
    if whole != len(manifest.rows):
        return f"{' x '.join(parts)}, of them {plural(len(manifest.rows), 'chosen trial')}"
    return f"{' x '.join(parts)} = {plural(len(manifest.rows), 'trial')}"


def _cells(manifest: Manifest) -> list[str]:
    axes = [axis for axis in manifest.axes if len(axis.values) > 1]
    if math.prod(len(axis.values) for axis in axes) != len(manifest.cells):
        return [plural(len(manifest.cells), "cell")]
    return [_axis(axis) for axis in axes] or [plural(1, "cell")]


def _axis(axis: Axis) -> str:
    name = clean(axis.name)
    if name.isalpha():
        return plural(len(axis.values), name)
    return f"{len(axis.values)} values of {name}"


def _scenarios(manifest: Manifest) -> str:
    cases = sum(len(scenario.cases) for scenario in manifest.scenarios)
    if cases == len(manifest.scenarios):
        return plural(cases, "scenario")
    return f"{plural(cases, 'case')} of {plural(len(manifest.scenarios), 'scenario')}"
