"""The figure of one case in one cell under a counting policy: what a comparison pairs."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from .policy import CountingPolicy


class CaseFigure(NamedTuple):
    """`variance` is that of one trial (None: under two trials, or a figure that is no mean); `cells` were averaged."""

    figure: float
    n: int
    variance: float | None
    cells: int = 1


class Counted(NamedTuple):
    """What is known of a case's trials, one or several runs of it together; `values` only where a median needs them.

    `lapsed` trials were scored without the measure, `blamed` ones ended in an error at the subject's door.
    """

    n: int
    lapsed: int
    blamed: int
    sum: float
    sumsq: float
    min: float | None
    max: float | None
    values: tuple[float, ...] = ()

    def plus(self, other: Counted) -> Counted:
        ends = [[end for end in pair if end is not None] for pair in ((self.min, other.min), (self.max, other.max))]
        return Counted(
            self.n + other.n,
            self.lapsed + other.lapsed,
            self.blamed + other.blamed,
            self.sum + other.sum,
            self.sumsq + other.sumsq,
            min(ends[0], default=None),
            max(ends[1], default=None),
            self.values + other.values,
        )


def case_figure(seen: Counted, reducer: str, worst: float | None, policy: CountingPolicy) -> CaseFigure | None:
    """Reduce a case as its measure declares; None where nothing counts. `worst`: the measure's worst value."""
    errors = seen.lapsed + seen.blamed if policy.errors_fail and worst is not None else 0
    bad, n = worst or 0.0, seen.n + errors
    if not n:
        return None
    total, squares = seen.sum + errors * bad, seen.sumsq + errors * bad * bad
    if reducer in ("rate", "mean"):
        return CaseFigure(total / n, n, max(0.0, (squares - total * total / n) / (n - 1)) if n > 1 else None)
    if reducer == "sum":
        return CaseFigure(total, n, None)
    if reducer == "median":
        return CaseFigure(float(median([*seen.values, *[bad] * errors])), n, None)
    known = [end for end in (seen.min if reducer == "min" else seen.max, bad if errors else None) if end is not None]
    return CaseFigure(min(known) if reducer == "min" else max(known), n, None)


def case_figures(
    seen: Sequence[Counted], reducer: str, worst: float | None, policy: CountingPolicy
) -> list[CaseFigure | None]:
    """The same of thousands of cases: means where nothing failed, as most are, are all made in one place."""
    if reducer not in ("rate", "mean"):
        return [case_figure(one, reducer, worst, policy) for one in seen]
    new = tuple.__new__  # which makes a named tuple in half the time that its own function takes
    made: list[CaseFigure | None] = []
    for one in seen:
        n, lapsed, blamed, total, squares, _, _, _ = one
        if not n or lapsed or blamed:
            made.append(case_figure(one, reducer, worst, policy))
        else:
            variance = max(0.0, (squares - total * total / n) / (n - 1)) if n > 1 else None
            made.append(new(CaseFigure, (total / n, n, variance, 1)))
    return made


def average(figures: Sequence[CaseFigure]) -> CaseFigure:
    """Average one case over several cells: they weigh the same."""
    if len(figures) == 1:
        return figures[0]._replace(cells=1) if figures[0].cells != 1 else figures[0]
    means, counts, spreads, _ = zip(*figures, strict=True)
    variances = [one for one in spreads if one is not None]
    return CaseFigure(
        sum(means) / len(figures),
        sum(counts),
        sum(variances) / len(variances) if variances else None,
        len(figures),
    )
