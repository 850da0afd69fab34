"""Migrations that count give what a recount gives."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from benchsite.runs.models import Run, Slot

pytestmark = pytest.mark.django_db
KNOWN = ("cost_n", "seconds_n", "tokens_n")


def test_stored_slots_learn_of_how_many_trials_their_sums_are(
    ingested: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    migration: Any = import_module("benchsite.runs.migrations.0008_slots_say_of_how_many")
    ingested("a", seed=1, cases=2), ingested("b", seed=2)
    wanted = list(Slot.objects.order_by("pk").values_list(*KNOWN))
    assert len(set(wanted)) > 2
    Slot.objects.update(**dict.fromkeys(KNOWN, 0))
    monkeypatch.setattr(migration, "PART", 7)
    for _ in range(2):
        migration.count(apps, SimpleNamespace(connection=connection))
        assert list(Slot.objects.order_by("pk").values_list(*KNOWN)) == wanted
