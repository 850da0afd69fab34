"""Who calls: a bearer token with a scope."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Schema
from ninja.errors import AuthenticationError
from ninja.security import HttpBearer

from benchsite.accounts.models import Token


class Refusal(Schema):
    """What every answer but a good one says."""

    detail: str


class Bearer(HttpBearer):
    """Takes a live token of this scope; gives its row. Without one the answer is 401, whatever the reason."""

    def __init__(self, scope: str) -> None:
        super().__init__()
        self.scope = scope

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        found = Token.objects.of_key(token, timezone.now())
        if found is None or self.scope not in found.scopes:
            return None
        request.user = found.user
        return found


def reader(request: HttpRequest) -> Any:
    """Reading is open to strangers (who see what is public), to a signed-in browser, and to a token that reads.

    A token that is none, no more or not for reading is refused: a stranger's view would pass for the whole.
    """
    kind, _, key = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer":  # a proxy before the site may ask for a password of its own
        return request.user
    token = Bearer("read").authenticate(request, key.strip())
    if token is None:
        raise AuthenticationError
    return token.user
