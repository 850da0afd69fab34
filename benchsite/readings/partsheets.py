"""The tables of a cell's and a scenario's page as plain values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .cell import CellPage
from .runsheets import FIGURES
from .scenario import ScenarioPage
from .sheet import Axis, Sheet


def _about(page: CellPage | ScenarioPage, name: str, of: str) -> dict[str, Any]:
    return {"run": page.run.ulid, "bench": str(page.run.bench), "table": name, "of": of, "policy": page.policy}


def _of_cell(page: CellPage, name: str, columns: tuple[str, ...], rows: Any) -> Sheet:
    key = page.cell.key10
    return Sheet(f"{page.run.ulid}-{key}-{name}", columns, rows, _about(page, name, page.cell.name))


def scenarios(page: CellPage) -> Sheet:
    rows = (
        (line.slug, line.square.value, line.lo, line.hi, line.square.k, line.square.n, line.counts.planned)
        for line in page.lines
        if line.square
    )
    return _of_cell(page, "scenarios", ("scenario", "figure", "lo", "hi", "k", "n", "planned"), rows)


def tries(page: CellPage) -> Sheet:
    """Its JSON also says what a success costs; `some` and `every` are called by the names that people know."""
    solving = page.solving
    head = ("k", "pass_at_k", "pass_at_k_lo", "pass_at_k_hi", "pass_hat_k", "pass_hat_k_lo", "pass_hat_k_hi",
            "n", "c", "cases", "short")  # fmt: skip
    made = _of_cell(page, "tries", head, solving.repeats if solving else ())
    return replace(made, about={**made.about, "cost_per_success": solving.cost._asdict() if solving else None})


def measures(page: CellPage) -> Sheet:
    head = ("measure", "figure", "lo", "hi", "least", "most", "n", "invalid", "missing", "values")
    rows = (
        (line.measure.key, *((line.place.macro, line.place.lo, line.place.hi) if line.place else (None, None, None)),
         line.least, line.most, line.n, line.invalid, line.missing,
         "; ".join(f"{value} {many}" for value, many in line.shares))
        for line in page.measures
    )  # fmt: skip
    return _of_cell(page, "measures", head, rows)


def distributions(page: CellPage) -> Sheet:
    boxes = ((shape.panel.key, box.figures) for shape in page.shapes for box in shape.panel.boxes)
    names = [name for name in FIGURES if name != "far"]  # that is told of all cells together, on the run's page
    rows = ((key, *(getattr(figures, name) for name in names)) for key, figures in boxes)
    return _of_cell(page, "distributions", ("quantity", *names), rows)


def shapes(page: CellPage) -> Sheet:
    rows = ((shape.panel.key, *each) for shape in page.shapes for each in shape.bins)
    return _of_cell(page, "shapes", ("quantity", "from", "to", "trials"), rows)


def _of_scenario(page: ScenarioPage, name: str, columns: tuple[str, ...], rows: Any) -> Sheet:
    return Sheet(f"{page.run.ulid}-{page.slug}-{name}", columns, rows, _about(page, name, page.slug))


def cells(page: ScenarioPage) -> Sheet:
    axis = Axis(line.cell for line in page.lines)
    head = (*axis.columns, "figure", "lo", "hi", "k", "n", "planned", "cost", "cost_n", "seconds", "seconds_n")
    rows = (
        (*axis.of(line.cell), line.square.value, line.lo, line.hi, line.square.k, line.square.n, line.counts.planned,
         *line.counts.took)
        for line in page.lines if line.square
    )  # fmt: skip
    return _of_scenario(page, "cells", head, rows)


def cases(page: ScenarioPage) -> Sheet:
    rows = ((line.key, line.counts.k, line.counts.n(page.policy), line.counts.planned) for line in page.cases)
    return _of_scenario(page, "cases", ("case", "k", "n", "planned"), rows)


def groups(page: ScenarioPage) -> Sheet:
    rows = ((group.status, group.words, group.many) for group in page.groups)
    return _of_scenario(page, "groups", ("result", "kind", "trials"), rows)


CELL: dict[str, Callable[[CellPage], Sheet]] = {
    made.__name__: made for made in (scenarios, tries, measures, distributions, shapes)
}
SCENARIO: dict[str, Callable[[ScenarioPage], Sheet]] = {made.__name__: made for made in (cells, cases, groups)}
