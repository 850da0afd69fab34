"""The paired difference of two sides over the cases both ran, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from .casefigure import CaseFigure
from .clusters import Floats, cluster_means, mean, plain
from .intervals import t_interval
from .objective import badness, target_of
from .pairing import Pair
from .power import Needed, detectable, needed
from .significance import permutation_test, sign_test
from .words import FEWEST_CLUSTERS

Verdict = Literal["better", "worse", "higher", "lower", "untold", "nothing"]
UNTOLD = "not enough trials to tell"
ALPHA = 0.05


class Paired(NamedTuple):
    """`difference` is other minus baseline, pooled over the comparable cases only (as are `base` and `other`).

    For `target(x)` it is a difference of distances from x. `wins` counts cases where the other side is better (without
    an objective: higher), `apart` those that are not comparable. `detectable` is the true difference that this many
    clusters would show with 80 % chance.
    """

    base: float | None
    other: float | None
    difference: float | None
    lo: float | None
    hi: float | None
    clusters: int
    unit: str
    wins: int
    losses: int
    ties: int
    apart: int
    p_sign: float | None
    p_permutation: float | None
    detectable: float | None
    verdict: Verdict
    words: str


def paired(pairs: Sequence[Pair], objective: str) -> Paired:
    """Compare over cluster differences: scenarios, or cases where both sides have one scenario in common."""
    both = [pair for pair in pairs if pair.comparable and pair.base and pair.other]
    apart = len(pairs) - len(both)
    if not both:
        return Paired(*(None,) * 5, 0, "scenarios", 0, 0, 0, apart, None, None, None, "nothing", "nothing in common")
    differences, unit = _differences(both, objective)
    low, high = (plain(float(end)) for end in t_interval(differences))
    middle, sign = float(mean(differences)), -1.0 if _less_is_better(objective) else 1.0
    wins, losses, ties = _counts(_of_cases(both, objective) * sign)
    better, worse, _ = _counts(differences * sign)
    chance = permutation_test(differences)
    verdict = _verdict(middle * sign, low, high, chance, len(differences), directed=bool(objective))
    seen = detectable(_sd(differences), len(differences))
    return Paired(
        _side([pair.base for pair in both], both),
        _side([pair.other for pair in both], both),
        middle, low, high, len(differences), unit, wins, losses, ties, apart,
        sign_test(better, worse), chance, seen, verdict, words(verdict, len(differences), unit, equal=chance is None),
    )  # fmt: skip


def trials_needed(pairs: Sequence[Pair], objective: str, wanted: float) -> Needed:
    """Say what it would take to see a difference of `wanted` with 80 % chance, judged by the spread of these pairs."""
    both = [pair for pair in pairs if pair.comparable and pair.base and pair.other]
    if not both:
        return Needed(wanted, None, None)
    differences, _ = _differences(both, objective)
    tries = [side.n / side.cells for pair in both for side in (pair.base, pair.other) if side]
    return needed(wanted, _sd(differences), len(differences), _within(both), sum(tries) / len(tries))


def words(verdict: Verdict, clusters: int, unit: str, *, equal: bool) -> str:
    """Say why nothing can be told, where nothing can; else nothing."""
    if verdict != "untold":
        return ""
    if clusters < FEWEST_CLUSTERS:
        some = unit if clusters != 1 else unit[:-1]
        return f"{UNTOLD}: {clusters} {some} in common, and {FEWEST_CLUSTERS} are needed"
    return f"{UNTOLD}: no {unit[:-1]} differs" if equal else UNTOLD


def _of_cases(both: Sequence[Pair], objective: str) -> Floats:
    figures = [(pair.base.figure, pair.other.figure) for pair in both if pair.base and pair.other]
    one, two = np.asarray(figures, dtype=float).T
    target = target_of(objective)
    raw = np.abs(two - target) - np.abs(one - target) if target is not None else two - one
    return np.asarray(np.round(raw, 12))


def _differences(both: Sequence[Pair], objective: str) -> tuple[Floats, str]:
    return cluster_means([pair.scenario for pair in both], _of_cases(both, objective))


def _side(figures: Sequence[CaseFigure | None], both: Sequence[Pair]) -> float:
    made, _ = cluster_means([pair.scenario for pair in both], [one.figure if one else np.nan for one in figures])
    return float(mean(made))


def _less_is_better(objective: str) -> bool:
    return objective == "minimize" or target_of(objective) is not None


def _counts(gains: Floats) -> tuple[int, int, int]:
    rounded = -badness(gains, "maximize")
    return int(np.sum(rounded > 0)), int(np.sum(rounded < 0)), int(np.sum(rounded == 0))


def _verdict(
    gain: float, low: float | None, high: float | None, chance: float | None, clusters: int, *, directed: bool
) -> Verdict:
    """Trust the interval; where all clusters differ by the same there is none, and the exact test decides."""
    if clusters < FEWEST_CLUSTERS:
        return "untold"
    flat = low is None or high is None
    told = chance is not None and chance < ALPHA if flat else low > 0 or high < 0  # type: ignore[operator]
    if not told:
        return "untold"
    return ("better" if gain > 0 else "worse") if directed else ("higher" if gain > 0 else "lower")


def _sd(differences: Floats) -> float:
    return float(np.std(np.sort(differences), ddof=1)) if len(differences) > 1 else 0.0


def _within(both: Sequence[Pair]) -> float | None:
    """Give the mean, over clusters, of the variance that a cluster's difference has from its trials alone."""
    known = [side.variance for pair in both for side in (pair.base, pair.other) if side and side.variance is not None]
    if not known:
        return None
    usual = sum(known) / len(known)
    parts: dict[str, list[float]] = {}
    for pair in both:
        sides = [side for side in (pair.base, pair.other) if side]
        own = sum((usual if side.variance is None else side.variance) / side.n for side in sides)
        parts.setdefault(pair.scenario, []).append(own)
    if len(parts) == 1:
        (own_parts,) = parts.values()
        return sum(own_parts) / len(own_parts)
    return sum(sum(own) / len(own) ** 2 for own in parts.values()) / len(parts)
