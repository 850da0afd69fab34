"""Figures with honest intervals. Needs numpy and scipy: import it only where figures are made."""

from __future__ import annotations

from .intervals import rate_interval, t_interval, wilson
from .pareto import Placed, Point, frontier, pareto
from .policy import POLICIES, CountingPolicy, policy_named
from .pooled import Pooled, pooled
from .repeats import RepeatFigures, Tried, repeats
from .rollup import StandingFigures, slots, standings, tallies
from .rows import Row, SlotFigures, TallyFigures, rows_of
from .spread import Bin, Share, Spread, category_shares, histogram, outliers, shared_bins, spread
from .words import words

__all__ = [
    "POLICIES",
    "Bin",
    "CountingPolicy",
    "Placed",
    "Point",
    "Pooled",
    "RepeatFigures",
    "Row",
    "Share",
    "SlotFigures",
    "Spread",
    "StandingFigures",
    "TallyFigures",
    "Tried",
    "category_shares",
    "frontier",
    "histogram",
    "outliers",
    "pareto",
    "policy_named",
    "pooled",
    "rate_interval",
    "repeats",
    "rows_of",
    "shared_bins",
    "slots",
    "spread",
    "standings",
    "t_interval",
    "tallies",
    "wilson",
    "words",
]
