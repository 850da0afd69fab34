"""Which worlds survive their trial: decided in one place, after the trial's process has ended."""

from __future__ import annotations


def wanted(retain: str, state: str, outcome: str | None) -> bool:
    """`failed` keeps the world of a trial that is not scored, `unsolved` also of a scored one whose headline missed."""
    if retain in ("never", "always"):
        return retain == "always"
    if state != "scored":
        return True
    return retain == "unsolved" and outcome not in ("solved", "measured")
