"""What every admin page here keeps: projections are looked at, never edited."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.http import HttpRequest


def when(field: str, title: str) -> Callable[[Any], str]:
    """Make a column of a time, told as the site's pages tell it."""

    @admin.display(description=f"{title} (UTC)", ordering=field)
    def shown(row: Any) -> str:
        found: datetime | None = getattr(row, field)
        return f"{found:%Y-%m-%d %H:%M}" if found else "–"

    shown.__name__ = title.replace(" ", "_")
    return shown


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
