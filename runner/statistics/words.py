"""The words that stand beside a figure that rests on little."""

from __future__ import annotations

FEW_TRIALS = 10
FEWEST_TRIALS = 3
"""Under this many there is no interval."""
FEWEST_CLUSTERS = 5
"""Under this many an interval would promise more than it holds (a bootstrap covered 86 % at 5), so there is none."""


def words(n: int, clusters: int | None = None, *, unit: str = "scenarios") -> tuple[str, ...]:
    """Say what a reader must know of a figure over n trials; pooled ones give their clusters (scenarios or cases)."""
    said: list[str] = []
    if n < FEW_TRIALS:
        said.append("few trials")
    if n < FEWEST_TRIALS:
        said.append("no interval")
    if clusters is not None and clusters < FEWEST_CLUSTERS:
        said.append(f"too few {unit}")
    return tuple(said)
