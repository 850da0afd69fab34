"""Benches (whose visibility a person sets), and what the machinery does: jobs and uploads."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import F, QuerySet
from django.http import HttpRequest

from benchsite.accounts.access import is_curator
from benchsite.benches.models import Bench
from benchsite.jobs.models import Job, Upload
from benchsite.readings.words import count

from .base import LookOnly, when


@admin.register(Bench)
class BenchAdmin(LookOnly):
    list_display = ("__str__", "title", "visibility", "group")
    list_filter = ("visibility",)
    list_select_related = ("group",)
    search_fields = ("owner", "name", "title")
    actions = ("make_public", "make_private")
    fields = ("owner", "name", "title", "visibility", "group")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_curator(request.user)

    has_module_permission = has_view_permission

    @admin.action(description="Make public: everybody sees the bench")
    def make_public(self, request: HttpRequest, benches: QuerySet[Any]) -> None:
        self._set(request, benches, Bench.Visibility.PUBLIC)

    @admin.action(description="Make private: only its group sees the bench")
    def make_private(self, request: HttpRequest, benches: QuerySet[Any]) -> None:
        self._set(request, benches, Bench.Visibility.PRIVATE)

    def _set(self, request: HttpRequest, benches: QuerySet[Any], visibility: str) -> None:
        many = benches.update(visibility=visibility, revision=F("revision") + 1)
        told = f"{count(many, 'bench', 'benches')} {'is' if many == 1 else 'are'} {visibility} now."
        self.message_user(request, told)


@admin.register(Job)
class JobAdmin(LookOnly):
    list_display = (
        "key", "kind", "state", "by", when("created_at", "created"), when("finished_at", "ended"), "message",
    )  # fmt: skip
    list_filter = ("state", "kind")
    list_select_related = ("by",)


@admin.register(Upload)
class UploadAdmin(LookOnly):
    list_display = ("key", "run", "bench", "state", "by", when("created_at", "created"), "message")
    list_filter = ("state",)
    list_select_related = ("by",)
    search_fields = ("run", "bench")
    fields = ("key", "run", "bench", "state", "by", "created_at", "message", "manifest", "events")
