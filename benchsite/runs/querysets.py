"""Runs and trials, asked as pages ask."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import connections, models
from django.db.models import Q

from benchsite.accounts.access import bench_visible, group_ids, is_curator


class RunQuerySet(models.QuerySet[Any]):
    def visible_to(self, user: Any) -> RunQuerySet:
        """Runs of benches the reader sees. What nobody has judged yet, or a curator rejected, only its sender,
        the bench's group and curators see."""
        if is_curator(user):
            return self.all()
        judged = Q(verdict__in=("accepted", "withdrawn"))
        if user is not None and user.is_authenticated:
            judged |= Q(by=user) | Q(bench__group__in=group_ids(user))
        return self.filter(bench_visible(user, "bench__"), judged)

    def counted(self) -> RunQuerySet:
        """Runs that enter a leaderboard."""
        return self.filter(verdict="accepted")

    def submitted(self) -> RunQuerySet:
        return self.filter(verdict="submitted")

    def of_bench(self, bench: Any) -> RunQuerySet:
        return self.filter(bench=bench)

    def newest(self) -> RunQuerySet:
        return self.order_by("-id")


class TrialQuerySet(models.QuerySet[Any]):
    def standing(self) -> TrialQuerySet:
        """Trials no curator withdrew."""
        return self.filter(withdrawn=False)

    def scored(self) -> TrialQuerySet:
        return self.filter(state="scored")

    def in_state(self, state: str, fault: str = "") -> TrialQuerySet:
        found = self.filter(state=state)
        return found.filter(fault=fault) if fault else found

    def of_cases(self, named: Iterable[tuple[int, int, int]]) -> TrialQuerySet:
        """Trials of some cases in some cells, by the keys of run, cell and case: hundreds, each found by the index.

        A condition for each would take a planner longer than to find them all.
        """
        rows = ", ".join(f"({run:d}, {cell:d}, {case:d})" for run, cell, case in named)
        if connections[self.db].vendor == "sqlite":  # which looks through every trial unless it is told where to begin
            found = "t.run_id = v.column1 AND t.cell_id = v.column2 AND t.case_id = v.column3"
            ids = f"SELECT t.id FROM (VALUES {rows}) AS v CROSS JOIN runs_trial AS t WHERE {found}"
            return self.extra(where=[f'"runs_trial"."id" IN ({ids})'])
        keys = ", ".join(f'"runs_trial"."{name}"' for name in ("run_id", "cell_id", "case_id"))
        return self.extra(where=[f"({keys}) IN (VALUES {rows})"])

    def with_outcome(self, outcome: str) -> TrialQuerySet:
        return self.filter(state="scored", outcome=outcome)

    def of_slot(self, cell: Any, case: Any) -> TrialQuerySet:
        return self.filter(cell=cell, case=case)
