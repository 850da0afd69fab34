"""Curation: the list of runs, and decisions that are taken on it with a reason."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html

from benchsite.accounts.access import is_curator
from benchsite.curation.models import Decision, Note
from benchsite.flows.curate import NotAllowed, decide
from benchsite.readings.words import count
from benchsite.runs.models import Run

from .base import LookOnly


class ReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 40}),
        help_text="It is shown beside the run, for ever.",
    )


@admin.register(Run)
class RunAdmin(LookOnly):
    """Runs that were sent stand first: they wait for a verdict."""

    list_display = ("ulid", "bench", "verdict", "state", "by", "planned", "created_at", "look")
    list_filter = ("verdict", "state", "origin")
    list_select_related = ("bench", "by")
    search_fields = ("ulid", "bench__owner", "bench__name")
    ordering = ("-id",)
    actions = ("accept", "reject", "withdraw", "restore")
    fields = ("ulid", "bench", "verdict", "state", "origin", "by", "counts", "created_at", "look", "decisions")
    readonly_fields = ("look", "decisions")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_curator(request.user)

    has_module_permission = has_view_permission

    @admin.display(description="planned trials")
    def planned(self, run: Run) -> Any:
        return run.counts.get("planned")

    @admin.display(description="page")
    def look(self, run: Run) -> str:
        return format_html('<a href="{}">look at the run</a>', reverse("run", kwargs={"ulid": run.ulid}))

    @admin.display(description="decisions")
    def decisions(self, run: Run) -> str:
        found = Decision.objects.filter(run=run.ulid).select_related("by")
        told = (f"{d.at:%Y-%m-%d %H:%M} {d.verdict} by {d.by or 'the operator'}: {d.reason}" for d in found)
        return "\n".join(told) or "None yet."

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

    def _decide(self, request: HttpRequest, runs: QuerySet[Any], verdict: Decision.Verdict) -> Any:
        """Ask for the reason first; with it, decide run by run and tell what could not be decided."""
        form = ReasonForm(request.POST if "decide" in request.POST else None)
        if not form.is_valid():
            return self._ask(request, runs, verdict, form)
        for run in runs:
            try:
                decide(run, verdict, by=request.user, reason=form.cleaned_data["reason"])
                self.message_user(request, f"The run {run.ulid} is {run.verdict} now.")
            except NotAllowed as refusal:
                self.message_user(request, str(refusal), messages.ERROR)
        return None

    def _ask(self, request: HttpRequest, runs: QuerySet[Any], verdict: Decision.Verdict, form: ReasonForm) -> Any:
        context = {
            **self.admin_site.each_context(request),
            "title": f"{verdict.label} {count(runs.count(), 'run')}",
            "opts": self.model._meta,
            "runs": runs.select_related("bench"),
            "form": form,
            "action": request.POST.get("action", ""),
            "checkbox": ACTION_CHECKBOX_NAME,
        }
        return TemplateResponse(request, "admin/decide.html", context)


@admin.register(Decision)
class DecisionAdmin(LookOnly):
    list_display = ("at", "run", "trial", "verdict", "by", "reason")
    list_filter = ("verdict",)
    list_select_related = ("by",)
    search_fields = ("run", "reason")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_curator(request.user)

    has_module_permission = has_view_permission


@admin.register(Note)
class NoteAdmin(LookOnly):
    list_display = ("at", "run", "trial", "text", "by")
    list_select_related = ("by",)
