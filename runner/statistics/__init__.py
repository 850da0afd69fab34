"""Figures with honest intervals. Needs numpy and scipy: import it only where figures are made."""

from __future__ import annotations

from .intervals import rate_interval, t_interval, wilson
from .policy import POLICIES, CountingPolicy, policy_named
from .rollup import StandingFigures, slots, standings, tallies
from .rows import Row, SlotFigures, TallyFigures, rows_of
from .words import words

__all__ = [
    "POLICIES",
    "CountingPolicy",
    "Row",
    "SlotFigures",
    "StandingFigures",
    "TallyFigures",
    "policy_named",
    "rate_interval",
    "rows_of",
    "slots",
    "standings",
    "t_interval",
    "tallies",
    "wilson",
    "words",
]
