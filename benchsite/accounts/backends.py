"""How a session's account is read: with the answer to what every page asks of it, so that no query more is needed."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.db.models import Exists, OuterRef

from .access import CURATORS
from .models import User


class Accounts(ModelBackend):
    """Django's own, which also brings whether the account is among the curators."""

    def get_user(self, user_id: Any) -> Any:
        among = User.groups.through.objects.filter(user=OuterRef("pk"), group__name=CURATORS)
        user = User.objects.annotate(among_curators=Exists(among)).filter(pk=user_id).first()
        return user if user is not None and self.user_can_authenticate(user) else None
