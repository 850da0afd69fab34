"""What every admin page here keeps: projections are looked at, never edited."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest


class LookOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows that a flow writes: nothing is added, changed or deleted by hand."""

    actions_on_top = True
    """With both action bars off, Django's list page emits an inline style, which the site's policy refuses."""
    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
