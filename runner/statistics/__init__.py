"""Figures with honest intervals. Needs numpy and scipy: import it only where figures are made."""

from __future__ import annotations

from .casefigure import CaseFigure, Counted, average, case_figure, case_figures
from .cost import Ratio, Spent, cost_per_success
from .counted import SlotFigures, TallyFigures
from .intervals import rate_interval, t_interval, wilson
from .paired import Paired, paired, trials_needed
from .pairing import Pair, Part, match, shared_subjects
from .pareto import Placed, Point, frontier, pareto
from .policy import POLICIES, CountingPolicy, policy_named
from .pooled import Pooled, pooled
from .power import Needed
from .repeats import RepeatFigures, Tried, repeats
from .rollup import StandingFigures, slots, standings, tallies
from .rows import Row, rows_of
from .spread import Bin, Share, Spread, category_shares, histogram, outliers, shared_bins, spread
from .words import words

__all__ = [
    "POLICIES",
    "Bin",
    "CaseFigure",
    "Counted",
    "CountingPolicy",
    "Needed",
    "Pair",
    "Paired",
    "Part",
    "Placed",
    "Point",
    "Pooled",
    "Ratio",
    "RepeatFigures",
    "Row",
    "Share",
    "SlotFigures",
    "Spent",
    "Spread",
    "StandingFigures",
    "TallyFigures",
    "Tried",
    "average",
    "case_figure",
    "case_figures",
    "category_shares",
    "cost_per_success",
    "frontier",
    "histogram",
    "match",
    "outliers",
    "paired",
    "pareto",
    "policy_named",
    "pooled",
    "rate_interval",
    "repeats",
    "rows_of",
    "shared_bins",
    "shared_subjects",
    "slots",
    "spread",
    "standings",
    "t_interval",
    "tallies",
    "trials_needed",
    "wilson",
    "words",
]
