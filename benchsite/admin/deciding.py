"""Decisions of curators on rows of a list: the reason is asked first, then each row is decided and told apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from benchsite.flows.curate import NotAllowed

from .base import LookOnly


class ReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 40}),
        help_text="It is shown beside the run or file, for ever.",
    )


def told(decisions: QuerySet[Any]) -> str:
    """Say what was decided, by whom and why, a line each."""
    lines = (
        f"{d.at:%Y-%m-%d %H:%M} {d.verdict} by {d.by or 'the operator'}: {d.reason}"
        for d in decisions.select_related("by")
    )
    return "\n".join(lines) or "None yet."


class Deciding(LookOnly):
    """A list whose rows wait for a curator. `row` gives (text, address, key) of one of them for the question."""

    def row(self, thing: Any) -> tuple[str, str, Any]:
        raise NotImplementedError

    def decided(
        self, request: HttpRequest, things: Iterable[Any], title: str, take: Callable[[Any, str], str]
    ) -> TemplateResponse | None:
        """Ask for the reason; with it, `take` each thing and tell what it says, or why it could not be decided."""
        form = ReasonForm(request.POST if "decide" in request.POST else None)
        if not form.is_valid():
            return self._ask(request, things, title, form)
        for thing in things:
            try:
                self.message_user(request, take(thing, form.cleaned_data["reason"]))
            except NotAllowed as refusal:
                self.message_user(request, str(refusal), messages.ERROR)
        return None

    def _ask(self, request: HttpRequest, things: Iterable[Any], title: str, form: ReasonForm) -> TemplateResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": title,
            "opts": self.model._meta,
            "rows": [self.row(thing) for thing in things],
            "form": form,
            "action": request.POST.get("action", ""),
            "checkbox": ACTION_CHECKBOX_NAME,
        }
        return TemplateResponse(request, "admin/decide.html", context)
