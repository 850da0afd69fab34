"""Tokens: the key is shown once, its hash is kept."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any

from django.db import models

from runner.digests import sha256

PREFIX = "bs_"
SCOPES = {
    "read": "read what the account may see",
    "upload": "send runs",
}
"""What a token may be allowed to do; a token without a scope is refused where it is asked for."""
DAYS = 365


class TokenQuerySet(models.QuerySet[Any]):
    def issue(self, user: Any, name: str, scopes: list[str], expires_at: datetime | None) -> tuple[Any, str]:
        """Make a token; gives its row and the key, which is never to be had again."""
        unknown = sorted(set(scopes) - set(SCOPES))
        if unknown or not scopes:
            raise ValueError(f"{', '.join(unknown) or 'No scope'}: a token's scopes are some of {', '.join(SCOPES)}.")
        key = PREFIX + secrets.token_urlsafe(32)
        fields = {
            "hash": sha256(key.encode()),
            "hint": key[:8],
            "scopes": sorted(set(scopes)),
            "expires_at": expires_at,
        }
        return self.create(user=user, name=name[:80] or "token", **fields), key

    def live(self, now: datetime) -> TokenQuerySet:
        return self.filter(models.Q(expires_at=None) | models.Q(expires_at__gt=now), user__is_active=True)

    def of_key(self, key: str, now: datetime) -> Any | None:
        """Find a live token by its key; its last use is noted to the minute, so that reading costs no write."""
        if not key.startswith(PREFIX):
            return None
        token = self.live(now).select_related("user").filter(hash=sha256(key.encode())).first()
        if token and (token.last_used_at is None or now - token.last_used_at > timedelta(minutes=1)):
            self.filter(pk=token.pk).update(last_used_at=now)
        return token
