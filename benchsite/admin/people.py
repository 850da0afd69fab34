"""Accounts, groups and tokens."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group
from django.http import HttpRequest

from benchsite.accounts.models import Token, User

from .base import LookOnly, when

admin.site.site_header = admin.site.site_title = "Benchsite"
admin.site.index_title = "Administration"
admin.site.enable_nav_sidebar = False
"""The first page lists all there is; tables need the room."""


class ReachedBySelect:
    """Many to choose from stand in a plain list: Django's two boxes have marks that a screen reader is not told of."""

    filter_horizontal = ()


@admin.register(User)
class AccountAdmin(ReachedBySelect, UserAdmin):  # type: ignore[type-arg]
    """When somebody came and was here last is not written by hand (and its fields have no labels of their own)."""

    readonly_fields = ("last_login", "date_joined")


admin.site.unregister(Group)


@admin.register(Group)
class OwnGroupAdmin(ReachedBySelect, GroupAdmin):
    """Groups own benches; `curators` is the one that decides."""


@admin.register(Token)
class TokenAdmin(LookOnly):
    """A token is made on its owner's page and can only be revoked here; nobody sees its key again."""

    list_display = (
        "name", "user", "hint", "scopes", when("created_at", "created"), when("expires_at", "ends"),
        when("last_used_at", "last used"),
    )  # fmt: skip
    list_select_related = ("user",)
    search_fields = ("name", "user__username")
    fields = ("name", "user", "hint", "scopes", "created_at", "expires_at", "last_used_at")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_superuser
