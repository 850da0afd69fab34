"""Bytes held back because they look like they hold a secret: a curator shows them after all, or has them go."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html_join

from benchsite.accounts.access import is_curator
from benchsite.artifacts.models import Blob, BlobUse
from benchsite.curation.models import BlobDecision
from benchsite.flows.leaks import redact, release
from benchsite.readings.words import count, size

from .base import when
from .deciding import Deciding, told

SHOWN = 20


@admin.register(Blob)
class BlobAdmin(Deciding):
    """The list has only blobs that are held back, or were: all others are nobody's work."""

    list_display = ("short", "found", "state", "bytes", when("created_at", "arrived"))
    list_filter = ("state",)
    search_fields = ("digest",)
    ordering = ("state", "-id")
    actions = ("release", "redact")
    fields = ("digest", "state", "bytes", "created_at", "findings", "where", "decisions")
    readonly_fields = ("bytes", "findings", "where", "decisions")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_curator(request.user)

    has_module_permission = has_view_permission

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        if request.resolver_match and request.resolver_match.url_name != "artifacts_blob_changelist":
            return Blob.objects.all()
        waiting = Blob.objects.filter(state=Blob.State.HELD)
        decided = Blob.objects.filter(digest__in=BlobDecision.objects.values("digest"))
        return (waiting | decided).prefetch_related("findings")

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        told = "What is held back, and what was decided about it"
        return super().changelist_view(request, {"title": told, **(extra_context or {})})

    @admin.display(description="blob", ordering="digest")
    def short(self, blob: Blob) -> str:
        return f"{blob.digest[:12]}…"

    @admin.display(description="size")
    def bytes(self, blob: Blob) -> str:
        return size(blob.size)

    @admin.display(description="looks like")
    def found(self, blob: Any) -> str:
        first, *others = blob.findings.all() or ("nothing was found",)
        return f"{first} and {len(others)} more" if others else f"{first}"

    @admin.display(description="what looks like a secret")
    def findings(self, blob: Blob) -> str:
        return "\n".join(map(str, blob.findings.all())) or "Nothing was found."

    @admin.display(description="used by")
    def where(self, blob: Blob) -> str:
        uses = BlobUse.objects.filter(blob=blob).select_related("run__bench").order_by("-run_id")[:SHOWN]
        rows = ((reverse("run", kwargs={"ulid": use.run.ulid}), str(use.run.bench), use.run.ulid) for use in uses)
        return format_html_join("\n", '<a href="{}">{} {}</a>', rows) or "no run any more"

    @admin.display(description="decisions")
    def decisions(self, blob: Blob) -> str:
        return told(BlobDecision.objects.filter(digest=blob.digest))

    @admin.action(description="Release: the bytes are shown after all")
    def release(self, request: HttpRequest, blobs: QuerySet[Any]) -> Any:
        def take(blob: Blob, reason: str) -> str:
            release(blob, by=request.user, reason=reason)
            return f"The blob {blob.digest[:12]}… is shown from now on."

        return self.decided(request, blobs, f"Release {count(blobs.count(), 'blob')}", take)

    @admin.action(description="Redact: the bytes are deleted for good")
    def redact(self, request: HttpRequest, blobs: QuerySet[Any]) -> Any:
        def take(blob: Blob, reason: str) -> str:
            redact(blob, by=request.user, reason=reason)
            return f"The bytes of blob {blob.digest[:12]}… are deleted and never taken again."

        return self.decided(request, blobs, f"Redact {count(blobs.count(), 'blob')}", take)

    def row(self, blob: Any) -> tuple[str, str, Any]:
        address = reverse("admin:artifacts_blob_change", args=[blob.pk])
        return f"{blob.digest[:12]}… · {size(blob.size)} · {self.found(blob)}", address, blob.pk
