"""Tokens: shown once, kept as a hash, limited in scope and time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from benchsite.accounts.models import Token
from tests import make

pytestmark = pytest.mark.django_db


def test_the_key_is_not_in_the_database() -> None:
    key = make.make_token(make.make_user())
    row = Token.objects.values().get()
    assert key not in str(row)
    assert key.startswith(row["hint"])
    assert len(row["hint"]) < 10


def test_a_live_key_finds_its_token_and_notes_its_use() -> None:
    key, now = make.make_token(make.make_user()), timezone.now()
    assert Token.objects.of_key(key, now).user.username == "ada"
    assert Token.objects.get().last_used_at == now


def test_reading_with_a_token_again_writes_nothing(django_assert_num_queries: object) -> None:
    key, now = make.make_token(make.make_user()), timezone.now()
    Token.objects.of_key(key, now)
    with django_assert_num_queries(1):  # type: ignore[operator]
        Token.objects.of_key(key, now + timedelta(seconds=5))


@pytest.mark.parametrize("key", ["", "bs_", "bs_wrong", "x" * 60])
def test_another_key_finds_nothing(key: str) -> None:
    make.make_token(make.make_user())
    assert Token.objects.of_key(key, timezone.now()) is None


def test_an_expired_key_and_one_of_a_closed_account_find_nothing() -> None:
    user = make.make_user()
    key = make.make_token(user, days=1)
    assert Token.objects.of_key(key, timezone.now() + timedelta(days=2)) is None
    user.is_active = False
    user.save()
    assert Token.objects.of_key(key, timezone.now()) is None


@pytest.mark.parametrize("scopes", [[], ["admin"], ["read", "all"]])
def test_odd_scopes_are_refused(scopes: list[str]) -> None:
    with pytest.raises(ValueError, match="scopes are some of read, upload"):
        Token.objects.issue(make.make_user(), "x", scopes, None)
