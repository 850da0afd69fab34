"""What becomes of a page once it was sent."""

from __future__ import annotations

import gc

from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory
from django.urls import resolve, reverse

from benchsite.readings.run import RunPage
from benchsite.runs.models import Run


def test_what_a_page_was_made_of_is_freed_at_once_and_not_by_the_collector(run: Run) -> None:
    """Not by Django's test client, which keeps what templates were given."""
    address = reverse("run", args=[run.ulid])
    request = RequestFactory().get(address)
    request.user = AnonymousUser()
    view = resolve(address)
    gc.collect()
    gc.disable()
    try:
        assert b"Leaderboard" in view.func(request, **view.kwargs).content
        left = [one for one in gc.get_objects() if isinstance(one, RunPage)]
    finally:
        gc.enable()
    assert left == []
