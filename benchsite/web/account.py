"""The reader's own things: tokens for programs, and the way out."""

from __future__ import annotations

from datetime import timedelta

from django import forms
from django.contrib import messages
from django.contrib.auth import logout as end_session
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from benchsite.accounts.models import Token
from benchsite.accounts.tokens import DAYS, SCOPES

from .conditional import private
from .rendering import render


class TokenForm(forms.Form):
    name = forms.CharField(max_length=80, label="What is it for?", help_text="A name you will know it by, e.g. ci-bot.")
    scopes = forms.MultipleChoiceField(
        choices=tuple((scope, f"{scope}: {words}") for scope, words in SCOPES.items()),
        widget=forms.CheckboxSelectMultiple,
        initial=["upload"],
        label="What may it do?",
        error_messages={"required": "Choose at least one thing the token may do."},
    )
    days = forms.IntegerField(min_value=1, max_value=DAYS, initial=90, label="Days it lasts", help_text=f"1 to {DAYS}.")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    form = TokenForm(request.POST or None)
    key = ""
    if request.method == "POST" and form.is_valid():
        until = timezone.now() + timedelta(days=form.cleaned_data["days"])
        _, key = Token.objects.issue(request.user, form.cleaned_data["name"], form.cleaned_data["scopes"], until)
        form = TokenForm()
    mine = Token.objects.filter(user=request.user)
    context = {"form": form, "key": key, "tokens": mine, "now": timezone.now(), "crumbs": [("Tokens", None)]}
    response = private(render(request, "account/tokens.html", context))
    if key:
        response.headers["Cache-Control"] = "no-store"  # the key is shown this once
    return response


@login_required
@require_POST
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(Token, pk=pk, user=request.user)
    token.delete()
    messages.success(request, f"The token “{token.name}” is revoked: programs that use it are refused from now on.")
    return redirect("tokens")


@require_http_methods(["GET", "HEAD", "POST"])
def logout(request: HttpRequest) -> HttpResponse:
    """Ask first: a link that ended the session could be put on any page, and no page needs a form in its header."""
    if request.method == "POST":
        end_session(request)
        return redirect("home")
    return private(render(request, "account/logout.html", {"crumbs": [("Log out", None)]}))
