"""What stands beside a run's numbers, in one query: what was observed of each measure, and how many were flagged."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from django.db.models import Count, Sum, TextField, Value
from django.db.models.functions import Cast

from benchsite.runs.models import Run, Tally, Trial
from runner.faults import INTEGRITY_FLAGS


@dataclass(frozen=True)
class Beside:
    """`sums`: (n, invalid, missing) of the scored trials by measure; `flags`: flagged trials by flag, no zeros."""

    sums: dict[int, tuple[int, int, int]]
    flags: dict[str, int]


def beside(run: Run) -> Beside:
    """Both parts are small: a row a measure, and a row for each set of flags that trials have."""
    of_measure = Tally.objects.filter(run=run).order_by().annotate(of=Cast("measure_id", TextField()))
    of_flags = Trial.objects.filter(run=run, withdrawn=False).exclude(flags=[]).order_by()
    measures = of_measure.values_list("of").annotate(a=Sum("n"), b=Sum("invalid"), c=Sum("missing"))
    flagged = of_flags.annotate(of=Cast("flags", TextField())).values_list("of")
    sums: dict[int, tuple[int, int, int]] = {}
    seen: Counter[str] = Counter()
    for of, *numbers in measures.union(flagged.annotate(a=Count("pk"), b=Value(0), c=Value(0)), all=True):
        if of.startswith("["):
            seen.update(dict.fromkeys(json.loads(of), numbers[0]))
        else:
            sums[int(of)] = (numbers[0], numbers[1], numbers[2])
    return Beside(sums, {name: seen[name] for name in INTEGRITY_FLAGS if seen[name]})
