"""Whose work a run shows, and how old that is: a run that was graded again is no newer than its agents' work."""

from __future__ import annotations

from benchsite.runs.models import Run


def newest_work_first(runs: list[Run]) -> list[Run]:
    """Order runs by when their agents worked; of two runs with the same work, the one graded last comes first."""
    graded = {run.regrades for run in runs if run.regrades}
    known = {run.ulid: run.pk for run in runs if run.ulid in graded}
    if missing := graded - known.keys():
        known.update(Run.objects.filter(ulid__in=missing).values_list("ulid", "pk"))
    return sorted(runs, key=lambda run: (known.get(run.regrades, run.pk), run.pk), reverse=True)


def each_work_once(runs: list[Run]) -> list[Run]:
    """Leave of runs that show the same work the first one."""
    seen: dict[str, Run] = {}
    for run in runs:
        seen.setdefault(run.regrades or run.ulid, run)
    return list(seen.values())
