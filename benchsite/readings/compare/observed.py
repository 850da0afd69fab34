"""What was observed of two trials, side by side: each measure of either version, and what was spent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from benchsite.benches.models import Measure
from benchsite.readings import words
from benchsite.readings.trial import observed_one
from benchsite.readings.trialsheet import plain
from benchsite.runs.models import Observation

from .pair import Pair

MANIFOLD = 1000
"""Past so many per cent a step is told as how many times."""
TEXT = 400
"""Characters of an observed text; the rest stands on the trial's own page."""


@dataclass(frozen=True)
class Line:
    """One measure or cost. `change` says the step from A to B where both are numbers; `better`: "a", "b" or "".

    `values` are A's and B's unrounded, None where there is none; `states` say what became of each.
    """

    key: str
    name: str
    a: str
    b: str
    differs: bool
    change: str = ""
    better: str = ""
    note: str = ""
    values: tuple[Any, Any] = (None, None)
    states: tuple[str, str] = ("", "")


def observed(pair: Pair) -> tuple[Line, ...]:
    """Give all measures, those that differ first, each part in the order of its declaration."""
    versions = [pair.a.run.version_id, pair.b.run.version_id]
    measures: dict[str, dict[int, Measure]] = {}
    for measure in Measure.objects.filter(version__in=versions).order_by("ordinal"):
        measures.setdefault(measure.key, {})[measure.version_id] = measure
    rows = {
        (row.trial_id, row.measure_id): row
        for row in Observation.objects.filter(trial__in=[pair.a.trial, pair.b.trial])
    }
    lines = [_line(pair, of, rows) for of in measures.values()]
    return tuple(sorted(lines, key=lambda line: not line.differs))


def spent(pair: Pair) -> tuple[Line, ...]:
    """Compare time, cost and tokens; what is unknown is a dash and compared with nothing."""
    a, b = pair.a.trial, pair.b.trial
    rows = (
        ("time", a.seconds, b.seconds, words.duration),
        ("cost", a.cost, b.cost, words.cost),
        ("tokens", a.tokens, b.tokens, words.number),
        ("lines added", a.lines_added, b.lines_added, words.number),
        ("lines deleted", a.lines_deleted, b.lines_deleted, words.number),
    )
    return tuple(
        Line(
            name,
            name,
            write(old),
            write(new),
            old != new,
            step(old, new),
            _better(old, new, "minimize", name),
            values=(old, new),
            states=(_known(old), _known(new)),
        )
        for name, old, new, write in rows
    )


def _line(pair: Pair, of: dict[int, Measure], rows: dict[tuple[int, int], Observation]) -> Line:
    made = []
    for side in (pair.a, pair.b):
        measure = of.get(side.run.version_id)
        row = rows.get((side.trial.pk, measure.pk)) if measure else None
        made.append((observed_one(measure, row, side.trial.state) if measure else None, row))
    (a, row_a), (b, row_b) = made
    measure = (a or b).measure  # type: ignore[union-attr]  # a key comes from one of the versions
    old, new = (row.number if row and row.valid else None for row in (row_a, row_b))
    shown = [(one.value[:TEXT] if one else words.NONE) for one in (a, b)]
    states = [one.state if one else "not declared" for one in (a, b)]
    notes = [f"{name}: {state}" for name, state in zip("AB", states, strict=True) if state != "valid"]
    numbers = measure.type in ("int", "float")
    return Line(
        key=measure.key,
        name=measure.label or measure.key,
        a=shown[0],
        b=shown[1],
        differs=states[0] != states[1] or (a.value if a else "") != (b.value if b else ""),
        change=step(old, new) if numbers else "",
        better=_better(old, new, measure.objective),
        note=", ".join(notes),
        values=(plain(a) if a else None, plain(b) if b else None),
        states=(states[0], states[1]),
    )


def _known(value: float | None) -> str:
    return "unknown" if value is None else "known"


def step(old: float | None, new: float | None) -> str:
    """`−27 %`; `−99.98 %` while something is left; from nothing to something has no per cent."""
    if old is None or new is None or old == new or not (math.isfinite(old) and math.isfinite(new)):
        return ""
    if old == 0:
        return f"{'+' if new > 0 else '−'}{words.number(abs(new))}"
    share = 100 * abs(new - old) / abs(old)
    sign = "+" if new > old else "−"
    if share > MANIFOLD and old > 0:
        return f"{words.number(new / old)} times"
    if new and 99 <= share < 100:  # not everything: as many digits as show what is left
        return f"{sign}{share:.{max(1, math.ceil(-math.log10(100 - share)))}f} %"
    return f"{sign}{words.number(round(share) or share)} %"


def _better(old: float | None, new: float | None, objective: str, name: str = "") -> str:
    """Say which side is better, only where the measure declares a direction."""
    if old is None or new is None or old == new or name.startswith("lines"):
        return ""
    if objective in ("maximize", "minimize"):
        return "b" if (new > old) == (objective == "maximize") else "a"
    return ""
