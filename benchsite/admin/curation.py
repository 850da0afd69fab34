"""Curation: the list of runs, and decisions that are taken on it with a reason."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Case, QuerySet, When
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from benchsite.accounts.access import is_curator
from benchsite.curation.models import Decision, Note
from benchsite.flows.curate import decide
from benchsite.readings.words import count
from benchsite.runs.models import Run

from .base import LookOnly, when
from .deciding import Deciding, told


@admin.register(Run)
class RunAdmin(Deciding):
    """Runs that were sent stand first: they wait for a verdict."""

    list_display = ("named", "verdict", "bench", "state", "by", "planned", when("created_at", "created"), "look")
    list_filter = ("verdict", "state", "origin")
    list_select_related = ("bench", "by")
    search_fields = ("ulid", "bench__owner", "bench__name")
    ordering = (Case(When(verdict=Run.Verdict.SUBMITTED, then=0), default=1), "-id")
    actions = ("accept", "reject", "withdraw", "restore")
    readonly_fields = ("trials", when("created_at", "created"), "look", "decisions")
    fields = ("ulid", "bench", "verdict", "state", "origin", "by", *readonly_fields)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_curator(request.user)

    has_module_permission = has_view_permission

    @admin.display(description="run", ordering="id")
    def named(self, run: Run) -> str:
        return f"Run {run.label} …{run.ulid[-6:]}"

    @admin.display(description="planned trials")
    def planned(self, run: Run) -> Any:
        return run.counts.get("planned")

    @admin.display(description="trials")
    def trials(self, run: Run) -> str:
        return ", ".join(f"{many:,} {state}" for state, many in run.counts.items())

    @admin.display(description="page")
    def look(self, run: Run) -> str:
        return format_html('<a href="{}">look at it</a>', reverse("run", kwargs={"ulid": run.ulid}))

    @admin.display(description="decisions")
    def decisions(self, run: Run) -> str:
        return told(Decision.objects.filter(run=run.ulid))

    @admin.action(description="Accept: the run counts")
    def accept(self, request: HttpRequest, runs: QuerySet[Any]) -> Any:
        return self._decide(request, runs, Decision.Verdict.ACCEPT)

    @admin.action(description="Reject: the run does not count")
    def reject(self, request: HttpRequest, runs: QuerySet[Any]) -> Any:
        return self._decide(request, runs, Decision.Verdict.REJECT)

    @admin.action(description="Withdraw: an accepted run counts no more")
    def withdraw(self, request: HttpRequest, runs: QuerySet[Any]) -> Any:
        return self._decide(request, runs, Decision.Verdict.WITHDRAW)

    @admin.action(description="Restore: a withdrawn run counts again")
    def restore(self, request: HttpRequest, runs: QuerySet[Any]) -> Any:
        return self._decide(request, runs, Decision.Verdict.RESTORE)

    def row(self, run: Any) -> tuple[str, str, Any]:
        return f"{run.bench} · {run.ulid} · {run.verdict}", reverse("run", kwargs={"ulid": run.ulid}), run.pk

    def _decide(self, request: HttpRequest, runs: QuerySet[Any], verdict: Decision.Verdict) -> Any:
        def take(run: Run, reason: str) -> str:
            decide(run, verdict, by=request.user, reason=reason)
            return f"The run {run.ulid} is {run.verdict} now."

        title = f"{verdict.label} {count(runs.count(), 'run')}"
        return self.decided(request, runs.select_related("bench"), title, take)


@admin.register(Decision)
class DecisionAdmin(LookOnly):
    list_display = (when("at", "when"), "run", "trial", "verdict", "by", "reason")
    ordering = ("-id",)
    list_filter = ("verdict",)
    list_select_related = ("by",)
    search_fields = ("run", "reason")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_curator(request.user)

    has_module_permission = has_view_permission


@admin.register(Note)
class NoteAdmin(LookOnly):
    list_display = (when("at", "when"), "run", "trial", "text", "by")
    ordering = ("-id",)
    list_select_related = ("by",)
